/** What the panel shows, as plain values. Folded from events and the panel's own actions by `panel.ts`. */

import type {
  ApprovalRequested,
  ApprovalResolved,
  Attachment,
  ChangesListResult,
  Effect,
  FileChanged,
  Mode,
  PlanStep,
  Problem,
  QuestionAsked,
  RewindResult,
  RunState,
  SessionInfo,
  SessionSummary,
  StopReason,
  Usage,
} from "../../src/wire";

export type ServerState = "starting" | "ready" | "stopped";

/** The whole panel. `sessions` holds those that it was told of; one of them is shown. */
export interface Panel {
  readonly server: { readonly state: ServerState; readonly message: string };
  readonly info: SessionInfo | null;
  readonly sessions: Readonly<Record<string, Session>>;
  readonly shown: string | null;
  readonly changes: Readonly<Record<string, ChangesListResult>>;
  readonly draft: Draft;
  /** A prompt on its way: the server has not said yet that it has it. */
  readonly sending: { readonly text: string; readonly attachments: readonly Attachment[] } | null;
  readonly failure: string;
  readonly rewind: RewindPreview | null;
  /** The sessions to choose from; null while the list is closed. */
  readonly list: readonly SessionSummary[] | null;
  /** Grows when something outside the composer wants it to have the focus. */
  readonly focusWanted: number;
}

/** What stands in the composer. `version` grows when it was set by anything but typing. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly version: number;
  readonly editing: Editing | null;
}

/** The prompt that is being edited: sending goes on from the turn before it. */
export interface Editing {
  readonly turnId: string;
  readonly fromTurnId: string | null;
  /** What stood in the composer; it comes back afterwards. */
  readonly before: string;
}

export interface RewindPreview {
  readonly turnId: string;
  readonly prompt: string;
  /** Null until the server has said what would happen. */
  readonly result: RewindResult | null;
}

/** `lastSeq` is the last durable event taken; `gap`: later ones came, those between are missing. */
export interface Session {
  readonly id: string;
  readonly lastSeq: number;
  readonly gap: boolean;
  readonly workspace: string;
  /** What a person has called it; else empty. */
  readonly title: string;
  readonly mode: Mode;
  readonly model: string;
  /** What was said before the first turn. */
  readonly preface: readonly NoticeEntry[];
  readonly turns: readonly Turn[];
  readonly queue: readonly Queued[];
  readonly running: string | null;
  readonly runState: RunState | null;
  readonly rewinds: readonly RewindMark[];
  readonly usage: Usage;
  /** Tokens of the newest request and its reply: what the conversation weighs now. */
  readonly context: number;
}

export interface Queued {
  readonly turnId: string;
  readonly text: string;
  readonly position: number;
}

export interface RewindMark {
  readonly rewindId: string;
  readonly turns: readonly string[];
  readonly talk: boolean;
  readonly undoes: string;
}

export interface Turn {
  readonly id: string;
  readonly prompt: string;
  /** What the model was sent for the prompt, where that is more than the prompt. */
  readonly sent: string;
  readonly mode: Mode | null;
  readonly model: string;
  readonly round: number;
  readonly entries: readonly Entry[];
  readonly plan: readonly PlanStep[];
  /** What is being streamed. Void when it is discarded, replaced when the message is there. */
  readonly live: Live | null;
  /** Why the last stream broke, while the next one has not begun. */
  readonly retrying: string;
  readonly end: TurnEnd | null;
}

export interface Live {
  readonly reasoning: string;
  readonly text: string;
}

export interface TurnEnd {
  readonly state: RunState;
  readonly reason: StopReason;
  readonly rounds: number;
  readonly usage: Usage;
  readonly seconds: number;
  readonly files: readonly string[];
  readonly error: string;
}

export type Entry = ReasoningEntry | TextEntry | JoinedEntry | CallEntry | QuestionEntry | NoticeEntry;

/** A prompt that had waited and was taken into the running turn. */
export interface JoinedEntry {
  readonly kind: "joined";
  readonly key: string;
  readonly text: string;
}

export interface ReasoningEntry {
  readonly kind: "reasoning";
  readonly key: string;
  readonly text: string;
}

export interface TextEntry {
  readonly kind: "text";
  readonly key: string;
  readonly text: string;
}

export interface NoticeEntry {
  readonly kind: "notice";
  readonly key: string;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export interface QuestionEntry {
  readonly kind: "question";
  readonly key: string;
  readonly asked: QuestionAsked;
  readonly answered: boolean;
  readonly answer: string | null;
}

export type CallState = "waiting" | "asking" | "running" | "done" | "failed";

/** One tool call. `output` streams while it runs; `result` is authoritative and replaces it. */
export interface CallEntry {
  readonly kind: "call";
  readonly key: string;
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly effect: Effect | null;
  readonly arguments: string;
  readonly state: CallState;
  readonly approval: ApprovalRequested | null;
  readonly resolved: ApprovalResolved | null;
  readonly output: string;
  readonly result: string;
  readonly summary: string;
  readonly seconds: number;
  readonly changes: readonly FileChanged[];
  readonly problems: readonly { readonly path: string; readonly problem: Problem }[];
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const EMPTY_PANEL: Panel = {
  server: { state: "starting", message: "" },
  info: null,
  sessions: {},
  shown: null,
  changes: {},
  draft: { text: "", attachments: [], version: 0, editing: null },
  sending: null,
  failure: "",
  rewind: null,
  list: null,
  focusWanted: 0,
};

export function newSession(id: string): Session {
  return {
    id,
    lastSeq: 0,
    gap: false,
    workspace: "",
    title: "",
    mode: "auto",
    model: "",
    preface: [],
    turns: [],
    queue: [],
    running: null,
    runState: null,
    rewinds: [],
    usage: NO_USAGE,
    context: 0,
  };
}

export function newTurn(id: string, prompt: string): Turn {
  return {
    id,
    prompt,
    sent: "",
    mode: null,
    model: "",
    round: 0,
    entries: [],
    plan: [],
    live: null,
    retrying: "",
    end: null,
  };
}
