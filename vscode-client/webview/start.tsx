/** Puts the parts of the panel together on a page, for a host that may be VS Code or a preview. */

import { render } from "preact";
import type { ToPanel } from "../src/shared/messages";
import { Bridge, type HostApi } from "./bridge";
import { App } from "./components/App";
import { Controller } from "./controller";
import type { Panel } from "./state/model";
import { shownSession } from "./state/panel";
import { Store } from "./store";

/** What the host keeps while the page is gone. */
interface Kept {
  readonly sessionId?: string;
  readonly lastSeq?: number;
  readonly draft?: string;
}

const KEEP_AFTER = 300;

/** Returns how to take it away again. */
export function start(root: HTMLElement, host: HostApi): () => void {
  const store = new Store();
  const bridge = new Bridge(host);
  const controller = new Controller(store, bridge);
  const act = store.act.bind(store);
  const draw = (panel: Panel): void => render(<App panel={panel} controller={controller} act={act} />, root);
  const keep = keeper(host);

  const kept = (host.getState() ?? {}) as Kept;
  if (kept.draft) act({ kind: "compose", text: kept.draft });
  const unsubscribe = store.subscribe((panel) => {
    draw(panel);
    controller.fillGap();
    keep(panel);
  });
  const receive = (event: MessageEvent<ToPanel>): void => controller.receive(event.data);
  window.addEventListener("message", receive);
  draw(store.current);
  // The page begins with nothing, so all events of the session are wanted, whatever it had seen.
  bridge.ready(kept.sessionId, 0);
  return () => {
    window.removeEventListener("message", receive);
    unsubscribe();
    render(null, root);
  };
}

/** Writes what is to be kept a moment after it has changed. */
function keeper(host: HostApi): (panel: Panel) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: Panel;
  const write = (): void => {
    timer = undefined;
    const session = shownSession(newest);
    const draft = newest.draft.editing?.before ?? newest.draft.text;
    const kept: Kept = session ? { sessionId: session.id, lastSeq: session.lastSeq, draft } : { draft };
    host.setState(kept);
  };
  window.addEventListener("pagehide", () => timer !== undefined && write());
  return (panel) => {
    newest = panel;
    timer ??= setTimeout(write, KEEP_AFTER);
  };
}
