/** The item in the status bar: how the server stands, and what waits for review. */
import * as vscode from "vscode";
import type { Server } from "./server";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("pails", vscode.StatusBarAlignment.Right, 90);
  private pending = 0;

  constructor(private readonly server: Server) {
    this.item.name = "Pails";
    server.onDidChange(() => this.show());
    this.show();
    this.item.show();
  }

  /** How many changes wait to be accepted or rejected. */
  setPending(count: number): void {
    this.pending = count;
    this.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(): void {
    const { state, message } = this.server;
    const icon = { starting: "$(loading~spin)", ready: "$(pails-bucket)", stopped: "$(warning)" }[state];
    const count = this.pending ? ` ${this.pending}` : "";
    this.item.text = state === "ready" ? `Pails${count}` : `${icon} Pails`;
    this.item.tooltip =
      message || (this.pending ? `${this.pending} changes wait for your review` : `Pails: ${state}`);
    this.item.command = state === "stopped" ? "pails.restartServer" : this.pending ? "pails.changes.focus" : "pails.focusChat";
    this.item.backgroundColor =
      state === "stopped" && message ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }
}
