/** The texts of files with hunks of a proposal in them, as the person has edited these. */
import * as vscode from "vscode";
import type { ProposedHunk } from "../wire";

/** By absolute path. Throws when a file is not what the proposal was made for. */
export async function textsWith(hunks: readonly ProposedHunk[]): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of new Set(hunks.map((hunk) => hunk.path))) {
    const text = await currentText(path);
    const its = hunks.filter((hunk) => hunk.path === path);
    texts[path] = withHunks(text, its);
  }
  return texts;
}

/** `old` and `new` of a hunk are whole lines with their ends; `line` is where `old` begins, from 0. */
export function withHunks(text: string, hunks: readonly ProposedHunk[]): string {
  const lines = splitLines(text);
  for (const hunk of [...hunks].sort((a, b) => b.line - a.line)) {
    const count = splitLines(hunk.old).length;
    const there = lines.slice(hunk.line, hunk.line + count).join("");
    if (plain(there) !== plain(hunk.old)) {
      throw new Error("The file has changed since this was proposed. Nothing was allowed; reject it, or allow it as it is.");
    }
    lines.splice(hunk.line, count, hunk.new);
  }
  return lines.join("");
}

async function currentText(path: string): Promise<string> {
  const uri = vscode.Uri.file(path);
  const exists = await vscode.workspace.fs.stat(uri).then(() => true, () => false);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.fsPath === uri.fsPath);
  if (!exists && !open) return "";
  return (open ?? (await vscode.workspace.openTextDocument(uri))).getText();
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function plain(text: string): string {
  return text.replace(/\r\n/g, "\n");
}
