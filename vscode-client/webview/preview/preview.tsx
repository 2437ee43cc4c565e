/** The panel with a host that answers yes to everything. `#STATE` chooses the scene, `?theme=` the colours. */

import "../style.css";
import "./themes.css";
import type { FromPanel, ToPanel } from "../../src/shared/messages";
import { start } from "../start";
import { Recording, REPLY } from "./recorded";
import { longSession, SCENES } from "./scenes";

const theme = new URLSearchParams(location.search).get("theme") ?? "dark";
document.documentElement.dataset["theme"] = theme;

const sent: FromPanel[] = [];
const RESULTS: Readonly<Record<string, unknown>> = {
  "pai/session/prompt": { turnId: "t99", fate: "started", position: 0 },
  "pai/session/list": { sessions: [
    { sessionId: "s1", workspace: "/home/ada/shop", title: "Fix the total of the cart", updatedAt: Date.now() / 1000 - 90 },
    { sessionId: "s2", workspace: "/home/ada/shop", title: "Why are the nightly builds slow?", updatedAt: Date.now() / 1000 - 8000 },
    { sessionId: "s3", workspace: "/home/ada/press", title: "Turn the CSV importer into a stream", updatedAt: Date.now() / 1000 - 400_000 },
  ] },
  "pai/session/rewind": { rewindId: null, toTurnId: "t1", turns: ["t1"], notes: ["What commands changed outside of Git is not known."],
    files: [{ path: "/home/ada/shop/shop/cart.py", how: "merged" }, { path: "/home/ada/shop/tests/test_cart.py", how: "removed" }],
    conflicts: [{ path: "/home/ada/shop/shop/feed.py", reason: "you changed the same lines" }] },
  "pai/mention/search": { places: [
    { kind: "file", name: "shop/cart.py", uri: "file:///home/ada/shop/shop/cart.py" },
    { kind: "file", name: "tests/test_cart.py", uri: "file:///home/ada/shop/tests/test_cart.py" },
    { kind: "folder", name: "shop", uri: "file:///home/ada/shop/shop" },
  ] },
};

function post(message: ToPanel): void {
  window.postMessage(message, "*");
}

const root = document.getElementById("root");
if (root) {
  start(root, {
    postMessage(message: unknown) {
      const said = message as FromPanel;
      sent.push(said);
      if (said.kind === "ask") post({ kind: "answer", id: said.id, result: RESULTS[said.method] ?? {} });
    },
    getState: () => null,
    setState: () => undefined,
  });
}

function show(name: string): void {
  for (const message of SCENES[name]?.() ?? []) post(message);
}

/** Streams tokens into a long session, a burst a frame as the server does. Resolves at the end of the text. */
function stream(messages: number, tokensPerSecond: number, seconds: number): Promise<void> {
  const recording: Recording = longSession(messages);
  recording.prompt("Explain it all, with code.");
  show("empty");
  post({ kind: "events", sessionId: "s1", reset: true, events: recording.take() });
  // About four characters a token.
  const text = REPLY.repeat(Math.ceil((tokensPerSecond * seconds * 4) / REPLY.length));
  const began = performance.now() + 1500;
  let done = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const until = Math.min(text.length, Math.floor(((performance.now() - began) / 1000) * tokensPerSecond * 4));
      if (until <= done) return;
      recording.text(text.slice(done, until));
      done = until;
      post({ kind: "events", sessionId: "s1", reset: false, events: recording.take() });
      if (done < text.length) return;
      clearInterval(timer);
      resolve();
    }, 16);
  });
}

Object.assign(window, { preview: { show, stream, sent, post } });
show(location.hash.slice(1) || "finished");
