/** The changes that wait for review: kept current, listed, shown as diffs, accepted and rejected. */
import * as vscode from "vscode";
import type { Server } from "../server/server";
import type { ChangesListResult, EventParams, FileChanges, HunkInfo } from "../wire";

/** A file of a turn with the hunks of it that wait. */
export interface PendingFile {
  sessionId: string;
  turnId: string;
  file: FileChanges;
  hunks: HunkInfo[];
}

const TELLS_OF_CHANGES: ReadonlySet<unknown> = new Set(["fileChanged", "hunksResolved", "rewound", "turnEnded"]);

export class Review implements vscode.Disposable {
  private readonly bySession = new Map<string, ChangesListResult>();
  private readonly asked = new Map<string, NodeJS.Timeout>();
  private readonly changed = new vscode.EventEmitter<string>();

  /** Of a session, by its id. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    server.hear("pai/event", (event) => this.hear(event));
  }

  get pending(): PendingFile[] {
    return [...this.bySession].flatMap(([sessionId, changes]) =>
      changes.turns.flatMap(({ turnId, files }) =>
        files
          .map((file) => ({ sessionId, turnId, file, hunks: file.hunks.filter((hunk) => hunk.state === "pending") }))
          .filter(({ hunks }) => hunks.length),
      ),
    );
  }

  of(sessionId: string): ChangesListResult {
    return this.bySession.get(sessionId) ?? { turns: [] };
  }

  /** Ask the server anew, once for all that happens at a time. */
  refresh(sessionId: string): void {
    clearTimeout(this.asked.get(sessionId));
    this.asked.set(
      sessionId,
      setTimeout(() => void this.load(sessionId), 60),
    );
  }

  /** The text before the turn beside the file as it is. */
  async openDiff(path: string, turnId: string, sessionId: string | undefined): Promise<void> {
    const file = vscode.Uri.file(path);
    const before = file.with({ scheme: "pails-before", query: `${sessionId ?? ""}/${turnId}` });
    const name = path.split(/[\\/]/).pop() ?? path;
    await vscode.commands.executeCommand("vscode.diff", before, file, `${name} (before Pails ↔ now)`);
  }

  async resolve(pending: PendingFile, decision: "accept" | "reject", hunkIds?: string[]): Promise<void> {
    const { sessionId, turnId, file } = pending;
    const done = await this.server.request("pai/changes/resolve", {
      sessionId,
      turnId,
      decision,
      path: file.path,
      hunkIds: hunkIds ?? null,
    });
    const [left] = done.unresolved;
    if (left) void vscode.window.showWarningMessage(`Pails: ${left.reason}`);
    this.refresh(sessionId);
  }

  async resolveAll(decision: "accept" | "reject"): Promise<void> {
    for (const pending of this.pending.reverse()) await this.resolve(pending, decision);
  }

  dispose(): void {
    for (const timer of this.asked.values()) clearTimeout(timer);
    this.changed.dispose();
  }

  private hear({ sessionId, event }: EventParams): void {
    if (TELLS_OF_CHANGES.has(event["kind"])) this.refresh(sessionId);
  }

  private async load(sessionId: string): Promise<void> {
    this.asked.delete(sessionId);
    try {
      this.bySession.set(sessionId, await this.server.request("pai/changes/list", { sessionId }));
    } catch {
      this.bySession.delete(sessionId); // the session is closed, or the server gone: nothing waits
    }
    this.changed.fire(sessionId);
  }
}
