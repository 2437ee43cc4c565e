import { describe, expect, test } from "vitest";
import type { EventParams } from "../../src/wire";
import { Recording } from "../../webview/preview/recorded";
import { longSession } from "../../webview/preview/scenes";
import { takeEvent } from "../../webview/state/events";
import type { CallEntry, Session } from "../../webview/state/model";
import { newSession } from "../../webview/state/model";
import { rowMemory } from "../../webview/state/rows";

function fold(events: readonly EventParams[], from: Session = newSession("s1")): Session {
  return events.reduce(takeEvent, from);
}

function call(session: Session, callId: string): CallEntry {
  const found = session.turns.flatMap((turn) => turn.entries).find((entry) => entry.kind === "call" && entry.callId === callId);
  if (found?.kind !== "call") throw new Error(`no call ${callId}`);
  return found;
}

/** Every kind of event, in an order that a server may send. */
function everything(): Recording {
  const recording = new Recording().created("ask");
  recording.add({ kind: "sessionReopened", repaired: ["A record was cut off; it was left out."] });
  recording.add({ kind: "notice", level: "info", text: "A newer version is there." });
  recording.add({ kind: "sessionRenamed", title: "Prices" });
  recording.add({ kind: "modeChanged", mode: "plan" }, { kind: "modelChanged", model: "gpt-oss" });
  const first = recording.accepted("Fix it");
  recording.begin(first, "Fix it");
  recording.add({ kind: "snapshotTaken", turnId: first, moment: "before", snapshotId: "x", callId: "" });
  recording.think("Let me ").think("see").text("Half a re");
  recording.add({ kind: "replyDiscarded", turnId: first, reason: "The stream broke." });
  recording.text("I ").text("edit.");
  const [edit = "", ask = ""] = recording.say("I edit.", [{ name: "edit_file", args: { path: "a.py" } }, { name: "ask_user", args: {} }], "Let me see");
  const second = recording.accepted("Then this", 1);
  const third = recording.accepted("Or that", 2);
  recording.add({ kind: "promptEdited", turnId: second, text: "Then this, please" });
  recording.prepared(edit, "edit_file", "Edit a.py", "write");
  recording.asks(edit, { tool: "edit_file", title: "Edit a.py", text: "Edit a.py", rule: "edit a.py", reason: "mode" });
  recording.add({ kind: "runStateChanged", turnId: first, state: "waiting" });
  recording.add({ kind: "approvalResolved", turnId: first, approvalId: `ap-${edit}`, choice: "allowOnce", feedback: "", hunkIds: null, typed: [] });
  recording.add({ kind: "runStateChanged", turnId: first, state: "running" });
  recording.started(edit, "write");
  recording.add({ kind: "toolOutputDelta", turnId: first, callId: edit, text: "writing" });
  recording.changed(edit, "a.py", "@@ -1 +1 @@\n-a\n+b\n", 1, 1);
  const place = { line: 1, column: 1 };
  recording.add({ kind: "syntaxChecked", turnId: first, callId: edit, path: "/a.py", language: "python", existing: 0,
    problems: [{ start: place, end: place, message: "unexpected indent", sourceLine: " b" }] });
  recording.ended(edit, "Edited.", { seconds: 1 });
  recording.started(ask, "interact");
  recording.add({ kind: "questionAsked", turnId: first, questionId: "q", text: "Which?", options: ["a", "b"] });
  recording.add({ kind: "questionAnswered", turnId: first, questionId: "q", answer: "b" });
  recording.add({ kind: "planUpdated", turnId: first, steps: [{ text: "one", status: "done" }] });
  recording.ended(ask, "b", { isError: false });
  recording.add({ kind: "promptJoined", turnId: first, joinedId: second });
  recording.add({ kind: "userMessageAdded", turnId: first, message: { role: "user", origin: "person", text: "Then this, please\n<file>" }, seen: [] });
  recording.round(2).text("Do").say("Done.");
  recording.add({ kind: "userMessageAdded", turnId: first, message: { role: "user", origin: "pails", text: "Wrap up." }, seen: [] });
  recording.add({ kind: "roundStarted", turnId: first, number: 3, wrapUp: true }).text("All").say("All done.");
  recording.end({ files: ["a.py"] });
  recording.turnId = third;
  recording.end({ reason: "cancelled", seconds: 0 });
  recording.add({ kind: "hunksResolved", turnId: first, path: "/a.py", hunkIds: ["h"], decision: "rejected", feedback: "no", beforeId: null, afterId: null, movedTo: "" });
  recording.prompt("Again").say("Sure.");
  recording.end();
  recording.add({ kind: "rewindStarted", rewindId: "r1", toTurnId: recording.turnId, snapshotId: "x", afterId: "y" });
  recording.add({ kind: "rewound", rewindId: "r1", toTurnId: recording.turnId, talk: true, files: [], conflicts: [], snapshotId: "", afterId: "", undoes: "" });
  return recording;
}

