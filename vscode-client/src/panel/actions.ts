/** What the panel has us do in the editor. */
import * as vscode from "vscode";
import type { Review } from "../changes/review";
import type { Server } from "../server/server";
import type { Action } from "../shared/messages";
import { textsWith } from "./editing";
import { pickSession } from "./sessions";
import type { Chat } from "./chat";

export class Actions {
  constructor(
    private readonly server: Server,
    private readonly review: Review,
  ) {}

  async run(asked: Action, chat: Chat): Promise<void> {
    switch (asked.action) {
      case "openFile":
        return openFile(asked.args.path, asked.args.line);
      case "openDiff":
        return this.review.openDiff(asked.args.path, asked.args.turnId, chat.sessionId);
      case "allowEdited": {
        const { hunks, ...answer } = asked.args;
        await this.server.request("pai/approval/answer", { ...answer, texts: await textsWith(hunks) });
        return;
      }
      case "openLink":
        return openLink(asked.args.url);
      case "copy":
        return vscode.env.clipboard.writeText(asked.args.text);
      case "insertCode":
        return insertCode(asked.args.text);
      case "newSession":
        return chat.newSession();
      case "openSession": {
        const chosen = asked.args.sessionId ?? (await pickSession(this.server));
        return chosen ? chat.openSession(chosen) : undefined;
      }
      case "openLog":
        return this.server.showLog();
      case "restartServer":
        return this.server.restart();
      case "openSettings":
        await vscode.commands.executeCommand("workbench.action.openSettings", asked.args.query ?? "@ext:pails.pails");
        return;
      case "setApiKey":
        await vscode.commands.executeCommand("pails.setApiKey");
        return;
    }
  }
}

/** `path` is absolute, or below a folder of the workspace; `line` counts from 1. */
async function openFile(path: string, line?: number): Promise<void> {
  const at = Math.max(0, (line ?? 1) - 1);
  const selection = line ? new vscode.Range(at, 0, at, 0) : undefined;
  await vscode.window.showTextDocument(await findFile(path), { selection, preview: true });
}

async function findFile(path: string): Promise<vscode.Uri> {
  const absolute = vscode.Uri.file(path);
  const below = (vscode.workspace.workspaceFolders ?? []).map((folder) => vscode.Uri.joinPath(folder.uri, path));
  for (const uri of path.startsWith("/") || /^[A-Za-z]:/.test(path) ? [absolute] : below) {
    const found = await vscode.workspace.fs.stat(uri).then(() => true, () => false);
    if (found) return uri;
  }
  throw new Error(`There is no file ${path} here (any more).`);
}

async function openLink(url: string): Promise<void> {
  const uri = vscode.Uri.parse(url, true);
  if (uri.scheme === "http" || uri.scheme === "https") await vscode.env.openExternal(uri);
}

/** At the cursor of the editor that was active last, in place of what is selected there. */
async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Error("No editor is open to insert it into.");
  await editor.edit((edit) => edit.replace(editor.selection, text));
}
