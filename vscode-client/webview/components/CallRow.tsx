/** One tool call as a row: what, how it stands, how long; unfolded: arguments, output, result, diff. */

import { useMemo } from "preact/hooks";
import type { FileChanged } from "../../src/wire";
import type { CallEntry } from "../state/model";
import { diffLines } from "../text/diff";
import { duration, plural, shortPath } from "../text/format";
import { ApprovalBlock } from "./Approval";
import { CopyButton } from "./CodeBlock";
import { Counts, DiffView, MOST_LINES } from "./DiffView";
import { Icon, IconButton, type IconName } from "./Icon";
import { HiddenWarning, Revealed } from "./Revealed";
import { useFold, useShared } from "./context";

type Look = "waiting" | "asking" | "running" | "done" | "failed" | "refused" | "cut";

const LOOKS: Readonly<Record<Look, { icon: IconName | null; spoken: string }>> = {
  waiting: { icon: "dot", spoken: "waits" },
  asking: { icon: "hand", spoken: "needs your approval" },
  running: { icon: null, spoken: "runs" },
  done: { icon: "check", spoken: "done" },
  failed: { icon: "cross", spoken: "failed" },
  refused: { icon: "cross", spoken: "refused" },
  cut: { icon: "dot", spoken: "did not run" },
};

export function CallRow({ call, over }: { call: CallEntry; over: boolean }) {
  const look = lookOf(call, over);
  const [open, toggle] = useFold(call.key, false);
  const asking = look === "asking" && call.approval;
  const title = call.title || call.approval?.title || call.tool;
  return (
    <div class={`call call-${look}`}>
      {/* What waits says it all itself, once. */}
      <button type="button" class="call-head" hidden={!!asking} data-fold data-focus={asking ? undefined : true} aria-expanded={open} onClick={toggle}>
        <StateMark look={look} />
        <span class="call-title" title={title}>
          <Revealed text={title} />
        </span>
        {call.changes.length > 0 && <Counts {...total(call.changes)} />}
        <span class="call-time">{duration(call.seconds)}</span>
        <span class="chevron" data-open={open}>
          <Icon name="right" />
        </span>
      </button>
      {look === "failed" && call.summary && !open && <p class="call-summary">{call.summary}</p>}
      {look === "refused" && call.resolved?.feedback && <p class="call-summary">You said: {call.resolved.feedback}</p>}
      {call.state === "running" && call.output && !open && <pre class="output output-tail">{tail(call.output, 4)}</pre>}
      <Problems call={call} />
      {open && !asking && <Details call={call} />}
      {asking && <ApprovalBlock key={asking.approvalId} asked={asking} />}
    </div>
  );
}

function StateMark({ look }: { look: Look }) {
  const { icon, spoken } = LOOKS[look];
  return (
    <span class="call-state" title={spoken}>
      {icon ? <Icon name={icon} /> : <span class="spinner" />}
      <span class="spoken">{spoken}: </span>
    </span>
  );
}

function lookOf(call: CallEntry, over: boolean): Look {
  if (call.resolved?.choice === "reject") return "refused";
  if (over && (call.state === "waiting" || call.state === "asking" || call.state === "running")) return "cut";
  return call.state;
}

function Details({ call }: { call: CallEntry }) {
  return (
    <div class="call-details">
      <Part name="Arguments" text={pretty(call.arguments)} />
      {call.resolved && <Allowed call={call} />}
      {call.changes.map((change) => (
        <ChangedFile key={change.path} change={change} />
      ))}
      {call.output && <Part name="Output" text={call.output} />}
      {call.result && <Part name={call.state === "failed" ? "Error" : "Result"} text={call.result} />}
    </div>
  );
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <section class="part">
      <div class="part-head">
        <h4>{name}</h4>
        <CopyButton text={text} label={`Copy ${name.toLowerCase()}`} />
      </div>
      <HiddenWarning texts={[text]} />
      <pre class="output" tabIndex={0} aria-label={name}>
        <Revealed text={text} />
      </pre>
    </section>
  );
}

const CHOICES = {
  allowOnce: "You allowed it once.",
  allowSession: "You allowed it for this session.",
  reject: "You refused it.",
  unanswered: "Nobody answered.",
  cancelled: "The turn was stopped while it waited.",
} as const;

function Allowed({ call: { approval, resolved } }: { call: CallEntry }) {
  if (!resolved) return null;
  const all = approval?.hunks.length ?? 0;
  const some = resolved.hunkIds && all ? ` ${resolved.hunkIds.length} of ${plural(all, "change")}.` : "";
  const typed = resolved.typed.length ? " With your own text." : "";
  const rule = resolved.choice === "allowSession" && approval?.rule;
  return (
    <p class="quiet">
      {CHOICES[resolved.choice]}
      {some}
      {typed}
      {rule && (
        <>
          {" "}
          Rule: <code>{rule}</code>
        </>
      )}
    </p>
  );
}

function ChangedFile({ change }: { change: FileChanged }) {
  const { controller, workspace } = useShared();
  const lines = useMemo(() => diffLines(change.diff), [change.diff]);
  const shown = lines.length > MOST_LINES ? lines.slice(0, MOST_LINES) : lines;
  const name = shortPath(change.path, workspace);
  return (
    <section class="part">
      <div class="part-head">
        <button type="button" class="link" title={`Open ${name}`} onClick={() => controller.openFile(change.path)}>
          {name}
        </button>
        <Counts added={change.added} removed={change.removed} />
        <span class="quiet">{stateOf(change)}</span>
        <IconButton icon="diff" label={`Open the diff of ${name}`} onClick={() => controller.openDiff(change.path, change.turnId)} />
      </div>
      {shown.length > 0 && <DiffView lines={shown} />}
      {shown.length < lines.length && <p class="quiet">{plural(lines.length - shown.length, "more line")} in the diff editor.</p>}
    </section>
  );
}

function stateOf(change: FileChanged): string {
  if (change.deleted) return "deleted";
  if (change.movedFrom) return "moved";
  const made = change.created ? "new" : "";
  const unsaved = change.saved ? "" : "unsaved";
  return [made, unsaved].filter(Boolean).join(", ");
}

function Problems({ call }: { call: CallEntry }) {
  const { controller, workspace } = useShared();
  if (call.problems.length === 0) return null;
  return (
    <ul class="problems" aria-label="New syntax errors">
      {call.problems.map(({ path, problem }) => (
        <li key={`${path}:${problem.start.line}:${problem.start.column}`}>
          <button type="button" class="link" onClick={() => controller.openFile(path, problem.start.line)}>
            {shortPath(path, workspace)}:{problem.start.line}
          </button>{" "}
          {problem.message}
        </li>
      ))}
    </ul>
  );
}

function total(changes: readonly FileChanged[]): { added: number; removed: number } {
  return changes.reduce(
    (sum, change) => ({ added: sum.added + change.added, removed: sum.removed + change.removed }),
    { added: 0, removed: 0 },
  );
}

function tail(text: string, lines: number): string {
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

/** Arguments are shown as written where they are no JSON. */
function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
