/** What of a session a person must hear of. Pure. */

import { duration, plural } from "../text/format";
import type { CallEntry, QuestionEntry, Session, Turn } from "./model";

/** What waits for the person in the running turn, oldest first. */
export function pendingEntries(session: Session): readonly (CallEntry | QuestionEntry)[] {
  const turn = session.turns.at(-1);
  if (!turn || turn.id !== session.running) return [];
  return turn.entries.filter(
    (entry): entry is CallEntry | QuestionEntry =>
      (entry.kind === "call" && entry.state === "asking") || (entry.kind === "question" && !entry.answered),
  );
}

/** What a screen reader says of an entry that waits. */
export function spokenPending(entry: CallEntry | QuestionEntry): string {
  if (entry.kind === "question") return `Pails asks: ${entry.asked.text}`;
  return `Approval needed: ${entry.approval?.title ?? entry.title}`;
}

const SPOKEN = {
  done: "Done",
  maxRounds: "Stopped at the limit of rounds",
  cancelled: "Stopped",
  error: "Failed",
  interrupted: "Interrupted",
} as const;

/** What a screen reader says about a turn as it stands: its end and its reply, not each word of it. */
export function spokenTurn(turn: Turn | undefined): string {
  if (!turn) return "";
  if (!turn.end) return turn.retrying ? "The reply broke off and is asked for again." : "Pails works.";
  const { reason, error, files, seconds } = turn.end;
  const reply = turn.entries.findLast((entry) => entry.kind === "text");
  const changed = files.length ? ` ${plural(files.length, "file")} changed.` : "";
  const said = reason === "done" && reply ? ` ${reply.text.slice(0, 600)}` : "";
  return `${SPOKEN[reason]} ${duration(seconds)}. ${error}${changed}${said}`;
}
