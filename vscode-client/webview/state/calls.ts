/** Folds what happens to one tool call into its row. Pure. */

import type { Event } from "../../src/wire";
import type { CallEntry, Turn } from "./model";

/** As much of a running call's output as is kept, in UTF-16 units: the end is what one looks at. */
const MOST_OUTPUT = 64 * 1024;

export function takeCallEvent(turn: Turn, event: Event): Turn {
  switch (event.kind) {
    case "toolCallPrepared":
      return inCall(turn, event.callId, (call) => ({
        ...call,
        tool: event.tool,
        title: event.title,
        effect: event.effect,
      }));
    case "approvalRequested":
      return inCall(turn, event.callId, (call) => ({
        ...call,
        title: call.title || event.title,
        state: "asking",
        approval: event,
        resolved: null,
      }));
    case "approvalResolved":
      return where(turn, (call) => call.approval?.approvalId === event.approvalId, (call) => ({
        ...call,
        state: call.state === "asking" ? "waiting" : call.state,
        resolved: event,
      }));
    case "toolCallStarted":
      return inCall(turn, event.callId, (call) => ({ ...call, state: "running", effect: event.effect }));
    case "toolOutputDelta":
      return inCall(turn, event.callId, (call) => ({
        ...call,
        output: (call.output + event.text).slice(-MOST_OUTPUT),
      }));
    case "fileChanged":
      return inCall(turn, event.callId, (call) => ({ ...call, changes: [...call.changes, event] }));
    case "syntaxChecked":
      return inCall(turn, event.callId, (call) => ({
        ...call,
        problems: [
          ...call.problems.filter((known) => known.path !== event.path),
          ...event.problems.map((problem) => ({ path: event.path, problem })),
        ],
      }));
    case "toolCallEnded":
      return inCall(turn, event.callId, (call) => ({
        ...call,
        state: event.isError ? "failed" : "done",
        output: "",
        result: event.text,
        summary: event.summary,
        seconds: event.seconds,
      }));
    default:
      return turn;
  }
}

/** Models use the same id again in later replies: the newest call is meant. */
function inCall(turn: Turn, callId: string, change: (call: CallEntry) => CallEntry): Turn {
  return where(turn, (call) => call.callId === callId, change);
}

function where(
  turn: Turn,
  meant: (call: CallEntry) => boolean,
  change: (call: CallEntry) => CallEntry,
): Turn {
  const at = turn.entries.findLastIndex((entry) => entry.kind === "call" && meant(entry));
  const call = turn.entries[at];
  if (call?.kind !== "call") return turn;
  const entries = turn.entries.slice();
  entries[at] = change(call);
  return { ...turn, entries };
}
