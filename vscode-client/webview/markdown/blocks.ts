/** Cuts Markdown into pieces that can be rendered each for itself, so that a stream renders only its last one. */

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
/** `[name]: address` is used from anywhere in the text, so such a text stays whole. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/** The pieces, in order; joined they are the text. All but the last one stay the same while lines are added. */
export function splitBlocks(text: string): string[] {
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let start = 0;
  let fence = "";
  let afterBlank = false;
  let inList = false;
  for (let at = 0; at < text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).replace(/\r?\n$/, "");
    if (line.trim() === "" && !fence) {
      afterBlank = true;
    } else {
      if (afterBlank && !fence && mayBegin(line, inList)) {
        blocks.push(text.slice(start, at));
        start = at;
        inList = false;
      }
      // A list's fence may be indented by any number of spaces: it ends as it began.
      fence = fenceAfter(fence, inList ? line.trimStart() : line);
      if (start === at || LIST_ITEM.test(line)) inList = LIST_ITEM.test(line);
      afterBlank = false;
    }
    at = end;
  }
  if (start < text.length) blocks.push(text.slice(start));
  return blocks;
}

/** Whether a line after a blank one begins something new, and does not go on with a list or with code. */
function mayBegin(line: string, inList: boolean): boolean {
  if (/^(?: {2}|\t| \t)/.test(line)) return false;
  return !(inList && (LIST_ITEM.test(line) || line.startsWith(" ")));
}

/** The fence that is open behind this line; "" for none. */
function fenceAfter(open: string, line: string): string {
  const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
  if (!open) return marks[0] === "`" && info.includes("`") ? "" : marks;
  const closes = marks[0] === open[0] && marks.length >= open.length && info.trim() === "";
  return closes ? "" : open;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at + 1;
}
