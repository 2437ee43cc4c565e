/** What going back would do, and the choice of it. */

import { useEffect, useRef } from "preact/hooks";
import type { RewindResult } from "../../src/wire";
import type { RewindPreview } from "../state/model";
import { plural, shortPath } from "../text/format";
import { useShared } from "./context";

const HOW = {
  restored: "back as before",
  merged: "back as before, your later changes kept",
  broughtBack: "exists again",
  removed: "removed: the agent made it",
} as const;

export function RewindDialog({ rewind, onClose }: { rewind: RewindPreview; onClose(): void }) {
  const { controller } = useShared();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  const { result, turnId, prompt } = rewind;
  const go = (talk: boolean, files: boolean): void => void controller.rewind(turnId, { talk, files }, prompt);
  return (
    <div
      ref={box}
      class="dialog"
      role="dialog"
      aria-modal="false"
      aria-labelledby="rewind-title"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <h3 id="rewind-title">Go back to before this prompt?</h3>
      <p class="dialog-prompt">{prompt}</p>
      {result ? <Preview result={result} /> : <p class="quiet"><span class="spinner" /> Looking at what would change…</p>}
      <div class="buttons">
        <button type="button" class="primary" disabled={!result} onClick={() => go(true, true)}>Talk and files</button>
        <button type="button" disabled={!result} onClick={() => go(true, false)}>Talk only</button>
        <button type="button" disabled={!result || result.files.length === 0} onClick={() => go(false, true)}>Files only</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
      <p class="quiet">What you changed yourself stays. It can be taken back with /undo-rewind.</p>
    </div>
  );
}

function Preview({ result }: { result: RewindResult }) {
  const { workspace } = useShared();
  const isEmpty = result.files.length + result.conflicts.length + result.notes.length === 0;
  return (
    <div class="preview" tabIndex={0} aria-label="What would change">
      <p>{plural(result.turns.length, "turn")} {result.turns.length === 1 ? "leaves" : "leave"} the conversation.{isEmpty && " No file changes."}</p>
      <ul class="files">
        {result.files.map((file) => (
          <li key={file.path}><code>{shortPath(file.path, workspace)}</code> <span class="quiet">{HOW[file.how]}</span></li>
        ))}
        {result.conflicts.map((file) => (
          <li key={file.path} class="conflict"><code>{shortPath(file.path, workspace)}</code> is left alone: {file.reason}</li>
        ))}
      </ul>
      {result.notes.map((text) => <p key={text} class="quiet">{text}</p>)}
    </div>
  );
}
