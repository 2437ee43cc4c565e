/** Markdown as elements. Nothing goes through innerHTML, so raw HTML cannot be anything but text. */

import MarkdownIt from "markdown-it";
import type { ComponentChildren, VNode } from "preact";
import { h } from "preact";
import { CodeBlock } from "../components/CodeBlock";
import { MarkdownLink } from "../components/MarkdownLink";
import { linkOf } from "./links";

type Token = ReturnType<typeof markdown.parse>[number];

const markdown = new MarkdownIt({ html: true, linkify: true, typographer: false });
// "calc.py" is a file and no site in Paraguay.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = (href) => linkOf(href) !== null;

const TAGS: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td em strong s".split(" "),
);

/** Elements for one block of a text. `live`: it is still growing. */
export function renderMarkdown(text: string, live: boolean): ComponentChildren[] {
  const tokens = markdown.parse(text, {});
  return build(tokens, live ? openFence(tokens, text) : undefined);
}

/** The fence in which the text ends: the parser closes it, the text has not. */
function openFence(tokens: readonly Token[], text: string): Token | undefined {
  const last = tokens.findLast((token) => token.nesting !== -1);
  if (last?.type !== "fence") return undefined;
  const [from = 0, to = 0] = last.map ?? [];
  const lastLine = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const closed = to - from > 1 && lastLine.startsWith(last.markup) && /^(`+|~+)$/.test(lastLine);
  return closed ? undefined : last;
}

interface Open {
  readonly token: Token | null;
  readonly children: ComponentChildren[];
}

/** A flat list of tokens as a tree of elements. `growing` is the fence that has not ended. */
function build(tokens: readonly Token[], growing?: Token): ComponentChildren[] {
  const root: Open = { token: null, children: [] };
  const stack: Open[] = [root];
  for (const token of tokens) {
    const top = stack.at(-1) ?? root;
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === 0) top.children.push(leaf(token, token === growing));
    else if (stack.length > 1) {
      stack.pop();
      (stack.at(-1) ?? root).children.push(element(top));
    }
  }
  return root.children;
}

function element({ token, children }: Open): ComponentChildren {
  if (!token || token.hidden) return children;
  if (token.tag === "a") {
    const link = linkOf(String(token.attrGet("href") ?? ""));
    return link ? <MarkdownLink link={link}>{children}</MarkdownLink> : children;
  }
  if (!TAGS.has(token.tag)) return children;
  const made = h(token.tag, attributes(token), children);
  return token.tag === "table" ? <div class="table-scroll">{made}</div> : made;
}

function attributes(token: Token): Record<string, string> {
  const kept: Record<string, string> = {};
  const start = token.attrGet("start");
  if (start !== null) kept["start"] = String(start);
  const align = /^text-align:(left|center|right)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (align) kept["class"] = `align-${align}`;
  return kept;
}

function leaf(token: Token, growing: boolean): ComponentChildren {
  switch (token.type) {
    case "inline":
      return build(token.children ?? []);
    case "fence":
    case "code_block": {
      const language = token.info.trim().split(/[\s,{:]/)[0] ?? "";
      return <CodeBlock code={token.content.replace(/\n$/, "")} language={language} live={growing} />;
    }
    case "code_inline":
      return <code>{token.content}</code>;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "image":
      return image(token);
    default:
      return token.content;
  }
}

/** Nothing is loaded from elsewhere for a model's text: an image is a link to it. */
function image(token: Token): VNode | string {
  const link = linkOf(String(token.attrGet("src") ?? ""));
  const name = token.content || "image";
  return link ? <MarkdownLink link={link}>{name}</MarkdownLink> : name;
}
