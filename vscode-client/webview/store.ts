/** Holds the model and tells of changes: a person's own actions at once, messages once a frame. */

import type { ToPanel } from "../src/shared/messages";
import type { Panel } from "./state/model";
import { EMPTY_PANEL } from "./state/model";
import type { Action } from "./state/panel";
import { reduce } from "./state/panel";

/** A hidden page draws no frames; its messages are taken this often, in milliseconds. */
const HIDDEN_INTERVAL = 200;

export class Store {
  private panel: Panel = EMPTY_PANEL;
  private readonly arrived: ToPanel[] = [];
  private scheduled = false;
  private readonly listeners = new Set<(panel: Panel) => void>();

  get current(): Panel {
    return this.panel;
  }

  subscribe(listener: (panel: Panel) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Something the person did. What arrived before it is taken first. */
  act(action: Action): void {
    this.take([...this.arrived.splice(0), action]);
  }

  /** A message of the extension. */
  receive(message: ToPanel): void {
    this.arrived.push(message);
    if (this.scheduled) return;
    this.scheduled = true;
    const flush = (): void => {
      this.scheduled = false;
      this.take(this.arrived.splice(0));
    };
    if (document.visibilityState === "hidden") setTimeout(flush, HIDDEN_INTERVAL);
    else requestAnimationFrame(flush);
  }

  private take(messages: readonly (ToPanel | Action)[]): void {
    const next = messages.reduce(reduce, this.panel);
    if (next === this.panel) return;
    this.panel = next;
    for (const listener of this.listeners) listener(next);
  }
}
