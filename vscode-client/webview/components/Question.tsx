/** A question of the agent, with its options or a field for any answer. */

import { useRef, useState } from "preact/hooks";
import type { QuestionEntry } from "../state/model";
import { Icon } from "./Icon";
import { Markdown } from "./Markdown";
import { useShared } from "./context";

export function QuestionRow({ entry, over }: { entry: QuestionEntry; over: boolean }) {
  const { controller } = useShared();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const { asked } = entry;
  const answer = async (text: string): Promise<void> => {
    if (busy || !text) return;
    setBusy(true);
    if (!(await controller.answerQuestion(asked.questionId, text))) setBusy(false);
  };
  if (entry.answered || over) {
    return (
      <div class="question question-over">
        <Markdown text={asked.text} />
        <p class="quiet">{entry.answer === null ? "Not answered." : `You answered: ${entry.answer}`}</p>
      </div>
    );
  }
  const title = `question-${asked.questionId}`;
  return (
    <div class="question" role="group" aria-labelledby={title} tabIndex={-1} data-approval>
      <div id={title} class="question-text">
        <Icon name="question" />
        <Markdown text={asked.text} />
      </div>
      {asked.options.length > 0 && (
        <div class="options">
          {asked.options.map((option, at) => (
            <button key={option} type="button" disabled={busy} data-focus={at === 0 || undefined} onClick={() => void answer(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
      <form
        class="reject"
        onSubmit={(event) => {
          event.preventDefault();
          void answer(input.current?.value.trim() ?? "");
        }}
      >
        <input
          ref={input}
          type="text"
          data-focus={asked.options.length === 0 || undefined}
          aria-label="Your answer"
          placeholder={asked.options.length ? "Or in your own words" : "Your answer"}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.preventDefault();
          }}
        />
        <button type="submit" disabled={busy}>Answer</button>
      </form>
    </div>
  );
}
