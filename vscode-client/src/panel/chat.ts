/** The side panel: a webview that is told the events of one session, and asks through us. */
import * as vscode from "vscode";
import type { Server } from "../server/server";
import { PANEL_METHODS, type FromPanel, type PanelMethod, type ToPanel } from "../shared/messages";
import type { Attachment, ChangesListResult, EventParams, Requests, SessionInfo } from "../wire";
import type { Actions } from "./actions";
import { page } from "./page";

const METHODS: ReadonlySet<string> = new Set(PANEL_METHODS);

export class Chat implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private session: SessionInfo | undefined;
  private events: EventParams[] = [];
  private flush: NodeJS.Timeout | undefined;
  private pending: ToPanel[] = []; // until the page has loaded
  private isLoaded = false;
  private lastSeq = 0;
  private readonly switched = new vscode.EventEmitter<SessionInfo>();

  readonly onDidOpenSession = this.switched.event;

  constructor(
    private readonly root: vscode.Uri,
    private readonly server: Server,
    private readonly actions: Actions,
  ) {
    server.hear("pai/event", (event) => this.hear(event));
    server.onDidChange(() => this.serverChanged());
  }

  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  get sessionId(): string | undefined {
    return this.session?.sessionId;
  }

  reveal(): void {
    void vscode.commands.executeCommand("pails.chat.focus");
    this.post({ kind: "focus" });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.isLoaded = false;
    view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.root, "dist")] };
    view.webview.onDidReceiveMessage((message: FromPanel) => void this.receive(message));
    view.onDidDispose(() => {
      this.view = undefined;
      this.isLoaded = false;
    });
    view.webview.html = page(view.webview, this.root);
  }

  /** A new session, shown in place of the one before. */
  async newSession(): Promise<void> {
    await this.show(await this.server.request("pai/session/new", {}));
  }

  /** Show a session; its events from the first on follow. */
  async openSession(sessionId: string): Promise<void> {
    this.session = undefined; // what still comes of the one before is not for the panel
    this.dropEvents();
    this.post({ kind: "events", sessionId, reset: true, events: [] });
    await this.follow(sessionId, 0);
  }

  /** Put a text and what goes along into the composer. */
  insert(text: string, attachments: Attachment[]): void {
    this.reveal();
    this.post({ kind: "insert", text, attachments });
  }

  tellChanges(sessionId: string, changes: ChangesListResult): void {
    if (sessionId === this.session?.sessionId) this.post({ kind: "changes", sessionId, changes });
  }

  dispose(): void {
    clearTimeout(this.flush);
    this.switched.dispose();
  }

  private async show(info: SessionInfo): Promise<void> {
    this.session = info;
    this.lastSeq = 0;
    this.post({ kind: "events", sessionId: info.sessionId, reset: true, events: [] });
    this.post({ kind: "opened", info });
    this.switched.fire(info);
    await this.follow(info.sessionId, 0);
  }

  private async follow(sessionId: string, afterSeq: number): Promise<void> {
    this.lastSeq = afterSeq;
    // Events may come before the answer does, so we must know by then whose they are.
    const before = this.session;
    this.session = before?.sessionId === sessionId ? before : ({ sessionId } as SessionInfo);
    const info = await this.server.request("pai/session/open", { sessionId, afterSeq });
    this.session = info;
    this.post({ kind: "opened", info });
    this.switched.fire(info);
  }

  private hear(event: EventParams): void {
    if (event.sessionId !== this.session?.sessionId) return;
    this.lastSeq = Math.max(this.lastSeq, event.seq);
    this.events.push(event);
    // One message a frame, however many events a replay brings.
    this.flush ??= setTimeout(() => this.sendEvents(), 8);
  }

  private sendEvents(): void {
    const events = this.dropEvents();
    const sessionId = this.session?.sessionId;
    if (sessionId && events.length) this.post({ kind: "events", sessionId, reset: false, events });
  }

  private dropEvents(): EventParams[] {
    clearTimeout(this.flush);
    this.flush = undefined;
    const events = this.events;
    this.events = [];
    return events;
  }

  private serverChanged(): void {
    if (this.server.state === "ready" && this.isLoaded) void this.resume();
    else this.postServer();
  }

  /** A new process knows no session until it is opened, so the panel may send nothing before. */
  private async resume(): Promise<void> {
    try {
      if (this.session) await this.follow(this.session.sessionId, this.lastSeq);
      else await this.loaded(undefined, undefined);
    } catch (error) {
      this.fail(error);
    }
    this.postServer();
  }

  private postServer(): void {
    const { state, message } = this.server;
    this.post({ kind: "server", state, message });
  }

  private async receive(message: FromPanel): Promise<void> {
    switch (message.kind) {
      case "ready":
        await this.loaded(message.sessionId, message.afterSeq).catch((error) => this.fail(error));
        break;
      case "ask":
        await this.pass(message.id, message.method, message.params);
        break;
      case "do":
        await this.actions.run(message, this).catch((error) => this.fail(error));
        break;
    }
  }

  /** The page is there: tell it where we stand, and let it go on where it was. */
  private async loaded(shown: string | undefined, afterSeq: number | undefined): Promise<void> {
    this.isLoaded = true;
    for (const message of this.pending.splice(0)) await this.view?.webview.postMessage(message);
    this.postServer();
    if (this.server.state !== "ready") {
      if (shown) this.session ??= { sessionId: shown } as SessionInfo;
      return;
    }
    const wanted = this.session?.sessionId ?? shown ?? (await this.newest());
    if (!wanted) {
      await this.newSession();
    } else if (wanted === shown && afterSeq !== undefined) {
      await this.follow(wanted, afterSeq).catch(() => this.newSession());
    } else {
      await this.openSession(wanted).catch(() => this.newSession());
    }
  }

  /** The session that was last worked in here. */
  private async newest(): Promise<string | undefined> {
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (!workspace) return undefined;
    const { sessions } = await this.server.request("pai/session/list", { workspace });
    return sessions[0]?.sessionId;
  }

  private async pass(id: number, method: PanelMethod, params: unknown): Promise<void> {
    try {
      if (!METHODS.has(method)) throw new Error(`The panel may not ask for ${method}.`);
      const result = await this.server.request(method, params as Requests[PanelMethod]["params"]);
      this.post({ kind: "answer", id, result });
    } catch (error) {
      this.post({ kind: "answer", id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  private post(message: ToPanel): void {
    if (this.view && this.isLoaded) void this.view.webview.postMessage(message);
    else if (message.kind === "insert") this.pending.push(message); // all else is told when it loads
  }

  private fail(error: unknown): void {
    void vscode.window.showErrorMessage(`Pails: ${error instanceof Error ? error.message : String(error)}`);
  }
}
