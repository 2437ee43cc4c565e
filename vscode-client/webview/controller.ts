/** What a person can do in the panel: each becomes a request, and its outcome an action of the reducer. */

import type { PanelMethod, ToPanel } from "../src/shared/messages";
import type {
  ApprovalRequested,
  Attachment,
  Mode,
  ProposedHunk,
  Requests,
} from "../src/wire";
import type { Bridge } from "./bridge";
import type { Command, LookUp } from "./complete";
import type { Queued } from "./state/model";
import { goneTurns } from "./state/rewinds";
import { shownSession } from "./state/panel";
import type { Store } from "./store";
import { plural } from "./text/format";

export interface ApprovalAnswer {
  readonly choice: "allowOnce" | "allowSession" | "reject";
  readonly feedback?: string;
  readonly hunkIds?: string[] | null;
  readonly texts?: Record<string, string>;
}

export class Controller {
  private askedAfter = "";

  constructor(
    private readonly store: Store,
    private readonly bridge: Bridge,
  ) {}

  receive(message: ToPanel): void {
    if (message.kind === "answer") this.bridge.answered(message);
    this.store.receive(message);
  }

  /** Ask once for the events of a gap in the shown session. */
  fillGap(): void {
    const session = shownSession(this.store.current);
    const wanted = session?.gap ? `${session.id}:${session.lastSeq}` : "";
    if (wanted === this.askedAfter) return;
    this.askedAfter = wanted;
    if (session && wanted) this.bridge.ready(session.id, session.lastSeq);
  }

  // -- prompts

  /** `steer`: the running turn takes it in at its next round, instead of it waiting for the end. */
  async send(steer = false): Promise<void> {
    const { draft, sending } = this.store.current;
    if (!draft.text.trim() || sending) return;
    const { text, attachments, editing } = draft;
    this.store.act({ kind: "sent" });
    try {
      const sessionId = await this.session();
      if (editing && editing.fromTurnId === null) {
        await this.bridge.ask("pai/session/rewind", {
          sessionId, toTurnId: editing.turnId, talk: true, files: false,
        });
      }
      const fromTurnId = editing?.fromTurnId ?? null;
      const params = { sessionId, text, attachments: [...attachments], fromTurnId, steer };
      await this.bridge.ask("pai/session/prompt", params);
      this.store.act({ kind: "arrived" });
    } catch (error) {
      this.store.act({ kind: "refused", error: sentence(error) });
    }
  }

  /** Stop the running turn; queued ones then start. */
  async stop(): Promise<void> {
    await this.tried("pai/session/cancel", { sessionId: this.sessionId });
  }

  async unqueue({ turnId }: Queued): Promise<void> {
    await this.tried("pai/session/cancel", { sessionId: this.sessionId, turnId });
  }

  /** The running turn takes the prompt in at its next round. */
  async steer({ turnId }: Queued): Promise<void> {
    await this.tried("pai/queue/update", { sessionId: this.sessionId, turnId, steer: true });
  }

  /** Take the prompt off the queue, and into the composer if it had not begun before that. */
  async editQueued(queued: Queued): Promise<void> {
    const result = await this.tried("pai/session/cancel", {
      sessionId: this.sessionId, turnId: queued.turnId,
    });
    if (result?.cancelled) this.store.act({ kind: "compose", text: queued.text });
    else if (result) this.fail("This prompt has just begun, so it stays. Stop it, then edit it above.");
  }

  editPrompt(turnId: string, fromTurnId: string | null, text: string): void {
    this.store.act({ kind: "editPrompt", turnId, fromTurnId, text });
  }

  // -- what waits for a person

  async answerApproval(asked: ApprovalRequested, answer: ApprovalAnswer): Promise<boolean> {
    const { approvalId } = asked;
    const result = await this.tried("pai/approval/answer", {
      sessionId: this.sessionId, approvalId, ...answer,
    });
    if (result && !result.accepted) this.fail("This was answered or cancelled before. Nothing was changed.");
    return result?.accepted ?? false;
  }

  /** Allow with the person's own text in it. The extension has the file, and answers with the whole of it. */
  allowEdited(asked: ApprovalRequested, choice: "allowOnce" | "allowSession", hunks: ProposedHunk[]): void {
    const { approvalId } = asked;
    this.bridge.do({ action: "allowEdited", args: { sessionId: this.sessionId, approvalId, choice, hunks } });
  }

  async answerQuestion(questionId: string, answer: string | null): Promise<boolean> {
    const params = { sessionId: this.sessionId, questionId, answer };
    const result = await this.tried("pai/question/answer", params);
    return result?.accepted ?? false;
  }

  // -- going back

  async askRewind(turnId: string, prompt: string): Promise<void> {
    this.store.act({ kind: "rewindAsked", turnId, prompt });
    const params = { sessionId: this.sessionId, toTurnId: turnId, talk: true, files: true, preview: true };
    const result = await this.tried("pai/session/rewind", params);
    this.store.act(
      result ? { kind: "rewindPreviewed", turnId, result } : { kind: "rewindClosed" },
    );
  }

  async rewind(turnId: string, parts: { talk: boolean; files: boolean }, prompt: string): Promise<void> {
    const params = { sessionId: this.sessionId, toTurnId: turnId, ...parts };
    const result = await this.tried("pai/session/rewind", params);
    this.store.act({ kind: "rewindClosed" });
    const isFree = this.store.current.draft.text.trim() === "";
    if (result && parts.talk && isFree) this.store.act({ kind: "compose", text: prompt });
  }

  async undoRewind(rewindId: string | null): Promise<void> {
    await this.tried("pai/session/undoRewind", { sessionId: this.sessionId, rewindId });
  }

