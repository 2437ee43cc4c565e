/** What the components share: the controller, the workspace, and what is folded open. */

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import type { Controller } from "../controller";

export interface Shared {
  readonly controller: Controller;
  readonly workspace: string;
  /** By key: what the person has opened or closed. Outlives rows that scroll out of sight. */
  readonly folds: Map<string, boolean>;
}

export const SharedContext = createContext<Shared | null>(null);

export function useShared(): Shared {
  const shared = useContext(SharedContext);
  if (!shared) throw new Error("A component stands outside of SharedContext.");
  return shared;
}

/** Whether a part is open, and how to change that. */
export function useFold(key: string, byDefault = false): [boolean, () => void] {
  const { folds } = useShared();
  const [, redraw] = useState(0);
  const open = folds.get(key) ?? byDefault;
  const toggle = (): void => {
    folds.set(key, !open);
    redraw((count) => count + 1);
  };
  return [open, toggle];
}
