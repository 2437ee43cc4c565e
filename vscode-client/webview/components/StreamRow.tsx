/** One row of the stream, whatever it is. */

import type { Row } from "../state/rows";
import { baseName, duration, plural, shortPath, tokens } from "../text/format";
import { CallRow } from "./CallRow";
import { Icon, IconButton } from "./Icon";
import { Markdown } from "./Markdown";
import { CopyButton } from "./CodeBlock";
import { QuestionRow } from "./Question";
import { useFold, useShared } from "./context";

export function StreamRow({ row }: { row: Row }) {
  switch (row.kind) {
    case "prompt":
      return <PromptRow row={row} />;
    case "joined":
      return (
        <div class="prompt">
          <h2 class="spoken">You, while it worked</h2>
          <p class="prompt-text">{row.text}</p>
        </div>
      );
    case "starting":
      return (
        <div class="prompt">
          <p class="prompt-text">{row.text}</p>
          <p class="quiet working"><span class="spinner" /> Starting…</p>
        </div>
      );
    case "reasoning":
      return <ReasoningRow row={row} />;
    case "text":
      return (
        <div class="reply" data-live={row.live}>
          <Markdown text={row.text} live={row.live} />
          {!row.live && <div class="row-actions"><CopyButton text={row.text} label="Copy reply" /></div>}
        </div>
      );
    case "call":
      return <CallRow call={row.call} over={row.over} />;
    case "question":
      return <QuestionRow entry={row.question} over={row.over} />;
    case "notice":
      return <p class={`notice notice-${row.notice.level}`} role={row.notice.level === "error" ? "alert" : "note"}>{row.notice.text}</p>;
    case "retrying":
      return <p class="notice notice-warning"><span class="spinner" /> {row.reason} What was shown of the reply is void; it is asked for again.</p>;
    case "working":
      return <p class="quiet working"><span class="spinner" /> Working…</p>;
    case "end":
      return <EndRow row={row} />;
    case "gone":
      return <GoneRow row={row} />;
  }
}

type RowOf<Kind extends Row["kind"]> = Extract<Row, { kind: Kind }>;

function PromptRow({ row }: { row: RowOf<"prompt"> }) {
  const { controller } = useShared();
  const [open, toggle] = useFold(`${row.key}:sent`);
  return (
    <div class="prompt">
      <h2 class="spoken">You</h2>
      <p class="prompt-text">{row.text}</p>
      {row.sent && (
        <button type="button" class="fold-line" data-fold aria-expanded={open} onClick={toggle}>
          <span class="chevron" data-open={open}><Icon name="right" /></span> What the model was sent
        </button>
      )}
      {row.sent && open && <pre class="output" tabIndex={0} aria-label="What the model was sent">{row.sent}</pre>}
      {row.over && (
        <div class="row-actions">
          <IconButton icon="pencil" label="Edit: the talk goes on from here, files stay" onClick={() => controller.editPrompt(row.turnId, row.previous, row.text)} />
          <IconButton icon="back" label="Go back to before this prompt, with the files…" onClick={() => void controller.askRewind(row.turnId, row.text)} />
        </div>
      )}
    </div>
  );
}

function ReasoningRow({ row }: { row: RowOf<"reasoning"> }) {
  const [open, toggle] = useFold(row.key, false);
  return (
    <div class="reasoning">
      <button type="button" class="fold-line" data-fold data-focus aria-expanded={open} onClick={toggle}>
        <span class="chevron" data-open={open}><Icon name="right" /></span>
        {row.live ? <><span class="spinner" /> Thinking…</> : "Thought"}
        {!open && <span class="reasoning-glance">{glance(row.text, row.live)}</span>}
      </button>
      {open && <div class="reasoning-text"><Markdown text={row.text} live={row.live} /></div>}
    </div>
  );
}

/** The line that is being thought; of a finished one the first. */
function glance(text: string, live: boolean): string {
  const part = live ? text.slice(-400) : text.slice(0, 400);
  const lines = part.split("\n").map((line) => line.trim()).filter(Boolean);
  return ((live ? lines.at(-1) : lines[0]) ?? "").replace(/[*_`#]/g, "").slice(0, 160);
}

const ENDS = {
  done: "Done",
  maxRounds: "Stopped at the limit of rounds; say “go on” to continue",
  cancelled: "Stopped",
  error: "Failed",
  interrupted: "Interrupted: the server ended. What was done is kept; say “go on” to continue",
} as const;

function EndRow({ row: { end, turnId } }: { row: RowOf<"end"> }) {
  const { controller, workspace } = useShared();
  const { inputTokens, outputTokens, cachedTokens } = end.usage;
  const usage = inputTokens + outputTokens;
  const detail = `${tokens(inputTokens)} tokens in (${tokens(cachedTokens)} of them cached), ${tokens(outputTokens)} out, ${plural(end.rounds, "round")}`;
  return (
    <div class={`end end-${end.reason}`}>
      {end.error && <p class="notice notice-error" role="alert">{end.error}</p>}
      <p class="quiet">
        {ENDS[end.reason]}
        {duration(end.seconds) && ` · ${duration(end.seconds)}`}
        {usage > 0 && <span title={detail}> · {tokens(usage)} tokens</span>}
        {end.files.length > 0 && <> · {plural(end.files.length, "file")}:</>}
        {end.files.map((path) => (
          <button key={path} type="button" class="link file-link" title={`Diff of ${shortPath(path, workspace)}`} onClick={() => controller.openDiff(path, turnId)}>
            {baseName(path)}
          </button>
        ))}
      </p>
    </div>
  );
}

function GoneRow({ row }: { row: RowOf<"gone"> }) {
  const { controller } = useShared();
  const [open, toggle] = useFold(row.key);
  return (
    <div class="gone">
      <div class="gone-head">
        <button type="button" class="fold-line" data-fold data-focus aria-expanded={open} onClick={toggle}>
          <span class="chevron" data-open={open}><Icon name="right" /></span> {plural(row.prompts.length, "turn")} taken back
        </button>
        <button type="button" class="link" onClick={() => void controller.undoRewind(row.rewindId)}>Bring back</button>
      </div>
      {open && <ul>{row.prompts.map((prompt, at) => <li key={at}>{prompt}</li>)}</ul>}
    </div>
  );
}
