/** The page of the panel. Nothing in it runs but our bundle, and nothing is loaded from elsewhere. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function page(webview: vscode.Webview, root: vscode.Uri): string {
  const nonce = randomBytes(18).toString("base64");
  const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(root, "dist", name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri("panel.css")}">
<title>Pails</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${uri("panel.js")}"></script>
</body>
</html>`;
}
