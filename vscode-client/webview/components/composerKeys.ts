/** What a key means to the composer. Pure. */

export type ComposerIntent =
  | "send"
  | "steer"
  | "take"
  | "next"
  | "previous"
  | "closeList"
  | "older"
  | "newer"
  | "leave"
  | "stop";

export interface ComposerState {
  /** A list of completions is shown. */
  readonly listed: boolean;
  readonly empty: boolean;
  /** What stands there is an earlier prompt, as it was. */
  readonly browsing: boolean;
}

type Key = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey" | "isComposing" | "keyCode">;

/** Null: the key does what it does in any text. */
export function composerIntent(event: Key, state: ComposerState): ComposerIntent | null {
  // While an input method composes, all keys are its own; 229 is how some say so.
  if (event.isComposing || event.keyCode === 229) return null;
  const { key } = event;
  const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (key === "Escape" && event.shiftKey) return "stop";
  if (state.listed && plain) {
    if (key === "ArrowDown") return "next";
    if (key === "ArrowUp") return "previous";
    if (key === "Enter" || key === "Tab") return "take";
    if (key === "Escape") return "closeList";
  }
  if (key === "Enter" && !event.shiftKey && !event.altKey) return event.ctrlKey || event.metaKey ? "steer" : "send";
  if (key === "ArrowUp" && plain && (state.empty || state.browsing)) return "older";
  if (key === "ArrowDown" && plain && state.browsing) return "newer";
  if (key === "Escape" && plain) return "leave";
  return null;
}
