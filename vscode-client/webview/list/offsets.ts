/** Where the rows of a list are, with known and estimated heights in pixels. Pure. */

export interface Place {
  /** Top of each row, and behind the last one the height of the whole. */
  readonly tops: Float64Array;
  readonly total: number;
}

export function place(count: number, height: (at: number) => number): Place {
  const tops = new Float64Array(count + 1);
  for (let at = 0; at < count; at++) tops[at + 1] = (tops[at] ?? 0) + height(at);
  return { tops, total: tops[count] ?? 0 };
}

/** The row that has this point; the last one below the end. */
export function rowAt({ tops }: Place, y: number): number {
  let low = 0;
  let high = Math.max(0, tops.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** First and last row that any part between these points shows. */
export function range(where: Place, from: number, to: number): { first: number; last: number } {
  return { first: rowAt(where, Math.max(0, from)), last: rowAt(where, Math.max(0, to)) };
}
