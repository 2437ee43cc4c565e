/** What a link in a model's text may do: open a file or a web page, nothing else. */

export type Link =
  | { readonly kind: "web"; readonly url: string }
  | { readonly kind: "file"; readonly path: string; readonly line: number | null };

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const PLACE = /(?:#L?(\d+)(?:[-,:].*)?|:(\d+)(?::\d+)?(?:-\d+)?)$/;

/** Null for everything that is neither: it stays text. `line` counts from 1. */
export function linkOf(href: string): Link | null {
  const trimmed = href.trim();
  // Browsers skip control characters within a scheme, so such an address is not what it seems.
  if (trimmed === "" || /[\u0000-\u001f\u007f]/.test(trimmed)) return null;
  if (/^https?:\/\/[^/]/i.test(trimmed)) return { kind: "web", url: trimmed };
  const path = /^file:\/\//i.test(trimmed) ? fromFileUri(trimmed) : pathOf(trimmed);
  if (!path || /[\u0000-\u001f\u007f]/.test(path) || path.startsWith("#") || path.startsWith("//") || path.startsWith("\\\\")) return null;
  const [place = "", hash, colon] = PLACE.exec(path) ?? [];
  const line = hash ?? colon;
  const bare = path.slice(0, path.length - place.length).replace(/#.*$/, "");
  return bare ? { kind: "file", path: bare, line: line === undefined ? null : Number(line) } : null;
}

function pathOf(href: string): string | null {
  const scheme = SCHEME.exec(href)?.[1];
  const drive = scheme?.length === 1;
  // In "calc.py:12" the part before the colon is a file, not a scheme.
  const place = scheme !== undefined && /^:\d+(?:$|[:\-#])/.test(href.slice(scheme.length));
  if (scheme !== undefined && !drive && !(place && scheme.includes("."))) return null;
  return decoded(href);
}

/** A file of this machine; one with the name of another is none. */
function fromFileUri(uri: string): string | null {
  const path = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(uri)?.[1];
  return path === undefined ? null : decoded(path).replace(/^\/([A-Za-z]:)/, "$1");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
