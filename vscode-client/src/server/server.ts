/** The server process: started, watched, restarted; and the wire to it, with its types. */
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  State,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import type { ServerState } from "../shared/messages";
import type { PaiCapabilities, Questions, Requests } from "../wire";
import { serverCommand, serverEnvironment, serverSettings } from "./settings";

/** After so many deaths within so long it is left to the person to start it again. */
const MAX_DEATHS = 4;
const DEATHS_WITHIN_MS = 3 * 60_000;

type Params<M extends keyof Questions> = Questions[M]["params"];
type Result<M extends keyof Questions> = Questions[M]["result"];

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private deaths: number[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly listeners = new Map<string, ((params: unknown) => void)[]>();
  private readonly handlers: ((client: LanguageClient) => void)[] = [];
  private readonly log = vscode.window.createOutputChannel("Pails", { log: true });

  state: ServerState = "stopped";
  message = "";
  readonly onDidChange = this.changed.event;

  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** Answer a request of the server, in this process of it and in those to come. */
  answer<M extends keyof Questions>(
    method: M,
    handle: (params: Params<M>, token: vscode.CancellationToken) => Promise<Result<M>>,
  ): void {
    // The library works out the type of a result for itself and cannot do so for a general one.
    this.handlers.push((client) => client.onRequest<unknown, unknown>(method, handle as never));
  }

  /** Hear a notification of the server, likewise. Any number may hear the same one. */
  hear<M extends keyof Questions>(method: M, handle: (params: Params<M>) => void): void {
    const listeners = this.listeners.get(method);
    if (listeners) {
      listeners.push(handle as never);
      return;
    }
    const all = [handle as (params: unknown) => void];
    this.listeners.set(method, all);
    this.handlers.push((client) =>
      client.onNotification(method, (params: unknown) => all.forEach((listener) => listener(params))),
    );
  }

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"]> {
    if (!this.client || this.state !== "ready") throw new Error(this.message || "Pails is not running.");
    return this.client.sendRequest<Requests[M]["result"]>(method, params);
  }

  /** Start the process; resolves when it answers or is known not to. */
  async start(): Promise<void> {
    await this.stop();
    this.set("starting", "");
    const client = await this.makeClient();
    this.client = client;
    for (const handle of this.handlers) handle(client);
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === State.Running) this.set("ready", "");
      if (newState === State.Starting) this.set("starting", "");
    });
    try {
      await client.start();
    } catch (error) {
      if (client === this.client) this.set("stopped", whyNotStarted(error));
    }
  }

  async restart(): Promise<void> {
    this.deaths = [];
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.set("stopped", "");
    await client?.stop().catch(() => undefined);
    await client?.dispose().catch(() => undefined);
  }

  showLog(): void {
    this.log.show();
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.log.dispose();
  }

  private async makeClient(): Promise<LanguageClient> {
    const capabilities: PaiCapabilities = {
      events: true,
      approvals: true,
      questions: true,
      save: true,
      reload: true,
      settings: serverSettings(),
    };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      initializationOptions: { pai: capabilities },
      outputChannel: this.log,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => this.afterDeath(),
      },
      initializationFailedHandler: () => false,
    };
    const env = await serverEnvironment(this.secrets);
    const executable = { command: serverCommand(), args: ["--stdio"], options: { env } };
    return new LanguageClient("pails", "Pails", executable, options);
  }

  /** A process that died is started again, unless it keeps dying. */
  private afterDeath(): { action: CloseAction; handled: boolean } {
    const now = Date.now();
    this.deaths = [...this.deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    if (this.deaths.length <= MAX_DEATHS) {
      this.set("starting", "The server ended and is started again. Your sessions are kept.");
      return { action: CloseAction.Restart, handled: true };
    }
    this.set("stopped", "The server ended several times. Your sessions are kept; the log says why.");
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private set(state: ServerState, message: string): void {
    this.state = state;
    this.message = message;
    this.changed.fire();
  }
}

function whyNotStarted(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOENT/.test(text)) {
    return `There is no program “${serverCommand()}”. Install Pails (pip install pails), or set pails.server.path.`;
  }
  return `The server did not start: ${text}`;
}
