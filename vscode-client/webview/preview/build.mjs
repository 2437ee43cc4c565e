// Builds the preview beside the bundles: node webview/preview/build.mjs, then open dist/preview/index.html#approval
import { build } from "esbuild";
import { copyFileSync } from "node:fs";

await build({
  entryPoints: { preview: "webview/preview/preview.tsx" },
  bundle: true,
  outdir: "dist/preview",
  format: "iife",
  target: "chrome120",
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: "inline",
});
copyFileSync("webview/preview/index.html", "dist/preview/index.html");
