/** Characters that cannot be seen, or that change how others are shown, made visible. */

export interface Piece {
  readonly text: string;
  /** The code point of a hidden character, such as "U+202E"; null for plain text. */
  readonly code: string | null;
  readonly name: string;
}

/**
 * Controls but tab and line feed, format characters (zero-width, bidirectional, tags), unusual
 * spaces and fillers, variation selectors, surrogate halves, private use, line and paragraph
 * separators, and what is not assigned.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

const NAMES: Readonly<Record<number, string>> = {
  0x00: "null", 0x07: "bell", 0x08: "backspace", 0x0d: "carriage return", 0x1b: "escape",
  0x7f: "delete", 0xa0: "no-break space", 0xad: "soft hyphen", 0x61c: "Arabic letter mark",
  0x200b: "zero width space", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner",
  0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator",
  0x2029: "paragraph separator", 0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding", 0x202c: "pop directional formatting",
  0x202d: "left-to-right override", 0x202e: "right-to-left override", 0x2060: "word joiner",
  0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate",
  0x2068: "first strong isolate", 0x2069: "pop directional isolate", 0x3164: "Hangul filler",
  0xfeff: "byte order mark",
};

/** The text cut at its hidden characters. Joined, the pieces are the text. */
export function revealed(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const character = match[0];
    if (isOrdinary(text, match.index, character)) continue;
    if (match.index > from) pieces.push(plain(text.slice(from, match.index)));
    const point = character.codePointAt(0) ?? 0;
    pieces.push({ text: character, code: codeOf(point), name: NAMES[point] ?? "hidden character" });
    from = match.index + character.length;
  }
  if (from < text.length) pieces.push(plain(text.slice(from)));
  return pieces;
}

/** How many there are. */
export function hiddenCount(text: string): number {
  return revealed(text).filter((piece) => piece.code !== null).length;
}

/** Tabs, line ends, and what makes one emoji of several are as one expects them. */
function isOrdinary(text: string, at: number, character: string): boolean {
  if (character === "\n" || character === "\t") return true;
  if (character === "\r") return text[at + 1] === "\n";
  if (character !== "\u200d" && character !== "\ufe0f") return false;
  const before = Array.from(text.slice(Math.max(0, at - 4), at)).at(-1) ?? "";
  if (!/[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u.test(before)) return false;
  return character === "\ufe0f" || /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3));
}

function plain(text: string): Piece {
  return { text, code: null, name: "" };
}

function codeOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
