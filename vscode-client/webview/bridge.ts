/** The panel's way to the extension: questions with answers, things to be done, and what is kept. */

import type { Action, FromPanel, PanelMethod, ToPanel } from "../src/shared/messages";
import type { Requests } from "../src/wire";

export interface HostApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Bridge {
  private lastId = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly host: HostApi) {}

  /** Pass a request on. Rejects with the server's sentence for a person. */
  ask<M extends PanelMethod>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: (result) => resolve(result as Requests[M]["result"]), reject });
      this.send({ kind: "ask", id, method, params });
    });
  }

  do(action: Action): void {
    this.send({ kind: "do", ...action });
  }

  ready(sessionId: string | undefined, afterSeq: number): void {
    this.send(sessionId === undefined ? { kind: "ready" } : { kind: "ready", sessionId, afterSeq });
  }

  answered({ id, result, error }: Extract<ToPanel, { kind: "answer" }>): void {
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error));
  }

  private send(message: FromPanel): void {
    this.host.postMessage(message);
  }
}
