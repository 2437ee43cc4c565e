/** A text of the model. Of one that streams only the last block is rendered again. */

import { renderMarkdown } from "../markdown/render";
import { splitBlocks } from "../markdown/blocks";
import { memo } from "./memo";

export function Markdown({ text, live = false }: { text: string; live?: boolean }) {
  const blocks = splitBlocks(text);
  return (
    <div class="markdown">
      {blocks.map((block, at) => (
        <Block key={at} text={block} live={live && at === blocks.length - 1} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ text, live }: { text: string; live: boolean }) {
  return <>{renderMarkdown(text, live)}</>;
});
