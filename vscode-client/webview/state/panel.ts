/** The one reducer of the panel: messages of the extension and the panel's own actions. Pure. */

import type { ToPanel } from "../../src/shared/messages";
import type { Attachment, RewindResult, SessionInfo, SessionSummary } from "../../src/wire";
import { takeEvent } from "./events";
import type { Draft, Panel, Session } from "./model";
import { newSession } from "./model";

/** What happens in the panel itself. */
export type Action =
  | { readonly kind: "typed"; readonly text: string }
  | { readonly kind: "compose"; readonly text: string }
  | { readonly kind: "editPrompt"; readonly turnId: string; readonly fromTurnId: string | null; readonly text: string }
  | { readonly kind: "stopEditing" }
  | { readonly kind: "attach"; readonly attachment: Attachment }
  | { readonly kind: "detach"; readonly at: number }
  | { readonly kind: "sent" }
  | { readonly kind: "arrived" }
  | { readonly kind: "refused"; readonly error: string }
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "dismissed" }
  | { readonly kind: "rewindAsked"; readonly turnId: string; readonly prompt: string }
  | { readonly kind: "rewindPreviewed"; readonly turnId: string; readonly result: RewindResult }
  | { readonly kind: "rewindClosed" }
  | { readonly kind: "listed"; readonly sessions: readonly SessionSummary[] }
  | { readonly kind: "listClosed" };

export function reduce(panel: Panel, message: ToPanel | Action): Panel {
  switch (message.kind) {
    case "server":
      return { ...panel, server: { state: message.state, message: message.message } };
    case "opened":
      return opened(panel, message.info);
    case "events":
      return events(panel, message);
    case "changes":
      return { ...panel, changes: { ...panel.changes, [message.sessionId]: message.changes } };
    case "insert":
      return inserted(panel, message.text, message.attachments);
    case "focus":
      return { ...panel, focusWanted: panel.focusWanted + 1 };
    case "answer":
      return panel;
    default:
      return act(panel, message);
  }
}

export function shownSession(panel: Panel): Session | null {
  return panel.shown === null ? null : (panel.sessions[panel.shown] ?? null);
}

type EventsMessage = Extract<ToPanel, { kind: "events" }>;

function events(panel: Panel, { sessionId, reset, events }: EventsMessage): Panel {
  const known = reset ? undefined : panel.sessions[sessionId];
  const session = events.reduce(takeEvent, known ?? newSession(sessionId));
  if (session === panel.sessions[sessionId]) return panel;
  const shown = panel.shown ?? sessionId;
  return { ...panel, shown, sessions: { ...panel.sessions, [sessionId]: session } };
}

function opened(panel: Panel, info: SessionInfo): Panel {
  const { sessionId, mode, model, workspace } = info;
  const known = panel.sessions[sessionId];
  // The events of a session that is new to the panel are still to come: until then, what is told.
  const session = known ?? { ...newSession(sessionId), mode, model, workspace };
  const other = panel.shown !== sessionId;
  return {
    ...panel,
    info,
    shown: sessionId,
    sessions: { ...panel.sessions, [sessionId]: session },
    rewind: other ? null : panel.rewind,
    list: null,
    failure: other ? "" : panel.failure,
    draft: other ? { ...panel.draft, editing: null } : panel.draft,
  };
}

function act(panel: Panel, action: Action): Panel {
  const { draft } = panel;
  switch (action.kind) {
    case "typed":
      return { ...panel, draft: { ...draft, text: action.text } };
    case "compose":
      return composed(panel, { text: joined(action.text, draft.text) });
    case "editPrompt": {
      const { turnId, fromTurnId, text } = action;
      const before = draft.editing?.before ?? draft.text;
      return composed(panel, { text, editing: { turnId, fromTurnId, before } });
    }
    case "stopEditing":
      return composed(panel, { text: draft.editing?.before ?? "", editing: null });
    case "attach":
      return { ...panel, draft: { ...draft, attachments: withNew(draft.attachments, [action.attachment]) } };
    case "detach":
      return {
        ...panel,
        draft: { ...draft, attachments: draft.attachments.filter((_, at) => at !== action.at) },
      };
    case "sent": {
      const sending = { text: draft.text, attachments: draft.attachments };
      const cleared = composed(panel, {
        text: draft.editing?.before ?? "",
        attachments: [],
        editing: null,
      });
      return { ...cleared, sending, failure: "" };
    }
    case "arrived":
      return { ...panel, sending: null };
    case "refused":
      return refused(panel, action.error);
    case "failed":
      return { ...panel, failure: action.error };
    case "dismissed":
      return { ...panel, failure: "" };
    case "rewindAsked":
      return { ...panel, rewind: { turnId: action.turnId, prompt: action.prompt, result: null } };
    case "rewindPreviewed":
      return panel.rewind?.turnId === action.turnId
        ? { ...panel, rewind: { ...panel.rewind, result: action.result } }
        : panel;
    case "rewindClosed":
      return { ...panel, rewind: null };
    case "listed":
      return { ...panel, list: action.sessions };
    case "listClosed":
      return { ...panel, list: null };
  }
}

/** The prompt was not taken: it goes back to where it was written, before what was typed since. */
function refused(panel: Panel, error: string): Panel {
  const { sending, draft } = panel;
  if (!sending) return { ...panel, failure: error };
  const text = joined(sending.text, draft.text);
  const attachments = [...sending.attachments, ...draft.attachments];
  return { ...composed(panel, { text, attachments }), sending: null, failure: error };
}

function inserted(panel: Panel, text: string, attachments: readonly Attachment[]): Panel {
  const { draft } = panel;
  const glue = draft.text && !/\s$/.test(draft.text) && text ? "\n" : "";
  return composed(panel, {
    text: draft.text + glue + text,
    attachments: withNew(draft.attachments, attachments),
  });
}

function joined(first: string, second: string): string {
  return [first, second].filter((part) => part.trim()).join("\n");
}

function withNew(known: readonly Attachment[], more: readonly Attachment[]): readonly Attachment[] {
  return [...known, ...more.filter((one) => !known.some(same(one)))];
}

function same(one: Attachment): (other: Attachment) => boolean {
  const key = JSON.stringify(one);
  return (other) => JSON.stringify(other) === key;
}

/** Set what stands in the composer; it takes the focus. */
function composed(panel: Panel, change: Partial<Draft>): Panel {
  const draft = { ...panel.draft, ...change, version: panel.draft.version + 1 };
  return { ...panel, draft, focusWanted: panel.focusWanted + 1 };
}
