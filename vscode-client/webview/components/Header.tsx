/** The title of the session, and the list of the others. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionSummary } from "../../src/wire";
import { ago, baseName } from "../text/format";
import { IconButton } from "./Icon";
import { memo } from "./memo";
import { useShared } from "./context";

interface HeaderProps {
  readonly title: string;
  readonly list: readonly SessionSummary[] | null;
  readonly shown: string | null;
  readonly ready: boolean;
  onCloseList(): void;
}

export const Header = memo(function Header({ title, list, shown, ready, onCloseList }: HeaderProps) {
  const { controller } = useShared();
  return (
    <header class="header">
      <h1 title={title}>{title}</h1>
      <IconButton icon="history" label="Sessions" disabled={!ready} onClick={() => (list ? onCloseList() : void controller.listSessions())} />
      <IconButton icon="plus" label="New session" disabled={!ready} onClick={() => controller.newSession()} />
      {list && <Sessions list={list} shown={shown} onClose={onCloseList} />}
    </header>
  );
});

function Sessions({ list, shown, onClose }: { list: readonly SessionSummary[]; shown: string | null; onClose(): void }) {
  const { controller } = useShared();
  const input = useRef<HTMLInputElement>(null);
  const [filter, setFilter] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => input.current?.focus(), []);
  const wanted = filter.toLowerCase();
  const found = list.filter((one) => `${one.title} ${one.workspace}`.toLowerCase().includes(wanted)).slice(0, 100);
  const now = Date.now() / 1000;
  const open = (one: SessionSummary | undefined): void => {
    if (one) controller.openSession(one.sessionId);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && found.length) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter" && !event.isComposing) open(found[at]);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="sessions" role="dialog" aria-label="Sessions" onKeyDown={onKeyDown}>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="session-list"
        aria-activedescendant={found.length ? `session-${at}` : undefined}
        aria-label="Search sessions"
        placeholder="Search sessions"
        onInput={(event) => {
          setFilter(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="session-list" role="listbox" aria-label="Sessions">
        {found.map((one, index) => (
          <li key={one.sessionId} id={`session-${index}`} role="option" aria-selected={index === at} data-shown={one.sessionId === shown} onClick={() => open(one)}>
            <span class="session-title">{one.title || "Untitled"}</span>
            <span class="quiet">{baseName(one.workspace)} · {ago(one.updatedAt, now)}</span>
          </li>
        ))}
        {found.length === 0 && <li class="quiet">{list.length ? "No session has these words." : "There is no session yet."}</li>}
      </ul>
    </div>
  );
}
