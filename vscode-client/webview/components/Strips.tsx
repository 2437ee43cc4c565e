/** What stands between the stream and the composer: plan, queue, changes under review. */

import { useEffect, useState } from "preact/hooks";
import type { ChangesListResult, PlanStep } from "../../src/wire";
import type { Queued } from "../state/model";
import { pendingFiles } from "../state/pending";
import { baseName, plural, shortPath } from "../text/format";
import { Counts } from "./DiffView";
import { Icon, IconButton } from "./Icon";
import { memo } from "./memo";
import { useFold, useShared } from "./context";

const STEP_WORDS = { pending: "to do", active: "in work", done: "done" } as const;

export const PlanStrip = memo(function PlanStrip({ steps }: { steps: readonly PlanStep[] }) {
  const [open, toggle] = useFold("plan", false);
  if (steps.length === 0) return null;
  const done = steps.filter((step) => step.status === "done").length;
  const active = steps.find((step) => step.status === "active") ?? steps.find((step) => step.status === "pending");
  return (
    <section class="strip" aria-label="Plan">
      <button type="button" class="strip-head" aria-expanded={open} onClick={toggle}>
        <span class="chevron" data-open={open}><Icon name="right" /></span>
        <span class="strip-name">Plan</span> <span class="quiet">{done}/{steps.length}</span>
        {!open && active && <span class="strip-glance">{active.text}</span>}
      </button>
      {open && (
        <ol class="plan">
          {steps.map((step, at) => (
            <li key={at} class={`step step-${step.status}`}>
              <span class="step-mark" aria-hidden="true">{step.status === "done" && <Icon name="check" />}</span>
              <span class="spoken">{STEP_WORDS[step.status]}: </span>
              {step.text}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
});

export const QueueStrip = memo(function QueueStrip({ queue }: { queue: readonly Queued[] }) {
  const { controller } = useShared();
  if (queue.length === 0) return null;
  return (
    <section class="strip" aria-label="Waiting prompts">
      <ol class="queue">
        {queue.map((queued) => (
          <li key={queued.turnId}>
            <span class="queue-text" title={queued.text}><span class="quiet">Next</span> {queued.text}</span>
            <IconButton icon="steer" label={`Send now, into the running turn: ${queued.text}`} onClick={() => void controller.steer(queued)} />
            <IconButton icon="pencil" label={`Edit: ${queued.text}`} onClick={() => void controller.editQueued(queued)} />
            <IconButton icon="cross" label={`Remove: ${queued.text}`} onClick={() => void controller.unqueue(queued)} />
          </li>
        ))}
      </ol>
    </section>
  );
});

export const ChangesStrip = memo(function ChangesStrip({ changes }: { changes: ChangesListResult | null }) {
  const { controller, workspace } = useShared();
  const [open, toggle] = useFold("changes", false);
  const files = pendingFiles(changes);
  if (files.length === 0) return null;
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <section class="strip" aria-label="Changes to review">
      <div class="strip-line">
        <button type="button" class="strip-head" aria-expanded={open} onClick={toggle}>
          <span class="chevron" data-open={open}><Icon name="right" /></span>
          <span class="strip-name">{plural(files.length, "file")} to review</span> <Counts added={added} removed={removed} />
        </button>
        <button type="button" class="link" onClick={() => void controller.resolve("accept", null)}>Accept all</button>
        <RejectAll count={files.length} onReject={() => void controller.resolve("reject", null)} />
      </div>
      {open && (
        <ul class="files">
          {files.map((file) => {
            const name = shortPath(file.path, workspace);
            return (
              <li key={file.path}>
                <button type="button" class="file-name" title={`Diff of ${name}`} onClick={() => controller.openDiff(file.path, file.turnId)}>
                  <span>{baseName(file.path)}</span> <span class="quiet">{folder(name)}</span>
                </button>
                <span class="quiet">{file.note}</span>
                <Counts added={file.added} removed={file.removed} />
                <IconButton icon="check" label={`Accept ${name}`} onClick={() => void controller.resolve("accept", file.path)} />
                <IconButton icon="cross" label={`Reject ${name}`} onClick={() => void controller.resolve("reject", file.path)} />
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
});

const SURE_FOR = 4000;

/** Rejecting all takes a second press: one slip must not take back an hour's work. */
function RejectAll({ count, onReject }: { count: number; onReject(): void }) {
  const [sure, setSure] = useState(false);
  useEffect(() => {
    if (!sure) return;
    const timer = setTimeout(() => setSure(false), SURE_FOR);
    return () => clearTimeout(timer);
  }, [sure]);
  const press = (): void => {
    setSure(!sure);
    if (sure) onReject();
  };
  return (
    <button type="button" class={sure ? "link danger" : "link"} onClick={press} onBlur={() => setSure(false)}>
      {sure ? `Reject ${plural(count, "file")}?` : "Reject all"}
    </button>
  );
}

function folder(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}
