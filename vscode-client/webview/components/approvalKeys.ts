/** What a key means to an approval that has the focus. */

export type ApprovalKey = "allowOnce" | "allowSession" | "reject" | "nothing";

const KEYS: Readonly<Record<string, ApprovalKey>> = {
  y: "allowOnce",
  a: "allowSession",
  n: "reject",
};

/**
 * Null: not ours, the key does what it always does. "nothing": it is swallowed. `deaf`: the focus
 * has only just come here, and the key was meant for what had it before.
 */
export function approvalKey(event: KeyboardEvent, deaf: boolean): ApprovalKey | null {
  const { target, currentTarget } = event;
  if (target instanceof HTMLElement && target.closest("input, textarea, select")) return null;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return null;
  // On a button Enter presses that button, as anywhere; on the block it must not allow by accident.
  if (event.key === "Enter" || event.key === " ") return target === currentTarget ? "nothing" : null;
  const meant = KEYS[event.key.toLowerCase()];
  if (!meant) return null;
  return deaf || event.repeat ? "nothing" : meant;
}
