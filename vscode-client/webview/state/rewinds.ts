/** Which turns have left the conversation. */

import type { RewindMark, Session } from "./model";

/** By turn: the rewind that took it out. Turns that are in the conversation are not in it. */
export function goneTurns(session: Session): ReadonlyMap<string, string> {
  const gone = new Map<string, string>();
  for (const mark of inEffect(session.rewinds)) {
    if (!mark.talk) continue;
    for (const turn of mark.turns) if (!gone.has(turn)) gone.set(turn, mark.rewindId);
  }
  return gone;
}

/** The last rewind that can be taken back. */
export function lastRewind(session: Session): RewindMark | undefined {
  return inEffect(session.rewinds).at(-1);
}

function inEffect(marks: readonly RewindMark[]): RewindMark[] {
  const active = (id: string): boolean =>
    !marks.some((other) => other.undoes === id && active(other.rewindId));
  return marks.filter((mark) => !mark.undoes && active(mark.rewindId));
}
