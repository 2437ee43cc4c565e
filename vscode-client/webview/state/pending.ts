/** The files that wait for a review, each once, whichever turns changed them. */

import type { ChangesListResult } from "../../src/wire";
import { counts } from "../text/diff";

export interface PendingFile {
  readonly path: string;
  /** The first turn whose change of it waits: a diff is shown from there. */
  readonly turnId: string;
  readonly added: number;
  readonly removed: number;
  readonly note: string;
}

export function pendingFiles(changes: ChangesListResult | null): PendingFile[] {
  const files = new Map<string, PendingFile>();
  for (const turn of changes?.turns ?? []) {
    for (const file of turn.files) {
      const waiting = file.hunks.filter((hunk) => hunk.state === "pending");
      if (waiting.length === 0) continue;
      const known = files.get(file.path);
      const { added, removed } = counts(waiting);
      files.set(file.path, {
        path: file.path,
        turnId: known?.turnId ?? turn.turnId,
        added: added + (known?.added ?? 0),
        removed: removed + (known?.removed ?? 0),
        note: file.created ? "new" : file.deleted ? "deleted" : file.movedFrom ? "moved" : "",
      });
    }
  }
  return [...files.values()];
}
