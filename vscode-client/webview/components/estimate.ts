/** Heights of rows that have not been drawn yet, in pixels. The nearer, the steadier the scroll bar. */

import type { Row } from "../state/rows";

const LINE = 20;
const CHARACTERS = 56;

export function estimate(row: Row): number {
  switch (row.kind) {
    case "prompt":
    case "starting":
    case "joined":
      return 36 + lines(row.text) * LINE;
    case "text":
      return 14 + lines(row.text) * LINE;
    case "notice":
      return 12 + lines(row.notice.text) * LINE;
    case "call":
      return row.call.state === "asking" ? 320 : 28;
    case "question":
      return 110;
    default:
      return 30;
  }
}

function lines(text: string): number {
  let count = 0;
  for (const line of text.split("\n", 400)) count += Math.max(1, Math.ceil(line.length / CHARACTERS));
  return count;
}
