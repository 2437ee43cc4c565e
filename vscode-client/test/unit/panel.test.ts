import { expect, test } from "vitest";
import type { ToPanel } from "../../src/shared/messages";
import type { Attachment, SessionInfo } from "../../src/wire";
import { Recording } from "../../webview/preview/recorded";
import { EMPTY_PANEL, type Panel } from "../../webview/state/model";
import { type Action, reduce, shownSession } from "../../webview/state/panel";
import { pendingFiles } from "../../webview/state/pending";

function after(...messages: (ToPanel | Action)[]): Panel {
  return messages.reduce(reduce, EMPTY_PANEL);
}

function info(sessionId: string): SessionInfo {
  return { sessionId, workspace: "/w", title: "T", mode: "plan", model: "m", seq: 0, updatedAt: 0, state: null };
}

function events(sessionId: string, reset = false): ToPanel {
  return { kind: "events", sessionId, reset, events: new Recording(sessionId).created().prompt("Hi").take() };
}

const FILE: Attachment = { kind: "file", uri: "file:///a.py" };

test("any split of the stream into messages gives the same panel", () => {
  const recording = new Recording().created().prompt("Hi").text("a").text("b");
  recording.say("ab");
  const all = recording.end().take();
  const whole = after({ kind: "events", sessionId: "s1", reset: true, events: all });
  for (let at = 0; at <= all.length; at++) {
    const parts = [all.slice(0, at), all.slice(at)];
    const split = after(...parts.map((part, n): ToPanel => ({ kind: "events", sessionId: "s1", reset: n === 0, events: part })));
    expect(split).toEqual(whole);
  }
});

test("a reset forgets what was known of the session", () => {
  const panel = after(events("s1"), { kind: "events", sessionId: "s1", reset: true, events: new Recording().created().take() });
  expect(shownSession(panel)?.turns).toEqual([]);
});

test("the session that was opened is shown, whether its events came before or after", () => {
  expect(after(events("s1"), events("s2"), { kind: "opened", info: info("s2") }).shown).toBe("s2");
  const early = after({ kind: "opened", info: info("s3") });
  expect(shownSession(early)).toMatchObject({ id: "s3", mode: "plan", model: "m", workspace: "/w", lastSeq: 0 });
  expect(shownSession(reduce(early, events("s3")))?.turns).toHaveLength(1);
});

test("a prompt that is refused goes back to the composer, before what was typed since", () => {
  const sent = after({ kind: "compose", text: "Do it" }, { kind: "attach", attachment: FILE }, { kind: "sent" }, { kind: "typed", text: "and" });
  expect(sent.sending?.text).toBe("Do it");
  const refused = reduce(sent, { kind: "refused", error: "No model. Choose one." });
  expect(refused).toMatchObject({ sending: null, failure: "No model. Choose one.", draft: { text: "Do it\nand", attachments: [FILE] } });
  expect(refused.draft.version).toBeGreaterThan(sent.draft.version);
});

test("what stood in the composer comes back after an earlier prompt was edited", () => {
  const editing = after({ kind: "compose", text: "draft" }, { kind: "editPrompt", turnId: "t2", fromTurnId: "t1", text: "old" });
  expect(editing.draft).toMatchObject({ text: "old", editing: { turnId: "t2", fromTurnId: "t1" } });
  expect(reduce(editing, { kind: "stopEditing" }).draft).toMatchObject({ text: "draft", editing: null });
  expect(reduce(editing, { kind: "sent" })).toMatchObject({ sending: { text: "old" }, draft: { text: "draft", editing: null } });
});

test("inserted text and files join those that are there, each file once", () => {
  const panel = after(
    { kind: "compose", text: "Why" },
    { kind: "insert", text: "this?", attachments: [FILE] },
    { kind: "insert", text: "", attachments: [FILE] },
  );
  expect(panel.draft).toMatchObject({ text: "Why\nthis?", attachments: [FILE] });
  expect(reduce(panel, { kind: "detach", at: 0 }).draft.attachments).toEqual([]);
});

test("typing does not count as a change from outside", () => {
  expect(after({ kind: "typed", text: "a" }).draft.version).toBe(0);
});

test("files to review are counted once over all turns, only what is pending", () => {
  const hunk = { id: "1", state: "pending", old: "a\n", new: "b\nc\n", oldLine: 0, line: 0, feedback: "" } as const;
  const file = { path: "/w/a.py", created: false, deleted: false, movedFrom: null, note: "" };
  const found = pendingFiles({ turns: [
    { turnId: "t1", title: "", files: [{ ...file, hunks: [hunk, { ...hunk, id: "2", state: "accepted" }] }] },
    { turnId: "t2", title: "", files: [{ ...file, hunks: [{ ...hunk, id: "3" }] }, { ...file, path: "/w/b.py", hunks: [] }] },
  ] });
  expect(found).toEqual([{ path: "/w/a.py", turnId: "t1", added: 4, removed: 2, note: "" }]);
});
