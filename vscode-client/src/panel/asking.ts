/** Approvals and questions: the panel shows them when it is visible, a notification when it is not. */
import * as vscode from "vscode";
import type { ApprovalRequestParams, ApprovalRequestResult, QuestionAskParams, QuestionAskResult } from "../wire";

/** More than this is not read in a notification, so it is decided in the panel. */
const MAX_NOTIFIED = 240;
/** Control, format and bidirectional characters: what a text may hide. */
const HIDDEN = /[^\P{Cc}\n\t]|[\p{Cf}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/u;

export interface Panel {
  readonly visible: boolean;
  reveal(): void;
}

/** Resolves when the server no longer waits: it was answered in the panel, or its turn ended. */
function withdrawn(token: vscode.CancellationToken): Promise<undefined> {
  return new Promise((resolve) => {
    if (token.isCancellationRequested) resolve(undefined);
    token.onCancellationRequested(() => resolve(undefined));
  });
}

export async function approve(
  panel: Panel,
  request: ApprovalRequestParams,
  token: vscode.CancellationToken,
): Promise<ApprovalRequestResult> {
  if (panel.visible) {
    await withdrawn(token);
    return { choice: "unanswered" };
  }
  const said = await Promise.race([notify(panel, request, token), withdrawn(token)]);
  if (said) return said;
  await withdrawn(token); // the panel has it now
  return { choice: "unanswered" };
}

/** undefined: the person went to the panel, or closed the notification, which waits there. */
async function notify(
  panel: Panel,
  request: ApprovalRequestParams,
  token: vscode.CancellationToken,
): Promise<ApprovalRequestResult | undefined> {
  const isShort = request.text.length <= MAX_NOTIFIED && !HIDDEN.test(request.text) && !request.diff;
  const allow = isShort ? ["Allow Once"] : [];
  const shown = isShort ? `Pails asks: ${request.text} (${request.reason})` : `Pails asks: ${request.title}`;
  const choice = await vscode.window.showWarningMessage(shown, ...allow, "Reject…", "Show");
  if (token.isCancellationRequested) {
    if (choice) void vscode.window.showInformationMessage("Pails: this was answered meanwhile. Nothing was changed by your click.");
    return undefined;
  }
  if (choice === "Allow Once") return { choice: "allowOnce" };
  if (choice === "Reject…") {
    const feedback = await vscode.window.showInputBox({
      title: "Pails: why not?",
      prompt: "Told to the model. Leave it empty to reject without a reason.",
    });
    return feedback === undefined ? undefined : { choice: "reject", feedback };
  }
  if (choice === "Show") panel.reveal();
  return undefined;
}

/** A question of a command comes before there is a turn, so the panel knows nothing of it. */
export async function answer(
  panel: Panel,
  question: QuestionAskParams,
  token: vscode.CancellationToken,
): Promise<QuestionAskResult> {
  if (panel.visible && question.questionId) {
    await withdrawn(token);
    return { answer: null };
  }
  const title = "Pails asks";
  const picked = question.options.length
    ? await vscode.window.showQuickPick(question.options, { title, placeHolder: question.text, ignoreFocusOut: true }, token)
    : await vscode.window.showInputBox({ title, prompt: question.text, ignoreFocusOut: true }, token);
  if (picked === undefined && question.questionId && !token.isCancellationRequested) {
    panel.reveal(); // it still waits there
    await withdrawn(token);
  }
  return { answer: picked ?? null };
}
