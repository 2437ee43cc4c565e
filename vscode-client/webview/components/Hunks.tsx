/** The changes of a proposed write, each to be taken, left or edited. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ProposedHunk } from "../../src/wire";
import { hunkLines } from "../text/diff";
import { shortPath } from "../text/format";
import { DiffView } from "./DiffView";
import { IconButton } from "./Icon";
import { useShared } from "./context";

/** By id of the hunk: what is to be written in place of its `new`. */
export type Edits = Readonly<Record<string, string>>;

interface HunksProps {
  readonly hunks: readonly ProposedHunk[];
  readonly taken: ReadonlySet<string>;
  readonly edits: Edits;
  onTake(taken: ReadonlySet<string>): void;
  onEdit(edits: Edits): void;
}

export function Hunks({ hunks, taken, edits, onTake, onEdit }: HunksProps) {
  const files = useMemo(() => [...new Set(hunks.map((hunk) => hunk.path))], [hunks]);
  const take = (id: string, wanted: boolean): void => {
    const next = new Set(taken);
    if (wanted) next.add(id);
    else next.delete(id);
    onTake(next);
  };
  const edit = (id: string, text: string | null): void => {
    const { [id]: _, ...others } = edits;
    onEdit(text === null ? others : { ...others, [id]: text });
  };
  return (
    <div class="hunks">
      {files.map((path) => (
        <FileHunks key={path} path={path}>
          {hunks
            .filter((hunk) => hunk.path === path)
            .map((hunk) => (
              <Hunk
                key={hunk.id}
                hunk={hunk}
                taken={taken.has(hunk.id)}
                edited={edits[hunk.id]}
                onTake={(wanted) => take(hunk.id, wanted)}
                onEdit={(text) => edit(hunk.id, text)}
              />
            ))}
        </FileHunks>
      ))}
    </div>
  );
}

function FileHunks({ path, children }: { path: string; children: ComponentChildren }) {
  const { workspace } = useShared();
  return (
    <fieldset>
      <legend>{shortPath(path, workspace)}</legend>
      {children}
    </fieldset>
  );
}

interface HunkProps {
  readonly hunk: ProposedHunk;
  readonly taken: boolean;
  readonly edited: string | undefined;
  onTake(wanted: boolean): void;
  onEdit(text: string | null): void;
}

function Hunk({ hunk, taken, edited, onTake, onEdit }: HunkProps) {
  const [editing, setEditing] = useState(false);
  const made = edited ?? hunk.new;
  const lines = useMemo(() => hunkLines(hunk.old, made), [hunk.old, made]);
  const where = `Line ${hunk.line + 1}`;
  return (
    <div class="hunk" data-taken={taken}>
      <div class="hunk-head">
        <label>
          <input type="checkbox" checked={taken} onChange={(event) => onTake(event.currentTarget.checked)} />
          {where}
          {edited !== undefined && <span class="quiet"> edited</span>}
        </label>
        {edited !== undefined && (
          <IconButton icon="back" label={`${where}: take the edit back`} onClick={() => onEdit(null)} />
        )}
        <IconButton icon="pencil" label={`${where}: edit before allowing`} disabled={!taken} onClick={() => setEditing(!editing)} />
      </div>
      {editing && taken ? (
        <HunkEditor
          text={made}
          label={`${where}, new text`}
          onDone={(text) => {
            setEditing(false);
            if (text !== null) onEdit(text === hunk.new ? null : text);
          }}
        />
      ) : (
        <DiffView lines={lines} />
      )}
    </div>
  );
}

interface HunkEditorProps {
  readonly text: string;
  readonly label: string;
  onDone(text: string | null): void;
}

function HunkEditor({ text, label, onDone }: HunkEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  // A text area knows only LF: the line ends of the file come back when it is done.
  const crlf = /\r\n/.test(text);
  const shown = text.replace(/\r\n/g, "\n");
  const done = (): void => {
    const typed = area.current?.value ?? shown;
    onDone(typed === shown ? text : crlf ? typed.replace(/\n/g, "\r\n") : typed);
  };
  return (
    <div class="hunk-editor">
      <textarea
        ref={area}
        aria-label={label}
        spellcheck={false}
        defaultValue={shown}
        rows={Math.min(20, Math.max(3, shown.split("\n").length))}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") onDone(null);
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) done();
        }}
      />
      <div class="buttons">
        <button type="button" onClick={done}>Keep edit</button>
        <button type="button" onClick={() => onDone(null)}>Cancel</button>
      </div>
    </div>
  );
}