  // -- sessions

  newSession(): void {
    this.bridge.do({ action: "newSession", args: {} });
  }

  async listSessions(): Promise<void> {
    const result = await this.tried("pai/session/list", {});
    if (result) this.store.act({ kind: "listed", sessions: result.sessions });
  }

  openSession(sessionId: string): void {
    this.store.act({ kind: "listClosed" });
    this.bridge.do({ action: "openSession", args: { sessionId } });
  }

  async setMode(mode: Mode): Promise<void> {
    await this.withSession("pai/session/setMode", { mode });
  }

  async setModel(model: string): Promise<void> {
    await this.withSession("pai/session/setModel", { model });
  }

  async command(name: Command, argument: string): Promise<void> {
    const session = shownSession(this.store.current);
    if (name === "new") return this.newSession();
    if (name === "mode") {
      if (isMode(argument)) return this.setMode(argument);
      return this.fail("Say which mode: /mode auto, /mode ask or /mode plan.");
    }
    if (name === "model") {
      return argument ? this.setModel(argument) : this.fail("Say which model: /model NAME.");
    }
    if (name === "undo-rewind") return this.undoRewind(null);
    const gone = session ? goneTurns(session) : null;
    const last = session?.turns.findLast((turn) => !gone?.has(turn.id));
    if (last) return this.askRewind(last.id, last.prompt);
    this.fail("There is no prompt yet to go back to.");
  }

  // -- changes under review

  /** Accept or reject what waits: all of it, or that of one file. Says what could not be done. */
  async resolve(decision: "accept" | "reject", path: string | null): Promise<void> {
    const turns = (this.store.current.changes[this.sessionId]?.turns ?? []).filter((turn) =>
      turn.files.some(
        (file) => (path === null || file.path === path) && file.hunks.some((hunk) => hunk.state === "pending"),
      ),
    );
    const reasons: string[] = [];
    // The newest first: what an older turn wrote lies below what came later.
    for (const { turnId } of turns.toReversed()) {
      const params = { sessionId: this.sessionId, turnId, decision, path };
      const result = await this.tried("pai/changes/resolve", params);
      reasons.push(...(result?.unresolved ?? []).map((hunk) => hunk.reason));
    }
    if (reasons.length) {
      this.fail(`${plural(reasons.length, "change")} stayed as they are. ${[...new Set(reasons)].join(" ")}`);
    }
  }

  // -- the editor

  /** What the completion of the composer asks for. */
  readonly lookUp: LookUp = {
    mentions: (query) => this.tried("pai/mention/search", { query, workspace: this.workspace, limit: 20 }),
    models: () => this.tried("pai/models/list", {}),
  };

  /** `line` counts from 1. A path that is not absolute is one of the workspace. */
  openFile(path: string, line: number | null = null): void {
    const { workspace } = shownSession(this.store.current) ?? { workspace: "" };
    const isAbsolute = /^(?:[\\/]|[A-Za-z]:)/.test(path);
    const whole = isAbsolute || !workspace ? path : `${workspace.replace(/[\\/]$/, "")}/${path}`;
    this.bridge.do({ action: "openFile", args: line === null ? { path: whole } : { path: whole, line } });
  }

  openDiff(path: string, turnId: string): void {
    this.bridge.do({ action: "openDiff", args: { path, turnId } });
  }

  copy(text: string): void {
    this.bridge.do({ action: "copy", args: { text } });
  }

  insertCode(text: string): void {
    this.bridge.do({ action: "insertCode", args: { text } });
  }

  host(action: "openLog" | "restartServer" | "openSettings" | "setApiKey"): void {
    this.bridge.do({ action, args: {} });
  }

  // --

  private get workspace(): string | null {
    return shownSession(this.store.current)?.workspace || null;
  }

  private get sessionId(): string {
    return this.store.current.shown ?? "";
  }

  /** The shown session; a new one where there is none. The extension makes it, and says when it is there. */
  private session(): Promise<string> {
    const { shown } = this.store.current;
    if (shown !== null) return Promise.resolve(shown);
    this.newSession();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stop();
        reject(new Error("No session could be started. The log of the Pails server says why; nothing was sent."));
      }, SESSION_WITHIN);
      const stop = this.store.subscribe((panel) => {
        if (panel.shown === null) return;
        clearTimeout(timer);
        stop();
        resolve(panel.shown);
      });
    });
  }

  private async withSession<M extends "pai/session/setMode" | "pai/session/setModel">(
    method: M,
    params: Omit<Requests[M]["params"], "sessionId">,
  ): Promise<void> {
    try {
      const sessionId = await this.session();
      await this.bridge.ask(method, { sessionId, ...params } as Requests[M]["params"]);
    } catch (error) {
      this.fail(sentence(error));
    }
  }

  private async tried<M extends PanelMethod>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"] | null> {
    try {
      return await this.bridge.ask(method, params);
    } catch (error) {
      this.fail(sentence(error));
      return null;
    }
  }

  private fail(error: string): void {
    this.store.act({ kind: "failed", error });
  }
}

/** A model server that has just been started may take this long, in milliseconds. */
const SESSION_WITHIN = 30_000;

function isMode(text: string): text is Mode {
  return text === "auto" || text === "ask" || text === "plan";
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function attachmentName(attachment: Attachment): string {
  const name = decodeURIComponent(attachment.uri.split("/").at(-1) ?? attachment.uri);
  const { range } = attachment;
  if (!range || attachment.kind === "file") return name;
  const [first, last] = [range.start.line + 1, range.end.line + 1];
  return first === last ? `${name}:${first}` : `${name}:${first}–${last}`;
}
