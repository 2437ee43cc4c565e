/** Where one writes: prompt, attachments, completion, mode and model, send and stop. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Attachment, Mode } from "../../src/wire";
import { commandOf, type Option } from "../complete";
import { attachmentName } from "../controller";
import type { Draft } from "../state/model";
import { tokens } from "../text/format";
import { composerIntent } from "./composerKeys";
import { Icon, IconButton } from "./Icon";
import { memo } from "./memo";
import { useShared } from "./context";
import { useCompletion } from "./useCompletion";
import { History } from "./history";

export interface ComposerProps {
  readonly draft: Draft;
  readonly focusWanted: number;
  readonly ready: boolean;
  readonly sending: boolean;
  readonly running: boolean;
  readonly mode: Mode;
  readonly model: string;
  readonly context: number;
  readonly earlier: readonly string[];
  onTyped(text: string): void;
  onAttach(attachment: Attachment): void;
  onDetach(at: number): void;
  onStopEditing(): void;
  /** Escape with nothing else to do. */
  onLeave(): void;
}

const MODES: Readonly<Record<Mode, { name: string; about: string }>> = {
  auto: { name: "Auto", about: "Edits in the workspace pass, commands ask" },
  ask: { name: "Ask", about: "Every edit and command asks" },
  plan: { name: "Plan", about: "Reads only" },
};

export const Composer = memo(function Composer(props: ComposerProps) {
  const { draft, ready, running, sending } = props;
  const { controller } = useShared();
  const area = useRef<HTMLTextAreaElement>(null);
  const history = useMemo(() => new History(), []);
  const [browsing, setBrowsing] = useState(false);
  const completion = useCompletion(area, controller, (text, caret, option: Option) => {
    set(text, caret);
    if (option.attachment) props.onAttach(option.attachment);
    // What is taken may ask for more, such as the name of a model.
    if (/[ /]$/.test(option.text)) completion.look();
  });
  const canSend = ready && !sending && draft.text.trim() !== "";

  // The text area keeps its own text, so that nothing touches it while an input method composes.
  useLayoutEffect(() => {
    const element = area.current;
    if (!element || element.value === draft.text) return;
    element.value = draft.text;
    element.selectionStart = element.selectionEnd = draft.text.length;
  }, [draft.version]);
  useEffect(() => {
    if (props.focusWanted > 0) area.current?.focus();
  }, [props.focusWanted]);

  function set(text: string, caret = text.length): void {
    const element = area.current;
    if (!element) return;
    element.value = text;
    element.selectionStart = element.selectionEnd = caret;
    props.onTyped(text);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const state = { listed: completion.options.length > 0, empty: draft.text === "", browsing };
    const intent = composerIntent(event, state);
    if (intent === null) return;
    event.preventDefault();
    if (intent === "send" || intent === "steer") submit(intent === "steer" && running);
    else if (intent === "take") completion.take();
    else if (intent === "next") completion.move(1);
    else if (intent === "previous") completion.move(-1);
    else if (intent === "closeList") completion.close();
    else if (intent === "older" || intent === "newer") browse(intent);
    else if (intent === "stop") void (running && controller.stop());
    else if (draft.editing) props.onStopEditing();
    else props.onLeave();
  }

  function chooseModel(): void {
    area.current?.focus();
    // A prompt that stands there is not lost: it comes back with ArrowUp.
    if (draft.text.trim() !== "") history.keep(draft.text);
    set("/model ");
    completion.look();
  }

  function browse(direction: "older" | "newer"): void {
    const text = direction === "older" ? history.older(props.earlier) : history.newer(props.earlier);
    if (text === null) return;
    set(text);
    setBrowsing(text !== "");
  }

  function submit(steer = false): void {
    history.leave();
    setBrowsing(false);
    completion.close();
    const command = draft.editing ? null : commandOf(draft.text);
    if (command) {
      set("");
      void controller.command(command.name, command.argument);
    } else if (canSend) void controller.send(steer);
  }

  const hint = running ? "Queue a prompt. Ctrl+Enter: into the running turn" : "Ask for something. / for commands";
  return (
    <div class="composer">
      {draft.editing && (
        <p class="editing">
          <Icon name="pencil" /> Editing an earlier prompt: the turns after it leave the talk, files stay.
          <button type="button" class="link" onClick={props.onStopEditing}>Cancel <kbd>Esc</kbd></button>
        </p>
      )}
      {completion.list}
      <div class="composer-box">
        {draft.attachments.length > 0 && (
          <ul class="chips" aria-label="Attached">
            {draft.attachments.map((attachment, at) => (
              <li key={at} class="chip" title={attachment.uri}>
                <Icon name={attachment.kind === "diagnostics" ? "hand" : "file"} />
                <span>{attachmentName(attachment)}</span>
                <IconButton icon="cross" label={`Detach ${attachmentName(attachment)}`} onClick={() => props.onDetach(at)} />
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={area}
          rows={1}
          class="composer-text"
          aria-label="Prompt. Enter sends, Shift+Enter begins a new line."
          placeholder={hint}
          {...completion.aria}
          onKeyDown={onKeyDown}
          onInput={(event) => {
            const { value } = event.currentTarget;
            setBrowsing(false);
            history.leave();
            props.onTyped(value);
            completion.look();
          }}
          onSelect={completion.look}
          onBlur={completion.close}
        />
        <div class="composer-foot">
          <select class="picker" aria-label="Mode" title={MODES[props.mode].about} value={props.mode} onChange={(event) => void controller.setMode(event.currentTarget.value as Mode)}>
            {Object.entries(MODES).map(([mode, { name, about }]) => (
              <option key={mode} value={mode} title={about}>{name}</option>
            ))}
          </select>
          <button type="button" class="picker model" title={`Model: ${props.model || "not chosen yet"}. Change it with /model NAME`} onClick={chooseModel}>
            {props.model || "model"}
          </button>
          <span class="spacer" />
          {props.context > 0 && <span class="quiet weight" title="Tokens of the last request and its reply: what the conversation weighs now">{tokens(props.context)} tokens</span>}
          {running && <IconButton icon="stop" label="Stop (Shift+Escape)" class="stop" onClick={() => void controller.stop()} />}
          {(!running || draft.text.trim() !== "") && (
            <IconButton icon="send" label={running ? "Queue (Enter)" : "Send (Enter)"} class="send" disabled={!canSend} onClick={() => submit()} />
          )}
        </div>
      </div>
    </div>
  );
});
