/** What the person has set, as the server takes it. */
import * as vscode from "vscode";

const API_KEY = "pails.apiKey";

/** The settings that are not at their default: the server merges them over its own files. */
export function serverSettings(): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration("pails");
  const said: Record<string, unknown> = {};
  for (const name of ["model", "baseUrl", "mode", "maxRounds"]) {
    const found = settings.inspect(name);
    // A folder of a stranger may choose a model, but neither whom it is asked nor more rights;
    // the server guards that for its own file, and the scopes of the manifest do for these.
    const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (value !== undefined && value !== "") said[name] = value;
  }
  return said;
}

/** The program of the server: the setting, else `pails` on the PATH. */
export function serverCommand(): string {
  return vscode.workspace.getConfiguration("pails").get<string>("server.path") || "pails";
}

/** The key reaches the server through its environment and is written nowhere. */
export async function serverEnvironment(secrets: vscode.SecretStorage): Promise<NodeJS.ProcessEnv> {
  const key = await secrets.get(API_KEY);
  return key ? { ...process.env, PAILS_API_KEY: key } : { ...process.env };
}

/** Ask for the key and keep it in the secret storage; false when the person thinks better of it. */
export async function askApiKey(secrets: vscode.SecretStorage): Promise<boolean> {
  const key = await vscode.window.showInputBox({
    title: "Pails: API key of your model's provider",
    prompt: "Kept in the secret storage of the editor. Neither settings nor logs ever hold it.",
    password: true,
    ignoreFocusOut: true,
  });
  if (!key?.trim()) return false;
  await secrets.store(API_KEY, key.trim());
  return true;
}

export async function forgetApiKey(secrets: vscode.SecretStorage): Promise<void> {
  await secrets.delete(API_KEY);
}
