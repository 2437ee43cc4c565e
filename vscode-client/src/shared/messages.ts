/** What the extension and the panel say to each other. The panel speaks the wire almost as it is. */
import type { Attachment, ChangesListResult, EventParams, ProposedHunk, Requests, SessionInfo } from "../wire";

/** The requests that the panel may send to the server; the extension passes on no others. */
export const PANEL_METHODS = [
  "pai/session/prompt",
  "pai/session/cancel",
  "pai/session/rewind",
  "pai/session/undoRewind",
  "pai/session/fork",
  "pai/session/rename",
  "pai/session/list",
  "pai/session/setMode",
  "pai/session/setModel",
  "pai/queue/update",
  "pai/approval/answer",
  "pai/question/answer",
  "pai/changes/list",
  "pai/changes/resolve",
  "pai/snapshots/list",
  "pai/models/list",
  "pai/mention/search",
  "pai/status",
] as const satisfies readonly (keyof Requests)[];

export type PanelMethod = (typeof PANEL_METHODS)[number];

/** Where the server stands. `message` says, when it is stopped, why and what to do. */
export type ServerState = "starting" | "ready" | "stopped";

export type ToPanel =
  | { kind: "server"; state: ServerState; message: string }
  /** `reset`: what the panel knows of this session is void, and these begin at its first event. */
  | { kind: "events"; sessionId: string; reset: boolean; events: EventParams[] }
  | { kind: "opened"; info: SessionInfo }
  | { kind: "changes"; sessionId: string; changes: ChangesListResult }
  | { kind: "answer"; id: number; result?: unknown; error?: string }
  | { kind: "insert"; text: string; attachments: Attachment[] }
  | { kind: "focus" };

/** What only the extension can do for the panel. */
export type Action =
  | { action: "openFile"; args: { path: string; line?: number } }
  | { action: "openDiff"; args: { path: string; turnId: string } }
  /** Allow a call with the person's own lines: `hunks` are all that are taken, with what is to be written as `new`. */
  | { action: "allowEdited"; args: { sessionId: string; approvalId: string; choice: "allowOnce" | "allowSession"; hunks: ProposedHunk[] } }
  | { action: "openLink"; args: { url: string } }
  | { action: "copy"; args: { text: string } }
  | { action: "insertCode"; args: { text: string } }
  | { action: "newSession"; args: Record<string, never> }
  | { action: "openSession"; args: { sessionId?: string } }
  | { action: "openLog"; args: Record<string, never> }
  | { action: "restartServer"; args: Record<string, never> }
  | { action: "openSettings"; args: { query?: string } }
  | { action: "setApiKey"; args: Record<string, never> };

export type FromPanel =
  /** After load: what its kept state holds of the session that it showed last. */
  | { kind: "ready"; sessionId?: string; afterSeq?: number }
  | { kind: "ask"; id: number; method: PanelMethod; params: unknown }
  | ({ kind: "do" } & Action);