describe("a session", () => {
  const { events } = everything();
  const whole = fold(events);
  const [first] = whole.turns;

  test("holds what its events say", () => {
    expect(whole).toMatchObject({ title: "Prices", mode: "plan", model: "gpt-oss", running: null, runState: null, queue: [], gap: false });
    expect(whole.preface.map((entry) => entry.text)).toEqual(["A record was cut off; it was left out.", "A newer version is there."]);
    expect(whole.turns.map((turn) => turn.prompt)).toEqual(["Fix it", "Again"]);
    expect(first?.entries.map((entry) => entry.kind)).toEqual(
      ["reasoning", "text", "call", "call", "question", "joined", "text", "notice", "text", "notice"]);
    expect(first?.plan).toEqual([{ text: "one", status: "done" }]);
    expect(first?.sent).toBe("");
    expect(first?.entries).toContainEqual(expect.objectContaining({ kind: "joined", text: "Then this, please" }));
    expect(whole.usage.inputTokens).toBe(4 * 18_400);
    expect(whole.turns[1]?.end?.reason).toBe("done");
  });

  test("knows all of a call", () => {
    expect(call(whole, "c1")).toMatchObject({ state: "done", title: "Edit a.py", output: "", result: "Edited.", seconds: 1 });
    expect(call(whole, "c1").resolved?.choice).toBe("allowOnce");
    expect(call(whole, "c1").problems).toHaveLength(1);
    expect(call(whole, "c1").changes[0]?.added).toBe(1);
  });

  test("is the same from a replay, which has no transient events", () => {
    const transient = new Set(["textDelta", "reasoningDelta", "replyDiscarded", "toolOutputDelta"]);
    const durable = events.filter((one) => !transient.has(one.event.kind));
    expect(durable.length).toBeLessThan(events.length);
    expect(fold(durable)).toEqual(whole);
  });

  test("is the same when what is there comes again, at any place", () => {
    for (let at = 0; at <= events.length; at++) {
      const again = fold(events.slice(at), fold(events.slice(0, at), fold(events.slice(0, at))));
      expect(again).toEqual(whole);
    }
  });

  test("is the same when the client comes back with its last seq, at any place", () => {
    for (let at = 0; at <= events.length; at++) {
      const seen = fold(events.slice(0, at));
      expect(fold(events.filter((one) => one.seq > seen.lastSeq), seen)).toEqual(whole);
    }
  });

  test("says that something is missing, takes nothing from behind it, and is whole once it is filled", () => {
    for (let at = 1; at < events.length; at++) {
      const dropped = events[at];
      if (!dropped || dropped.seq === events[at - 1]?.seq) continue;
      const torn = fold(events.slice(at + 1), fold(events.slice(0, at)));
      if (at < events.length - 1) expect(torn.gap).toBe(true);
      expect(torn.lastSeq).toBe(dropped.seq - 1);
      const filled = fold(events.filter((one) => one.seq > torn.lastSeq), torn);
      expect(filled).toEqual(whole);
    }
  });
});

