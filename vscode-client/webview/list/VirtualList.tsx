/** A feed that renders only the rows near the view, keeps what one reads in place, and follows its end. */

import type { ComponentChildren, RefObject } from "preact";
import { useCallback, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { memo } from "../components/memo";
import { place, range, rowAt } from "./offsets";

export interface ListHandle {
  toEnd(): void;
  /** Bring the row into view and give it the focus. */
  focusRow(key: string): void;
  focusNext(step: 1 | -1, wanted?: (key: string) => boolean): void;
}

export interface ListProps<Row extends { key: string }> {
  readonly rows: readonly Row[];
  readonly label: string;
  readonly busy: boolean;
  readonly handle: RefObject<ListHandle | null>;
  estimate(row: Row): number;
  render(row: Row): ComponentChildren;
  /** Rows that stay rendered wherever they are: a person has begun something in them. */
  keep(row: Row): boolean;
  onAtEnd(atEnd: boolean): void;
}

const OVERSCAN = 500;
const NEAR_END = 24;
/** Where there is no layout, as in a test, this is the view. */
const NO_LAYOUT_HEIGHT = 4000;

export function VirtualList<Row extends { key: string }>(props: ListProps<Row>) {
  const { rows, estimate, keep, onAtEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const follow = useRef(true);
  const lastTop = useRef(0);
  const anchor = useRef<{ key: string; delta: number } | null>(null);
  const focused = useRef<string | null>(null);
  const wantsFocus = useRef<string | null>(null);
  const [, redraw] = useState(0);
  const again = useCallback(() => redraw((count) => count + 1), []);

  const where = place(rows.length, (at) => {
    const row = rows[at];
    return row ? (heights.current.get(row.key) ?? estimate(row)) : 0;
  });
  const view = scroller.current?.clientHeight || NO_LAYOUT_HEIGHT;
  const top = wantedTop();
  const { first, last } = range(where, top - OVERSCAN, top + view + OVERSCAN);

  function wantedTop(): number {
    if (follow.current) return Math.max(0, where.total - view);
    const held = anchor.current;
    const at = held ? rows.findIndex((row) => row.key === held.key) : -1;
    if (!held || at < 0) return lastTop.current;
    return Math.max(0, (where.tops[at] ?? 0) + held.delta);
  }

  const observer = useMemo(() => observe(heights.current, again), [again]);
  useLayoutEffect(() => () => observer?.disconnect(), [observer]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (Math.abs(element.scrollTop - top) >= 1) element.scrollTop = top;
    lastTop.current = element.scrollTop;
    const wanted = wantsFocus.current;
    const row = wanted === null ? undefined : rowElement(element, wanted);
    if (row) {
      wantsFocus.current = null;
      (row.querySelector<HTMLElement>("[data-focus]") ?? row).focus({ preventScroll: true });
    }
  });

  function onScroll(): void {
    const element = scroller.current;
    if (!element) return;
    const now = element.scrollTop;
    const atEnd = now + element.clientHeight >= where.total - NEAR_END;
    // Growing text never moves the view up, so a smaller top is the person's wish.
    const follows = atEnd || (follow.current && now >= lastTop.current);
    hold(now);
    lastTop.current = now;
    setFollow(follows);
    const seen = range(where, now - OVERSCAN / 2, now + element.clientHeight + OVERSCAN / 2);
    if (seen.first < first || seen.last > last) again();
  }

  /** Remember what is at the top of the view; it stays there whatever happens above. */
  function hold(now: number): void {
    const at = rowAt(where, now);
    const row = rows[at];
    anchor.current = row ? { key: row.key, delta: now - (where.tops[at] ?? 0) } : null;
  }

  function setFollow(follows: boolean): void {
    if (follow.current === follows) return;
    follow.current = follows;
    onAtEnd(follows);
  }

  /** What is unfolded grows downwards, also at the end. */
  function onToggle(event: Event): void {
    if (!(event.target as Element).closest("[data-fold]")) return;
    hold(scroller.current?.scrollTop ?? 0);
    setFollow(false);
  }

  function focusRow(key: string): void {
    const at = rows.findIndex((row) => row.key === key);
    if (at < 0) return;
    const { tops } = where;
    const inView = (tops[at] ?? 0) >= top && (tops[at + 1] ?? 0) <= top + view;
    if (!inView) {
      setFollow(false);
      anchor.current = { key, delta: -Math.min(48, view / 8) };
    }
    focused.current = wantsFocus.current = key;
    again();
  }

  useImperativeHandle(props.handle, () => ({
    toEnd() {
      setFollow(true);
      again();
    },
    focusRow,
    focusNext(step, wanted = () => true) {
      const from = rows.findIndex((row) => row.key === focused.current);
      const start = from < 0 ? rowAt(where, top) : from + step;
      for (let at = start; at >= 0 && at < rows.length; at += step) {
        const row = rows[at];
        if (row && wanted(row.key)) return focusRow(row.key);
      }
    },
  }));

  const drawn: ComponentChildren[] = [];
  rows.forEach((row, at) => {
    const near = at >= first && at <= last;
    if (!near && row.key !== focused.current && !keep(row)) return;
    drawn.push(
      <Item
        key={row.key}
        row={row}
        top={where.tops[at] ?? 0}
        position={at + 1}
        count={rows.length}
        render={props.render}
        observer={observer}
      />,
    );
  });
  return (
    <div
      ref={scroller}
      class="stream"
      role="feed"
      aria-label={props.label}
      aria-busy={props.busy}
      tabIndex={0}
      onScroll={onScroll}
      onClickCapture={onToggle}
      onFocusIn={(event) => {
        focused.current = keyOf(event.target as Element) ?? focused.current;
      }}
    >
      <div class="stream-rows" style={{ height: `${where.total}px` }}>
        {drawn}
      </div>
    </div>
  );
}

interface ItemProps {
  row: { key: string };
  top: number;
  position: number;
  count: number;
  render(row: never): ComponentChildren;
  observer: ResizeObserver | null;
}

/** One row at its place. What is in it is drawn again only when the row is another object. */
function Item({ row, top, position, count, render, observer }: ItemProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const own = element.current;
    if (!own || !observer) return;
    observer.observe(own);
    return () => observer.unobserve(own);
  }, [observer]);
  return (
    <div
      ref={element}
      class="stream-row"
      role="article"
      aria-posinset={position}
      aria-setsize={count}
      tabIndex={-1}
      data-key={row.key}
      style={{ transform: `translateY(${top}px)` }}
    >
      <Content row={row} render={render} />
    </div>
  );
}

const Content = memo(function Content(props: Pick<ItemProps, "row" | "render">) {
  return <>{props.render(props.row as never)}</>;
});

/** Keeps the measured heights; `changed` once for all rows of a frame. */
function observe(heights: Map<string, number>, changed: () => void): ResizeObserver | null {
  if (typeof ResizeObserver === "undefined") return null;
  return new ResizeObserver((entries) => {
    let any = false;
    for (const { target, borderBoxSize } of entries) {
      const key = (target as HTMLElement).dataset["key"];
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (key === undefined || height === 0 || heights.get(key) === height) continue;
      heights.set(key, height);
      any = true;
    }
    if (any) changed();
  });
}

function rowElement(root: Element, key: string): HTMLElement | undefined {
  return [...root.querySelectorAll<HTMLElement>("[data-key]")].find((row) => keyOf(row) === key);
}

function keyOf(element: Element): string | undefined {
  return element.closest<HTMLElement>("[data-key]")?.dataset["key"];
}
