/** Text in which nothing is hidden: what cannot be seen stands there as a small mark with its code. */

import { hiddenCount, revealed } from "../text/hidden";
import { plural } from "../text/format";

export function Revealed({ text }: { text: string }) {
  return (
    <>
      {revealed(text).map((piece, at) =>
        piece.code === null ? (
          piece.text
        ) : (
          <mark key={at} class="hidden-mark" title={`${piece.name}, ${piece.code}`} aria-label={`${piece.name}, ${piece.code}`}>
            {piece.code}
          </mark>
        ),
      )}
    </>
  );
}

/** A warning where there is something hidden in any of these texts. */
export function HiddenWarning({ texts }: { texts: readonly string[] }) {
  const count = texts.reduce((sum, text) => sum + hiddenCount(text), 0);
  if (count === 0) return null;
  return (
    <p class="warning-line" role="note">
      {plural(count, "character")} here {count === 1 ? "is" : "are"} invisible or {count === 1 ? "changes" : "change"} the order
      of others; {count === 1 ? "it is" : "they are"} shown by code.
    </p>
  );
}
