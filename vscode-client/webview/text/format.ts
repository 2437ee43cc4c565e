/** Small values as a person reads them. */

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function baseName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

/** The path as seen from the workspace; the whole path outside of it. */
export function shortPath(path: string, workspace: string): string {
  const root = workspace.replace(/[\\/]+$/, "");
  const inside = root !== "" && path.startsWith(root) && /[\\/]/.test(path.charAt(root.length));
  return inside ? path.slice(root.length + 1) : path;
}

/** Seconds as "0.4 s", "12 s", "3 min 5 s"; nothing where there is nothing to say. */
export function duration(seconds: number): string {
  if (seconds < 0.05) return "";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** A count of tokens in three figures: 940, 12.3k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1000) return `${count}`;
  if (count < 999_500) return `${trimmed(count / 1000)}k`;
  return `${trimmed(count / 1_000_000)}M`;
}

function trimmed(value: number): string {
  return value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : value.toFixed(0);
}

/** How long ago, in words: the list of sessions. `at` and `now` in seconds since 1970. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(at * 1000).toLocaleDateString();
}
