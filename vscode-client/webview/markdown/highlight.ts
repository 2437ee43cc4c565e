/** Code as HTML with highlight.js classes, with the last results kept. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua,
  makefile, markdown, php, python, ruby, rust, scss, sql, swift, typescript, xml, yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["toml", "cfg"], { languageName: "ini" });
hljs.registerAliases(["vue", "svelte"], { languageName: "xml" });

/** Longer code, in UTF-16 units, stays plain: colours are not worth a stuttering panel. */
const MOST = 50_000;
const KEPT = 200;
const cache = new Map<string, string>();

/** Safe HTML of the code, all of its text escaped; null where it is to be shown plain. */
export function highlighted(code: string, language: string): string | null {
  if (code.length > MOST || !hljs.getLanguage(language)) return null;
  const key = `${language}\n${code}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const html = hljs.highlight(code, { language, ignoreIllegals: true }).value;
  cache.set(key, html);
  if (cache.size > KEPT) cache.delete(cache.keys().next().value ?? "");
  return html;
}

export interface Partly {
  readonly length: number;
  readonly html: string;
}

/**
 * How much of code that still grows is highlighted: whole lines, and again only when a good part
 * has come since, so that the work for the whole is linear in its length.
 */
export function growing(code: string, language: string, before: Partly | null): Partly | null {
  if (!hljs.getLanguage(language)) return null;
  const known = before !== null && before.length <= code.length ? before : null;
  const since = code.length - (known?.length ?? 0);
  if (known && since < 200 + known.length / 3) return known;
  const length = code.lastIndexOf("\n") + 1;
  if (length === 0 || length > MOST) return known;
  const html = hljs.highlight(code.slice(0, length), { language, ignoreIllegals: true }).value;
  return { length, html };
}

/** The language of a file, by its ending; "" when unknown. */
export function languageOf(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const ending = (name.includes(".") ? name.split(".").at(-1) : name)?.toLowerCase() ?? "";
  return hljs.getLanguage(ending) ? ending : "";
}
