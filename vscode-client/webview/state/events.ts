/** Folds the events of a session into what is shown of it. Pure; replayed and live events give the same. */

import type { Event, EventParams, HunksResolved, Rewound } from "../../src/wire";
import { takeCallEvent } from "./calls";
import { baseName, plural } from "../text/format";
import type { Entry, NoticeEntry, Session, Turn } from "./model";
import { newTurn } from "./model";

/** Never numbered: they carry the seq of the durable event before them. */
const TRANSIENT: ReadonlySet<Event["kind"]> = new Set<Event["kind"]>([
  "textDelta",
  "reasoningDelta",
  "replyDiscarded",
  "toolOutputDelta",
]);

/**
 * The session after this event. A repeat changes nothing. An event from behind a gap is not taken
 * either, it only says that there is one: whoever fills it sends that event again.
 */
export function takeEvent(session: Session, { seq, event }: EventParams): Session {
  const transient = TRANSIENT.has(event.kind);
  const next = transient ? session.lastSeq : session.lastSeq + 1;
  if (seq < next) return session;
  if (seq > next) return session.gap ? session : { ...session, gap: true };
  const taken = apply(session, event, seq);
  return transient ? taken : { ...taken, lastSeq: seq, gap: false };
}

function apply(session: Session, event: Event, seq: number): Session {
  switch (event.kind) {
    case "sessionCreated":
      return { ...session, workspace: event.workspace, mode: event.mode, model: event.model };
    case "sessionReopened":
      return event.repaired.length
        ? note(session, seq, "warning", event.repaired.join("\n"))
        : session;
    case "modeChanged":
      return { ...session, mode: event.mode };
    case "modelChanged":
      return { ...session, model: event.model };
    case "notice":
      return note(session, seq, event.level, event.text);
    case "promptAccepted": {
      const { turnId, text, position } = event;
      return { ...session, queue: [...session.queue, { turnId, text, position }] };
    }
    case "promptEdited": {
      const { turnId, text } = event;
      const queue = session.queue.map((one) => (one.turnId === turnId ? { ...one, text } : one));
      return { ...session, queue };
    }
    case "promptJoined": {
      const key = `${event.joinedId}:prompt`;
      const text = session.queue.find((one) => one.turnId === event.joinedId)?.text ?? "";
      return inTurn(unqueued(session, event.joinedId), event.turnId, (turn) =>
        add(turn, { kind: "joined", key, text }),
      );
    }
    case "sessionRenamed":
      return { ...session, title: event.title };
    case "hunksResolved":
      return event.decision === "accepted" ? session : note(session, seq, "info", told(event));
    case "rewindStarted":
    case "snapshotTaken":
      return session;
    case "rewound":
      return rewound(session, event);
    case "turnStarted": {
      const prompt = session.queue.find((queued) => queued.turnId === event.turnId);
      const turn = newTurn(event.turnId, prompt?.text ?? event.title);
      return {
        ...unqueued(session, event.turnId),
        turns: [...session.turns, { ...turn, mode: event.mode, model: event.model }],
        running: event.turnId,
        runState: "running",
      };
    }
    case "turnEnded":
      return turnEnded(session, event);
    case "runStateChanged":
      return event.turnId === session.running ? { ...session, runState: event.state } : session;
    case "usageReported": {
      const { inputTokens, outputTokens } = event.usage;
      return {
        ...session,
        usage: sum(session.usage, event.usage),
        context: inputTokens + outputTokens,
      };
    }
    default:
      return inTurn(session, event.turnId, (turn) => takeTurnEvent(turn, event, seq));
  }
}

type TurnEvent = Extract<Event, { turnId: string }>;

function takeTurnEvent(turn: Turn, event: TurnEvent, seq: number): Turn {
  switch (event.kind) {
    case "userMessageAdded": {
      const { text, origin } = event.message;
      if (origin === "pails") return add(turn, notice(seq, "info", text));
      if (turn.entries.at(-1)?.kind === "joined") return turn;
      return { ...turn, sent: text.trim() === turn.prompt.trim() ? "" : text };
    }
    case "roundStarted":
      return { ...turn, round: turn.round + 1, live: null };
    case "reasoningDelta":
      return streamed(turn, event.text, "");
    case "textDelta":
      return streamed(turn, "", event.text);
    case "replyDiscarded":
      return { ...turn, live: null, retrying: event.reason || "The reply broke off." };
    case "assistantMessageAdded":
      return { ...turn, live: null, retrying: "", entries: [...turn.entries, ...said(turn, event)] };
    case "planUpdated":
      return { ...turn, plan: event.steps };
    case "questionAsked": {
      const key = `${turn.id}:${event.questionId}`;
      return add(turn, { kind: "question", key, asked: event, answered: false, answer: null });
    }
    case "questionAnswered":
      return {
        ...turn,
        entries: turn.entries.map((entry) =>
          entry.kind === "question" && entry.asked.questionId === event.questionId
            ? { ...entry, answered: true, answer: event.answer }
            : entry,
        ),
      };
    default:
      return takeCallEvent(turn, event);
  }
}

