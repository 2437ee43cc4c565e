/** The list of sessions, as a quick pick with buttons to rename, export and delete. */
import * as vscode from "vscode";
import type { Server } from "../server/server";
import type { SessionSummary } from "../wire";

interface SessionItem extends vscode.QuickPickItem {
  session: SessionSummary;
}

const RENAME: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Rename" };
const EXPORT: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("export"), tooltip: "Export as Markdown" };
const DELETE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Delete" };

/** The session that the person chooses; undefined when they choose none. */
export async function pickSession(server: Server): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<SessionItem>();
  pick.placeholder = "Open a session";
  pick.matchOnDescription = true;
  const refresh = async () => {
    pick.items = (await server.request("pai/session/list", {})).sessions.map(item);
  };
  await refresh();
  return new Promise((resolve) => {
    pick.onDidTriggerItemButton(async ({ button, item: { session } }) => {
      try {
        if (button === RENAME) await rename(server, session);
        if (button === EXPORT) await exportMarkdown(server, session);
        if (button === DELETE) await remove(server, session);
        await refresh();
      } catch (error) {
        void vscode.window.showErrorMessage(`Pails: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]?.session.sessionId);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function item(session: SessionSummary): SessionItem {
  const when = new Date(session.updatedAt * 1000);
  return {
    session,
    label: session.title || "(no title)",
    description: `${when.toLocaleDateString()} ${when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`,
    detail: session.workspace,
    buttons: [RENAME, EXPORT, DELETE],
  };
}

async function rename(server: Server, session: SessionSummary): Promise<void> {
  const title = await vscode.window.showInputBox({ title: "Pails: name of the session", value: session.title });
  if (!title?.trim()) return;
  await server.request("pai/session/open", { sessionId: session.sessionId, afterSeq: null });
  await server.request("pai/session/rename", { sessionId: session.sessionId, title });
}

async function exportMarkdown(server: Server, session: SessionSummary): Promise<void> {
  const { text } = await server.request("pai/session/export", { sessionId: session.sessionId, form: "markdown" });
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: text });
  await vscode.window.showTextDocument(document);
}

async function remove(server: Server, session: SessionSummary): Promise<void> {
  await server.request("pai/session/delete", { sessionId: session.sessionId });
  const undo = "Restore";
  void vscode.window.showInformationMessage(`Pails: “${session.title}” is deleted. For two weeks it can be restored.`, undo).then(async (choice) => {
    if (choice === undo) await server.request("pai/session/restore", { sessionId: session.sessionId });
  });
}
