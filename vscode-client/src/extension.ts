/** What happens when the editor loads us: commands and views are registered, the server is started. */
import * as vscode from "vscode";
import { Review, type PendingFile } from "./changes/review";
import { ChangesTree } from "./changes/tree";
import { walk } from "./changes/walk";
import { Actions } from "./panel/actions";
import { answer, approve } from "./panel/asking";
import { Chat } from "./panel/chat";
import { pickSession } from "./panel/sessions";
import { Server } from "./server/server";
import { askApiKey, forgetApiKey } from "./server/settings";
import { Status } from "./server/status";

export function activate(context: vscode.ExtensionContext): void {
  const server = new Server(context.secrets);
  const review = new Review(server);
  const chat = new Chat(context.extensionUri, server, new Actions(server, review));
  const status = new Status(server);

  server.answer("pai/approval/request", (request, token) => approve(chat, request, token));
  server.answer("pai/question/ask", (question, token) => answer(chat, question, token));
  server.answer("pai/editor/save", async ({ uri }) => ({ saved: await save(uri) }));
  // The editor itself reads clean documents anew when their files change.
  server.hear("pai/editor/changedOnDisk", () => undefined);

  review.onDidChange((sessionId) => {
    const waiting = review.pending.reduce((sum, { hunks }) => sum + hunks.length, 0);
    status.setPending(waiting);
    void vscode.commands.executeCommand("setContext", "pails.hasChanges", waiting > 0);
    chat.tellChanges(sessionId, review.of(sessionId));
  });
  chat.onDidOpenSession(({ sessionId }) => review.refresh(sessionId));

  const command = (name: string, run: (...args: never[]) => unknown) =>
    vscode.commands.registerCommand(name, run);
  context.subscriptions.push(
    server,
    review,
    chat,
    status,
    vscode.window.registerWebviewViewProvider("pails.chat", chat),
    vscode.window.registerTreeDataProvider("pails.changes", new ChangesTree(review)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("pails")) void offerRestart();
    }),
    command("pails.newSession", () => chat.newSession()),
    command("pails.openSession", async () => {
      const chosen = await pickSession(server);
      if (chosen) await chat.openSession(chosen);
    }),
    command("pails.focusChat", () => chat.reveal()),
    command("pails.setApiKey", async () => {
      if (await askApiKey(context.secrets)) await server.restart();
    }),
    command("pails.clearApiKey", async () => {
      await forgetApiKey(context.secrets);
      await server.restart();
    }),
    command("pails.restartServer", () => server.restart()),
    command("pails.showLog", () => server.showLog()),
    command("pails.nextHunk", () => walk(review, 1)),
    command("pails.previousHunk", () => walk(review, -1)),
    command("pails.reviewFile", ({ pending }: { pending: PendingFile }) =>
      review.openDiff(pending.file.path, pending.turnId, pending.sessionId),
    ),
    command("pails.keepFile", ({ pending }: { pending: PendingFile }) => review.resolve(pending, "accept")),
    command("pails.undoFile", ({ pending }: { pending: PendingFile }) => review.resolve(pending, "reject")),
    command("pails.keepAll", () => review.resolveAll("accept")),
    command("pails.undoAll", () => review.resolveAll("reject")),
  );
  void server.start();
}

async function save(uri: string): Promise<boolean> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === wanted);
  return document ? document.save() : false;
}

async function offerRestart(): Promise<void> {
  const restart = "Restart";
  const choice = await vscode.window.showInformationMessage(
    "Pails: the settings apply after a restart of its server. Your sessions are kept.",
    restart,
  );
  if (choice === restart) await vscode.commands.executeCommand("pails.restartServer");
}
