/** The view “Changes to review”: the files with hunks that wait, and these below them. */
import * as vscode from "vscode";
import type { HunkInfo } from "../wire";
import type { PendingFile, Review } from "./review";

type Node = { pending: PendingFile; hunk?: HunkInfo };

export class ChangesTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly review: Review) {
    review.onDidChange(() => this.changed.fire());
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.review.pending.map((pending) => ({ pending }));
    return node.hunk ? [] : node.pending.hunks.map((hunk) => ({ pending: node.pending, hunk }));
  }

  getTreeItem({ pending, hunk }: Node): vscode.TreeItem {
    return hunk ? hunkItem(pending, hunk) : fileItem(pending);
  }
}

function fileItem(pending: PendingFile): vscode.TreeItem {
  const { file, hunks } = pending;
  const item = new vscode.TreeItem(vscode.Uri.file(file.path), vscode.TreeItemCollapsibleState.Collapsed);
  const [added, removed] = [count(hunks, "new"), count(hunks, "old")];
  item.description = `+${added} −${removed}${file.created ? ", new" : ""}${file.deleted ? ", deleted" : ""}`;
  item.contextValue = "file";
  item.iconPath = vscode.ThemeIcon.File;
  item.command = { command: "pails.reviewFile", title: "Compare", arguments: [{ pending }] };
  return item;
}

function hunkItem(pending: PendingFile, hunk: HunkInfo): vscode.TreeItem {
  const text = (hunk.new || hunk.old).split("\n").find((line) => line.trim()) ?? "";
  const item = new vscode.TreeItem(text.trim() || "(blank lines)");
  item.description = `line ${hunk.line + 1}`;
  item.contextValue = "hunk";
  item.tooltip = new vscode.MarkdownString().appendCodeblock(asDiff(hunk), "diff");
  const at = new vscode.Range(hunk.line, 0, hunk.line, 0);
  item.command = {
    command: "vscode.open",
    title: "Go to",
    arguments: [vscode.Uri.file(pending.file.path), { selection: at }],
  };
  return item;
}

function asDiff(hunk: HunkInfo): string {
  const marked = (text: string, mark: string) => lines(text).map((line) => mark + line);
  return [...marked(hunk.old, "-"), ...marked(hunk.new, "+")].join("\n");
}

function lines(text: string): string[] {
  return text ? text.replace(/\r?\n$/, "").split(/\r?\n/) : [];
}

function count(hunks: HunkInfo[], side: "old" | "new"): number {
  return hunks.reduce((sum, hunk) => sum + lines(hunk[side]).length, 0);
}
