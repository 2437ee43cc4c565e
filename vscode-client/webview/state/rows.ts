/** The session as a flat list of rows for the virtualised list. Rows of an unchanged turn are the same objects. */

import { liveKey } from "./events";
import type { CallEntry, NoticeEntry, QuestionEntry, Queued, Session, Turn, TurnEnd } from "./model";
import { goneTurns } from "./rewinds";

export type Row =
  | {
      readonly kind: "prompt";
      readonly key: string;
      readonly turnId: string;
      readonly text: string;
      readonly sent: string;
      /** The turn before it in the conversation. */
      readonly previous: string | null;
      readonly over: boolean;
    }
  | { readonly kind: "joined"; readonly key: string; readonly text: string }
  | { readonly kind: "starting"; readonly key: string; readonly text: string }
  | { readonly kind: "reasoning"; readonly key: string; readonly text: string; readonly live: boolean }
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly live: boolean }
  | { readonly kind: "call"; readonly key: string; readonly call: CallEntry; readonly over: boolean }
  | { readonly kind: "question"; readonly key: string; readonly question: QuestionEntry; readonly over: boolean }
  | { readonly kind: "notice"; readonly key: string; readonly notice: NoticeEntry }
  | { readonly kind: "retrying"; readonly key: string; readonly reason: string }
  | { readonly kind: "working"; readonly key: string }
  | { readonly kind: "end"; readonly key: string; readonly turnId: string; readonly end: TurnEnd }
  | { readonly kind: "gone"; readonly key: string; readonly rewindId: string; readonly prompts: readonly string[] };

interface Known {
  readonly turn: Turn;
  readonly previous: string | null;
  readonly rows: readonly Row[];
}

/** A function from a session to its rows, which gives the same object again for a row that says the same. */
export function rowMemory(): (session: Session) => readonly Row[] {
  const known = new Map<string, Known>();
  const turnRows = (turn: Turn, previous: string | null): readonly Row[] => {
    const before = known.get(turn.id);
    if (before?.turn === turn && before.previous === previous) return before.rows;
    const rows = reused(before?.rows ?? [], freshRows(turn, previous));
    known.set(turn.id, { turn, previous, rows });
    return rows;
  };
  return (session) => allRows(session, turnRows);
}

function allRows(session: Session, turnRows: (turn: Turn, previous: string | null) => readonly Row[]): Row[] {
  const rows: Row[] = session.preface.map((notice) => ({ kind: "notice", key: notice.key, notice }));
  const gone = goneTurns(session);
  let previous: string | null = null;
  for (const turn of session.turns) {
    const rewindId = gone.get(turn.id);
    if (rewindId !== undefined) {
      takeGone(rows, rewindId, turn);
      continue;
    }
    for (const row of turnRows(turn, previous)) rows.push(row);
    previous = turn.id;
  }
  const starting = startingPrompt(session);
  if (starting) rows.push({ kind: "starting", key: `${starting.turnId}:prompt`, text: starting.text });
  return rows;
}

/** The prompt that has been accepted and starts next, where nothing runs. */
export function startingPrompt(session: Session): Queued | undefined {
  return session.running === null ? session.queue[0] : undefined;
}

/** The prompts that wait behind the running one. */
export function waitingPrompts(session: Session): readonly Queued[] {
  return session.running === null ? session.queue.slice(1) : session.queue;
}

/** Neighbouring turns that one rewind took back make one row. */
function takeGone(rows: Row[], rewindId: string, turn: Turn): void {
  const last = rows.at(-1);
  if (last?.kind === "gone" && last.rewindId === rewindId) {
    rows[rows.length - 1] = { ...last, prompts: [...last.prompts, turn.prompt] };
  } else {
    rows.push({ kind: "gone", key: `gone:${rewindId}:${turn.id}`, rewindId, prompts: [turn.prompt] });
  }
}

function reused(before: readonly Row[], fresh: readonly Row[]): readonly Row[] {
  const byKey = new Map(before.map((row) => [row.key, row]));
  return fresh.map((row) => {
    const old = byKey.get(row.key);
    return old && saysTheSame(old, row) ? old : row;
  });
}

function saysTheSame(one: Row, other: Row): boolean {
  const before = one as unknown as Record<string, unknown>;
  return Object.entries(other).every(([name, value]) => before[name] === value);
}

function freshRows(turn: Turn, previous: string | null): Row[] {
  const over = turn.end !== null;
  const { id: turnId, prompt: text, sent } = turn;
  const rows: Row[] = [{ kind: "prompt", key: `${turnId}:prompt`, turnId, text, sent, previous, over }];
  for (const entry of turn.entries) {
    const { key } = entry;
    if (entry.kind === "call") rows.push({ kind: "call", key, call: entry, over });
    else if (entry.kind === "question") rows.push({ kind: "question", key, question: entry, over });
    else if (entry.kind === "notice") rows.push({ kind: "notice", key, notice: entry });
    else if (entry.kind === "joined") rows.push({ kind: "joined", key, text: entry.text });
    else rows.push({ kind: entry.kind, key, text: entry.text, live: false });
  }
  if (turn.live?.reasoning) {
    // Its text has begun: the reasoning is over, and folds.
    const live = turn.live.text === "";
    rows.push({ kind: "reasoning", key: liveKey(turn, "reasoning"), text: turn.live.reasoning, live });
  }
  if (turn.live?.text) {
    rows.push({ kind: "text", key: liveKey(turn, "text"), text: turn.live.text, live: true });
  }
  if (turn.retrying) rows.push({ kind: "retrying", key: `${turn.id}:retry`, reason: turn.retrying });
  if (turn.end) rows.push({ kind: "end", key: `${turn.id}:end`, turnId, end: turn.end });
  else if (isSilent(turn)) rows.push({ kind: "working", key: `${turn.id}:working` });
  return rows;
}

/** Whether nothing on the screen shows that the turn is at work. */
function isSilent(turn: Turn): boolean {
  if (turn.live || turn.retrying) return false;
  return !turn.entries.some(
    (entry) =>
      (entry.kind === "call" && (entry.state === "running" || entry.state === "asking")) ||
      (entry.kind === "question" && !entry.answered),
  );
}
