/** A call that waits for a person: what exactly would be done, why it asks, and the answers. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ApprovalRequested } from "../../src/wire";
import type { ApprovalAnswer } from "../controller";
import { diffLines } from "../text/diff";
import { approvalKey } from "./approvalKeys";
import { DiffView } from "./DiffView";
import { Hunks, type Edits } from "./Hunks";
import { Icon } from "./Icon";
import { HiddenWarning, Revealed } from "./Revealed";
import { useShared } from "./context";

/** Keys that were meant for what had the focus before must not answer. In milliseconds. */
const DEAF_FOR = 700;

export function ApprovalBlock({ asked }: { asked: ApprovalRequested }) {
  const { controller } = useShared();
  const block = useRef<HTMLDivElement>(null);
  const hearsFrom = useRef(0);
  const [rejecting, setRejecting] = useState(false);
  const [busy, setBusy] = useState(false);
  const [taken, setTaken] = useState<ReadonlySet<string>>(() => new Set(asked.hunks.map((hunk) => hunk.id)));
  const [edits, setEdits] = useState<Edits>({});
  const title = `approval-${asked.approvalId}`;
  const nothing = asked.hunks.length > 0 && taken.size === 0;
  const edited = Object.keys(edits).length > 0;

  const answer = async (given: ApprovalAnswer): Promise<void> => {
    if (busy) return;
    setBusy(true);
    if (!(await controller.answerApproval(asked, given))) setBusy(false);
  };
  const allow = (choice: "allowOnce" | "allowSession"): void => {
    if (nothing) return;
    const all = taken.size === asked.hunks.length;
    const chosen = asked.hunks.filter((hunk) => taken.has(hunk.id));
    if (edited) {
      const wanted = chosen.map((hunk) => ({ ...hunk, new: edits[hunk.id] ?? hunk.new }));
      controller.allowEdited(asked, choice, wanted);
    } else void answer({ choice, hunkIds: all ? null : chosen.map((hunk) => hunk.id) });
  };
  const onKey = (event: KeyboardEvent): void => {
    const key = approvalKey(event, performance.now() < hearsFrom.current);
    if (key === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "reject") setRejecting(true);
    else if (key !== "nothing") allow(key);
  };
  return (
    <div
      ref={block}
      class="approval"
      role="group"
      aria-labelledby={title}
      aria-describedby={`${title}-legend`}
      tabIndex={0}
      data-focus
      data-approval
      onKeyDown={onKey}
      onFocus={(event) => {
        if (event.target === block.current) hearsFrom.current = performance.now() + DEAF_FOR;
      }}
    >
      <h3 id={title}>
        <Icon name="hand" />
        <span>
          Allow? <Revealed text={asked.title} />
        </span>
      </h3>
      <p class="quiet">{asked.reason}</p>
      <HiddenWarning texts={[asked.title, asked.text, asked.diff, asked.rule, ...asked.hunks.map((hunk) => hunk.new)]} />
      <What asked={asked} taken={taken} edits={edits} onTake={setTaken} onEdit={setEdits} />
      {asked.rule && (
        <p class="rule">
          <span class="quiet">“For this session” stores</span>{" "}
          <code>
            <Revealed text={asked.rule} />
          </code>
        </p>
      )}
      {rejecting ? (
        <RejectForm
          onReject={(feedback) => void answer({ choice: "reject", feedback })}
          onBack={() => {
            setRejecting(false);
            block.current?.focus();
          }}
        />
      ) : (
        <div class="buttons">
          <button type="button" class="primary" disabled={busy || nothing} onClick={() => allow("allowOnce")}>
            {label(taken.size, asked.hunks.length, edited)} <kbd>Y</kbd>
          </button>
          <button type="button" disabled={busy || nothing || !asked.rule} onClick={() => allow("allowSession")}>
            For this session <kbd>A</kbd>
          </button>
          <button type="button" disabled={busy} onClick={() => setRejecting(true)}>
            Reject… <kbd>N</kbd>
          </button>
        </div>
      )}
      <p id={`${title}-legend`} class="legend">
        {nothing ? "Choose a change to allow, or reject." : "The keys work while this box has the focus. Enter never allows."}
      </p>
    </div>
  );
}

function label(taken: number, all: number, edited: boolean): string {
  if (edited) return "Allow as edited";
  return taken < all ? `Allow ${taken} of ${all}` : "Allow once";
}

interface WhatProps {
  asked: ApprovalRequested;
  taken: ReadonlySet<string>;
  edits: Edits;
  onTake(taken: ReadonlySet<string>): void;
  onEdit(edits: Edits): void;
}

function What({ asked, ...hunks }: WhatProps) {
  const lines = useMemo(() => diffLines(asked.diff), [asked.diff]);
  // For a write the text is only its title again: the diff is the whole of it.
  const says = asked.text.trim() !== asked.title.trim() || !asked.diff;
  return (
    <>
      {says && (
        <pre class="asked-text" tabIndex={0} aria-label="What would be done">
          <Revealed text={asked.text} />
        </pre>
      )}
      {asked.hunks.length > 0 ? (
        <Hunks hunks={asked.hunks} {...hunks} />
      ) : lines.length > 0 ? (
        <DiffView lines={lines} />
      ) : (
        asked.diff && (
          <pre class="asked-text" tabIndex={0} aria-label="Changes">
            <Revealed text={asked.diff} />
          </pre>
        )
      )}
    </>
  );
}

function RejectForm({ onReject, onBack }: { onReject(feedback: string): void; onBack(): void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="reject"
      onSubmit={(event) => {
        event.preventDefault();
        onReject(input.current?.value.trim() ?? "");
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onBack();
        // The Enter that ends a composition is part of the word.
        if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.preventDefault();
      }}
    >
      <input ref={input} type="text" aria-label="Why, told to the model (may be empty)" placeholder="Why? The model is told. May be empty." />
      <button type="submit" class="danger">
        Reject
      </button>
      <button type="button" onClick={onBack}>
        Back
      </button>
    </form>
  );
}
