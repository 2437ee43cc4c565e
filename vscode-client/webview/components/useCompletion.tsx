/** The list of completions under the caret, as a listbox that the text area owns. */

import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Option, Query } from "../complete";
import { complete, queryAt } from "../complete";
import type { Controller } from "../controller";

interface Shown {
  readonly query: Query;
  readonly options: readonly Option[];
  readonly at: number;
}

const NONE: readonly Option[] = [];

type Taken = (text: string, caret: number, option: Option) => void;

export function useCompletion(area: RefObject<HTMLTextAreaElement | null>, controller: Controller, onTake: Taken) {
  const [shown, setShown] = useState<Shown | null>(null);
  const asked = useRef(0);
  const options = shown?.options ?? NONE;

  const close = (): void => {
    asked.current += 1;
    if (shown) setShown(null);
  };
  /** Ask for what fits at the caret. An answer that comes too late is dropped. */
  const look = (): void => {
    const element = area.current;
    const caret = element?.selectionStart ?? 0;
    const query = element && caret === element.selectionEnd ? queryAt(element.value.slice(0, caret)) : null;
    if (!query) return close();
    const id = ++asked.current;
    if (shown && shown.query.start === query.start && shown.query.text === query.text) return;
    void complete(query, controller.lookUp).then((found) => {
      if (id === asked.current) setShown(found.length ? { query, options: found, at: 0 } : null);
    });
  };
  const take = (at = shown?.at ?? 0): void => {
    const element = area.current;
    const option = options[at];
    if (!shown || !element || !option) return;
    const { start } = shown.query;
    const after = element.value.slice(element.selectionStart);
    close();
    onTake(element.value.slice(0, start) + option.text + after, start + option.text.length, option);
  };
  const move = (step: number): void => {
    if (shown) setShown({ ...shown, at: (shown.at + step + options.length) % options.length });
  };
  const aria = {
    "aria-autocomplete": "list",
    "aria-haspopup": "listbox",
    "aria-controls": "completions",
    "aria-activedescendant": options.length ? `completion-${shown?.at ?? 0}` : undefined,
  } as const;
  const list = options.length > 0 && (
    <ul id="completions" class="completions" role="listbox" aria-label="Completions">
      {options.map((option, at) => (
        <li
          key={option.label}
          id={`completion-${at}`}
          role="option"
          aria-selected={at === shown?.at}
          onMouseDown={(event) => {
            event.preventDefault();
            take(at);
          }}
        >
          <span>{option.label}</span> <span class="quiet">{option.detail}</span>
        </li>
      ))}
    </ul>
  );
  return { options, look, take, move, close, aria, list };
}
