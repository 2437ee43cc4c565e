// Two bundles: the extension (Node) and the panel (browser).
import { build } from "esbuild";
import { existsSync } from "node:fs";

const common = { bundle: true, minify: true, sourcemap: false, legalComments: "none", logLevel: "warning" };

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
});

if (existsSync("webview/main.tsx")) {
  await build({
    ...common,
    entryPoints: { panel: "webview/main.tsx" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "chrome120",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
}
