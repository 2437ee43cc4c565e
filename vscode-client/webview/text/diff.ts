/** Unified diffs and hunks as lines to be shown. */

export interface DiffLine {
  readonly kind: "context" | "added" | "removed" | "header";
  readonly text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const KINDS: Readonly<Record<string, DiffLine["kind"]>> = { "+": "added", "-": "removed", " ": "context" };

/** The lines of a unified diff; of its file headers only those between files. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let old = 0;
  let made = 0;
  for (const line of diff.split("\n")) {
    const hunk = HUNK.exec(line);
    const kind = KINDS[line.charAt(0)] ;
    if (old + made > 0 && kind) {
      // Counted, since a removed "-- x" looks like the header of a file.
      if (kind !== "added") old--;
      if (kind !== "removed") made--;
      lines.push({ kind, text: line.slice(1) });
    } else if (hunk) {
      old = Number(hunk[1] ?? 1);
      made = Number(hunk[2] ?? 1);
      lines.push({ kind: "header", text: line });
    } else if (line.startsWith("+++ ") && lines.length) {
      lines.push({ kind: "header", text: line.slice(4) });
    }
  }
  return withoutCommonEnds(lines);
}

/** A hunk as the lines it takes away, then those it puts in their place. */
export function hunkLines(old: string, made: string): DiffLine[] {
  return withoutCommonEnds([
    ...wholeLines(old).map((text): DiffLine => ({ kind: "removed", text })),
    ...wholeLines(made).map((text): DiffLine => ({ kind: "added", text })),
  ]);
}

/** How many lines hunks add and remove. */
export function counts(hunks: readonly { old: string; new: string }[]): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const hunk of hunks) {
    added += wholeLines(hunk.new).length;
    removed += wholeLines(hunk.old).length;
  }
  return { added, removed };
}

function wholeLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Where all lines end in CR LF, nobody wants to see the CR; where only some do, that is the news. */
function withoutCommonEnds(lines: readonly DiffLine[]): DiffLine[] {
  const shared = lines.every(({ kind, text }) => kind === "header" || text.endsWith("\r"));
  return lines.map((line) => (shared ? { ...line, text: line.text.replace(/\r$/, "") } : line));
}
