/** Lines of a diff, with nothing hidden in them. */

import type { DiffLine } from "../text/diff";
import { Revealed } from "./Revealed";
import { memo } from "./memo";

const SIGNS = { added: "+", removed: "−", context: " ", header: "" } as const;
const SPOKEN = { added: "added: ", removed: "removed: ", context: "", header: "" } as const;
/** More lines than this are shown on demand: the diff editor shows them better. */
export const MOST_LINES = 400;

export const DiffView = memo(function DiffView({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <pre class="diff" tabIndex={0} aria-label="Changes">
      {lines.map((line, at) => (
        <span key={at} class={`diff-line diff-${line.kind}`}>
          <span class="diff-sign" aria-hidden="true">{SIGNS[line.kind]}</span>
          {SPOKEN[line.kind] && <span class="spoken">{SPOKEN[line.kind]}</span>}
          <span class="diff-text">
            <Revealed text={line.text} />
          </span>
          {"\n"}
        </span>
      ))}
    </pre>
  );
});

export function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="counts" aria-label={`${added} added, ${removed} removed`}>
      <span class="count-added">+{added}</span> <span class="count-removed">−{removed}</span>
    </span>
  );
}
