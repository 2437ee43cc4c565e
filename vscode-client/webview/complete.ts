/** Completions of the composer. The one seam through which more of them come. */

import type { Attachment, MentionSearchResult, ModelsListResult } from "../src/wire";

/** How more is found out; null where that failed. */
export interface LookUp {
  mentions(query: string): Promise<MentionSearchResult | null>;
  models(): Promise<ModelsListResult | null>;
}

export interface Option {
  readonly label: string;
  readonly detail: string;
  /** What stands in place of the query when it is taken. */
  readonly text: string;
  readonly attachment?: Attachment;
}

/** `text` is what stands behind the sign; `start` is the place of the sign. */
export interface Query {
  readonly sign: "/" | "@";
  readonly text: string;
  readonly start: number;
}

export type Command = "new" | "rewind" | "undo-rewind" | "mode" | "model";

const COMMANDS: readonly Option[] = [
  { label: "/new", detail: "Begin a new session", text: "/new" },
  { label: "/rewind", detail: "Go back to before the last prompt; shows first what changes", text: "/rewind" },
  { label: "/undo-rewind", detail: "Take the last rewind back", text: "/undo-rewind" },
  { label: "/mode auto", detail: "Edits pass, commands ask", text: "/mode auto" },
  { label: "/mode ask", detail: "Every edit and command asks", text: "/mode ask" },
  { label: "/mode plan", detail: "Read only", text: "/mode plan" },
  { label: "/model", detail: "Use another model: /model NAME", text: "/model " },
];

/** The query that ends at the caret, if one does. A command stands at the very beginning. */
export function queryAt(before: string): Query | null {
  const command = /^\/([\w-]*(?: \S*)?)$/.exec(before);
  if (command) return { sign: "/", text: command[1] ?? "", start: 0 };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (mention) return { sign: "@", text: mention[1] ?? "", start: before.length - (mention[1] ?? "").length - 1 };
  return null;
}

/** What may stand in place of the query, best first. */
export async function complete(query: Query, lookUp: LookUp): Promise<readonly Option[]> {
  if (query.sign === "@") return places(await lookUp.mentions(query.text));
  const [, model] = /^model (.*)$/.exec(query.text) ?? [];
  if (model !== undefined) return models(model, await lookUp.models());
  const wanted = `/${query.text}`.toLowerCase();
  return COMMANDS.filter((option) => option.label.startsWith(wanted) && option.text !== wanted);
}

function places(found: MentionSearchResult | null): Option[] {
  return (found?.places ?? []).map(({ kind, name, uri }) =>
    kind === "file"
      ? { label: name, detail: "", text: `@${name} `, attachment: { kind, uri } }
      : { label: `${name}/`, detail: "folder", text: `@${name}/` },
  );
}

function models(wanted: string, found: ModelsListResult | null): Option[] {
  const server = found?.servers.find((one) => one.isCurrent);
  return (server?.models ?? [])
    .filter((name) => name.toLowerCase().includes(wanted.toLowerCase()) && name !== wanted)
    .map((name) => ({ label: name, detail: server?.name ?? "", text: `/model ${name}` }));
}

/** The command that a whole text is; null where it is a prompt. A path such as /etc/hosts is one. */
export function commandOf(text: string): { readonly name: Command; readonly argument: string } | null {
  const [, name, argument = ""] = /^\/([a-z-]+)(?:[ \t]+(\S+))?\s*$/.exec(text) ?? [];
  const known = COMMANDS.some((option) => option.label.split(" ")[0] === `/${name}`);
  return known ? { name: name as Command, argument } : null;
}
