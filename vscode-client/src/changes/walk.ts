/** From one change that waits to the next, through all files. */
import * as vscode from "vscode";
import type { Review } from "./review";

interface Stop {
  path: string;
  line: number;
}

export async function walk(review: Review, step: 1 | -1): Promise<void> {
  const stops: Stop[] = review.pending
    .flatMap(({ file, hunks }) => hunks.map((hunk) => ({ path: file.path, line: hunk.line })))
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const stop = next(stops, step);
  if (!stop) return;
  const selection = new vscode.Range(stop.line, 0, stop.line, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(stop.path), { selection });
}

function next(stops: Stop[], step: 1 | -1): Stop | undefined {
  const editor = vscode.window.activeTextEditor;
  const path = editor?.document.uri.fsPath ?? "";
  const line = editor?.selection.active.line ?? 0;
  const isBehind = (stop: Stop) =>
    stop.path === path ? (stop.line - line) * step > 0 : (stop.path > path ? 1 : -1) * step > 0;
  const ordered = step === 1 ? stops : [...stops].reverse();
  return ordered.find(isBehind) ?? ordered[0];
}
