/** What is wrong, and what to do about it. */

import type { Panel } from "../state/model";
import { IconButton } from "./Icon";
import { useShared } from "./context";

export function ServerBanner({ server }: { server: Panel["server"] }) {
  const { controller } = useShared();
  if (server.state === "ready") return null;
  if (server.state === "starting") {
    return <p class="banner" role="status"><span class="spinner" /> {server.message || "The Pails server is starting…"}</p>;
  }
  return (
    <div class="banner banner-error" role="alert">
      <p>{server.message || "The Pails server has ended. The session is kept; restart the server to go on."}</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => controller.host("restartServer")}>Restart</button>
        <button type="button" onClick={() => controller.host("openLog")}>Show log</button>
        <button type="button" onClick={() => controller.host("openSettings")}>Settings</button>
      </div>
    </div>
  );
}

export function FailureBanner({ text, onDismiss }: { text: string; onDismiss(): void }) {
  if (!text) return null;
  return (
    <div class="banner banner-error banner-line" role="alert">
      <p>{text}</p>
      <IconButton icon="cross" label="Dismiss" onClick={onDismiss} />
    </div>
  );
}
