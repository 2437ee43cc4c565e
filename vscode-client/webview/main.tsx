/** Starts the panel within VS Code's webview. */

import "./style.css";
import type { HostApi } from "./bridge";
import { start } from "./start";

declare function acquireVsCodeApi(): HostApi;

const root = document.getElementById("root");
if (root) start(root, acquireVsCodeApi());