describe("a reply that streams", () => {
  function begun(): Recording {
    return new Recording().created().prompt("Hi").think("hm").text("Hel").text("lo");
  }

  test("grows, and its message takes its place under the same key", () => {
    const recording = begun();
    const session = fold(recording.events);
    expect(session.turns[0]?.live).toEqual({ reasoning: "hm", text: "Hello" });
    const keys = rowMemory()(session).map((row) => row.key);
    recording.say("Hello, you.", [], "hm");
    const after = fold(recording.events);
    expect(after.turns[0]?.live).toBeNull();
    expect(rowMemory()(after).map((row) => row.key).slice(0, 3)).toEqual(keys);
    expect(after.turns[0]?.entries.at(-1)).toMatchObject({ kind: "text", text: "Hello, you." });
  });

  test("is void once it is discarded", () => {
    const recording = begun();
    recording.add({ kind: "replyDiscarded", turnId: recording.turnId, reason: "The stream broke." });
    expect(fold(recording.events).turns[0]).toMatchObject({ live: null, retrying: "The stream broke." });
    recording.text("Anew");
    expect(fold(recording.events).turns[0]).toMatchObject({ live: { text: "Anew" }, retrying: "" });
  });

  test("leaves nothing behind when the turn is stopped", () => {
    expect(fold(begun().end({ reason: "cancelled" }).events).turns[0]).toMatchObject({ live: null, entries: [] });
  });

  test("from before the last durable event is not taken", () => {
    const recording = begun();
    const stale = recording.events.at(-1);
    recording.say("Hello.");
    expect(fold([...recording.events, ...(stale ? [stale] : [])])).toEqual(fold(recording.events));
  });
});

test("a prompt that waits is queued, and one whose turn failed before its start is seen", () => {
  const recording = new Recording().created().prompt("One");
  const waiting = recording.accepted("Two", 1);
  expect(fold(recording.events).queue).toEqual([{ turnId: waiting, text: "Two", position: 1 }]);
  recording.end();
  recording.turnId = waiting;
  recording.end({ reason: "error", error: "No model. Set one." });
  const session = fold(recording.events);
  expect(session.queue).toEqual([]);
  expect(session.turns.at(-1)).toMatchObject({ prompt: "Two", end: { error: "No model. Set one." } });
});

test("output of a running call keeps its end, and an id that comes again means the newest call", () => {
  const recording = new Recording().created().prompt("Run");
  const [id = ""] = recording.say("", [{ name: "run_command", args: {} }]);
  recording.started(id, "execute");
  recording.add({ kind: "toolOutputDelta", turnId: recording.turnId, callId: id, text: "x".repeat(70_000) + "end" });
  expect(call(fold(recording.events), id).output).toMatch(/^x{60000,}end$/);
  recording.ended(id, "ok").round(2);
  const message = { role: "assistant", text: "", reasoning: "", reasoningField: "", toolCalls: [{ id, name: "again", arguments: "{}" }] } as const;
  recording.add({ kind: "assistantMessageAdded", turnId: recording.turnId, message: { ...message, toolCalls: [...message.toolCalls] } });
  recording.started(id);
  const calls = fold(recording.events).turns[0]?.entries.filter((entry) => entry.kind === "call") ?? [];
  expect(calls.map((one) => one.state)).toEqual(["done", "running"]);
  expect(new Set(calls.map((one) => one.key)).size).toBe(2);
});

describe("rewinds", () => {
  const back = { talk: true, files: [], conflicts: [], snapshotId: "", afterId: "" };

  test("fold the turns they took out, and undoing brings them back", () => {
    const recording = new Recording().created();
    for (const text of ["One", "Two", "Three"]) recording.prompt(text).say("Yes.").length;
    recording.add({ kind: "rewound", rewindId: "r1", toTurnId: "t2", undoes: "", ...back });
    const gone = rowMemory()(fold(recording.events)).filter((row) => row.kind === "gone");
    expect(gone).toMatchObject([{ rewindId: "r1", prompts: ["Two", "Three"] }]);
    recording.add({ kind: "rewound", rewindId: "r2", toTurnId: "t2", undoes: "r1", ...back });
    expect(rowMemory()(fold(recording.events)).some((row) => row.kind === "gone")).toBe(false);
    recording.add({ kind: "rewound", rewindId: "r3", toTurnId: "t3", undoes: "", ...back, talk: false });
    expect(rowMemory()(fold(recording.events)).some((row) => row.kind === "gone")).toBe(false);
  });
});

test("rows that say the same are the same objects while a reply streams", () => {
  const recording = longSession(100).prompt("Go");
  const rowsOf = rowMemory();
  const session = fold(recording.take());
  const before = rowsOf(session);
  const after = rowsOf(fold(recording.text("word").take(), session));
  const fresh = after.filter((row, at) => row !== before[at]);
  expect(fresh.map((row) => row.kind)).toEqual(["text"]);
});