function streamed(turn: Turn, reasoning: string, text: string): Turn {
  const live = turn.live ?? { reasoning: "", text: "" };
  return {
    ...turn,
    retrying: "",
    live: { reasoning: live.reasoning + reasoning, text: live.text + text },
  };
}

/** The entries of a reply. Keys are by round, so that the streamed row becomes the final one. */
function said(turn: Turn, event: Extract<Event, { kind: "assistantMessageAdded" }>): Entry[] {
  const { reasoning, text, toolCalls } = event.message;
  const entries: Entry[] = [];
  if (reasoning.trim()) entries.push({ kind: "reasoning", key: liveKey(turn, "reasoning"), text: reasoning });
  if (text.trim()) entries.push({ kind: "text", key: liveKey(turn, "text"), text });
  for (const call of toolCalls) {
    entries.push({
      kind: "call",
      key: `${turn.id}:${turn.round}:${call.id}`,
      callId: call.id,
      tool: call.name,
      title: "",
      effect: null,
      arguments: call.arguments,
      state: "waiting",
      approval: null,
      resolved: null,
      output: "",
      result: "",
      summary: "",
      seconds: 0,
      changes: [],
      problems: [],
    });
  }
  return entries;
}

export function liveKey(turn: Turn, part: "reasoning" | "text"): string {
  return `${turn.id}:${turn.round}:${part}`;
}

function turnEnded(session: Session, event: Extract<Event, { kind: "turnEnded" }>): Session {
  const { state, reason, rounds, usage, seconds, files, error } = event;
  const queued = session.queue.find((one) => one.turnId === event.turnId);
  const begun = session.turns.some((turn) => turn.id === event.turnId);
  // A prompt that was taken off the queue leaves no trace; one that failed must be seen.
  const turns =
    begun || reason === "cancelled"
      ? session.turns
      : [...session.turns, newTurn(event.turnId, queued?.text ?? "")];
  const running = session.running === event.turnId ? null : session.running;
  const runState = running === null ? null : session.runState;
  const ended = { state, reason, rounds, usage, seconds, files, error };
  return inTurn(
    { ...unqueued(session, event.turnId), turns, running, runState },
    event.turnId,
    (turn) => ({ ...turn, live: null, retrying: "", end: ended }),
  );
}

function rewound(session: Session, event: Rewound): Session {
  const from = session.turns.findIndex((turn) => turn.id === event.toTurnId);
  const turns = from < 0 ? [] : session.turns.slice(from).map((turn) => turn.id);
  const { rewindId, talk, undoes } = event;
  return { ...session, rewinds: [...session.rewinds, { rewindId, turns, talk, undoes }] };
}

function told(event: HunksResolved): string {
  const count = plural(event.hunkIds.length, "change");
  const did = event.decision === "rejected" ? "Taken back" : "Replaced";
  const why = event.feedback ? `: ${event.feedback}` : "";
  return `${did}: ${count} in ${baseName(event.path)}${why}`;
}

function notice(seq: number, level: NoticeEntry["level"], text: string): NoticeEntry {
  return { kind: "notice", key: `notice:${seq}`, level, text };
}

function note(session: Session, seq: number, level: NoticeEntry["level"], text: string): Session {
  const entry = notice(seq, level, text);
  const last = session.turns.at(-1);
  if (!last) return { ...session, preface: [...session.preface, entry] };
  return inTurn(session, last.id, (turn) => add(turn, entry));
}

function add(turn: Turn, entry: Entry): Turn {
  return { ...turn, entries: [...turn.entries, entry] };
}

function unqueued(session: Session, turnId: string): Session {
  return { ...session, queue: session.queue.filter((queued) => queued.turnId !== turnId) };
}

/** The turn is nearly always the last one, and a session may have a thousand. */
function inTurn(session: Session, turnId: string, change: (turn: Turn) => Turn): Session {
  const at = session.turns.findLastIndex((turn) => turn.id === turnId);
  const turn = session.turns[at];
  if (!turn) return session;
  const changed = change(turn);
  if (changed === turn) return session;
  const turns = session.turns.slice();
  turns[at] = changed;
  return { ...session, turns };
}

function sum(a: Session["usage"], b: Session["usage"]): Session["usage"] {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  };
}
