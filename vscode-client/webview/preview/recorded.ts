/** Events as a server sends them, for the preview and the tests. */

import type { Event, EventParams, Mode, ProposedHunk } from "../../src/wire";

export const WORKSPACE = "/home/ada/shop";

const TRANSIENT = new Set(["textDelta", "reasoningDelta", "replyDiscarded", "toolOutputDelta"]);

/** Numbers events as a session does. */
export class Recording {
  readonly events: EventParams[] = [];
  private seq = 0;
  private turns = 0;
  private calls = 0;
  turnId = "";

  constructor(readonly sessionId = "s1") {}

  add(...events: Event[]): this {
    for (const event of events) {
      if (!TRANSIENT.has(event.kind)) this.seq += 1;
      this.events.push({ sessionId: this.sessionId, seq: this.seq, event });
    }
    return this;
  }

  /** What came since the last time. */
  take(): EventParams[] {
    return this.events.splice(0);
  }

  created(mode: Mode = "auto"): this {
    return this.add({ kind: "sessionCreated", workspace: WORKSPACE, mode, model: "qwen3-coder-30b", copiedFrom: "" });
  }

  accepted(text: string, position = 0): string {
    const turnId = `t${++this.turns}`;
    this.add({ kind: "promptAccepted", turnId, text, position });
    return turnId;
  }

  prompt(text: string): this {
    return this.begin(this.accepted(text), text);
  }

  begin(turnId: string, text: string): this {
    this.turnId = turnId;
    return this.add(
      { kind: "turnStarted", turnId, title: text, mode: "auto", model: "qwen3-coder-30b" },
      { kind: "userMessageAdded", turnId, message: { role: "user", origin: "person", text }, seen: [] },
      { kind: "roundStarted", turnId, number: 1, wrapUp: false },
    );
  }

  say(text: string, calls: readonly { name: string; args: unknown }[] = [], reasoning = ""): string[] {
    const toolCalls = calls.map(({ name, args }) => ({
      id: `c${++this.calls}`, name, arguments: JSON.stringify(args),
    }));
    const message = { role: "assistant", text, reasoning, reasoningField: "", toolCalls } as const;
    this.add(
      { kind: "assistantMessageAdded", turnId: this.turnId, message: { ...message, toolCalls } },
      { kind: "usageReported", turnId: this.turnId, usage: { inputTokens: 18_400, outputTokens: 620, cachedTokens: 17_900 } },
    );
    return toolCalls.map((call) => call.id);
  }

  prepared(callId: string, tool: string, title: string, effect: "read" | "write" | "execute" | "interact" = "read"): this {
    return this.add({ kind: "toolCallPrepared", turnId: this.turnId, callId, tool, title, effect });
  }

  started(callId: string, effect: "read" | "write" | "execute" | "interact" = "read"): this {
    return this.add({ kind: "toolCallStarted", turnId: this.turnId, callId, effect });
  }

  ended(callId: string, text: string, { summary = "", seconds = 0.01, isError = false } = {}): this {
    return this.add({ kind: "toolCallEnded", turnId: this.turnId, callId, text, isError, summary, seconds });
  }

  round(number: number): this {
    return this.add({ kind: "roundStarted", turnId: this.turnId, number, wrapUp: false });
  }

  text(text: string): this {
    return this.add({ kind: "textDelta", turnId: this.turnId, text });
  }

  think(text: string): this {
    return this.add({ kind: "reasoningDelta", turnId: this.turnId, text });
  }

  changed(callId: string, name: string, diff: string, added: number, removed: number): this {
    return this.add({
      kind: "fileChanged", turnId: this.turnId, callId, path: `${WORKSPACE}/${name}`, diff, added, removed,
      target: "disk", saved: true, created: false, deleted: false, movedFrom: "", beforeId: "b", afterId: "a", proposedId: "",
    });
  }

  asks(callId: string, more: { tool: string; title: string; text: string; rule: string; reason: string; diff?: string; hunks?: ProposedHunk[] }): this {
    return this.add({ kind: "approvalRequested", turnId: this.turnId, callId, approvalId: `ap-${callId}`, diff: "", hunks: [], ...more });
  }

  end(more: { reason?: "done" | "error" | "cancelled"; error?: string; files?: string[]; seconds?: number } = {}): this {
    const { reason = "done", error = "", files = [], seconds = 21.4 } = more;
    const state = reason === "done" ? "completed" : reason === "error" ? "failed" : "cancelled";
    return this.add({
      kind: "turnEnded", turnId: this.turnId, state, reason, rounds: 3, seconds, error,
      usage: { inputTokens: 52_300, outputTokens: 1_840, cachedTokens: 49_000 },
      files: files.map((name) => `${WORKSPACE}/${name}`),
    });
  }
}

export const CART_DIFF = `--- a/shop/cart.py
+++ b/shop/cart.py
@@ -12,7 +12,9 @@
 class Cart:
     def total(self) -> Decimal:
-        return sum(item.price * item.count for item in self.items)
+        net = sum((item.price * item.count for item in self.items), Decimal(0))
+        discount = self.coupon.rate if self.coupon else Decimal(0)
+        return (net * (1 - discount)).quantize(CENT, ROUND_HALF_EVEN)
 
     def add(self, item: Item) -> None:
         self.items.append(item)
`;

export const REPLY = `The total was summed in floats, so a cart of three items at 0.10 came to \`0.30000000000000004\`. It is now a \`Decimal\` throughout, rounded once at the end:

\`\`\`python
def total(self) -> Decimal:
    """What is to be paid, in euros, rounded to cents."""
    net = sum((item.price * item.count for item in self.items), Decimal(0))
    discount = self.coupon.rate if self.coupon else Decimal(0)
    return (net * (1 - discount)).quantize(CENT, ROUND_HALF_EVEN)
\`\`\`

What changed elsewhere:

- [cart.py:14](shop/cart.py:14) rounds half to even, as the tax office wants it
- \`Item.price\` refuses floats; the importer in [feed.py](shop/feed.py) converts them
- two tests were missing: an **empty cart** and a coupon of 100 %

| case | before | now |
|:---|---:|---:|
| 3 × 0.10 | 0.30000000000000004 | 0.30 |
| empty | 0 | 0.00 |
`;
