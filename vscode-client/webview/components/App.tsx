/** The panel: header, stream, strips, composer. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Attachment } from "../../src/wire";
import type { Controller } from "../controller";
import { VirtualList, type ListHandle } from "../list/VirtualList";
import { pendingEntries, spokenPending, spokenTurn } from "../state/attention";
import type { Panel, Session } from "../state/model";
import { type Action, shownSession } from "../state/panel";
import { goneTurns } from "../state/rewinds";
import { type Row, rowMemory, waitingPrompts } from "../state/rows";
import { FailureBanner, ServerBanner } from "./Banner";
import { Composer } from "./Composer";
import { Empty } from "./Empty";
import { Guard } from "./Guard";
import { Header } from "./Header";
import { Icon } from "./Icon";
import { estimate } from "./estimate";
import { RewindDialog } from "./Rewind";
import { StreamRow } from "./StreamRow";
import { ChangesStrip, PlanStrip, QueueStrip } from "./Strips";
import { SharedContext, type Shared } from "./context";

interface AppProps {
  readonly panel: Panel;
  readonly controller: Controller;
  act(action: Action): void;
}

const NONE: readonly never[] = [];

export function App({ panel, controller, act }: AppProps) {
  const session = shownSession(panel);
  const list = useRef<ListHandle>(null);
  const workspace = session?.workspace ?? "";
  const folds = useMemo(() => new Map<string, boolean>(), [panel.shown]);
  const shared = useMemo<Shared>(() => ({ controller, workspace, folds }), [controller, workspace, folds]);
  const rowsOf = useMemo(rowMemory, [panel.shown]);
  const known = session ? rowsOf(session) : NONE;
  const onItsWay = useMemo(() => sendingRow(panel), [panel.sending, session?.running]);
  const rows = onItsWay ? [...known, onItsWay] : known;
  const earlier = useMemo(() => session?.turns.map((turn) => turn.prompt) ?? NONE, [session?.turns.length, panel.shown]);
  const waiting = useMemo(() => (session ? waitingPrompts(session) : NONE), [session?.queue, session?.running]);
  const pending = session ? pendingEntries(session)[0] : undefined;
  const lastKey = useRef(-Infinity);
  useFocusPending(pending?.key, panel, list, lastKey);
  const toPending = useCallback(() => {
    if (pending) list.current?.focusRow(pending.key);
  }, [pending?.key]);
  const dispatch = useDispatch(act);
  return (
    <SharedContext.Provider value={shared}>
      <div
        class="panel"
        onKeyDownCapture={() => (lastKey.current = performance.now())}
        onKeyDown={(event) => streamKeys(event, list.current)}
      >
        <Header
          title={titleOf(panel, session)}
          list={panel.list}
          shown={panel.shown}
          ready={panel.server.state === "ready"}
          onCloseList={dispatch.closeList}
        />
        <ServerBanner server={panel.server} />
        <main class="main">
          {rows.length === 0 ? <Empty /> : <Stream key={panel.shown} rows={rows} running={session?.running != null} list={list} pending={pending?.key} />}
        </main>
        {panel.rewind && <RewindDialog key={panel.rewind.turnId} rewind={panel.rewind} onClose={dispatch.closeRewind} />}
        <FailureBanner text={panel.failure} onDismiss={dispatch.dismiss} />
        <PlanStrip steps={planOf(session)} />
        <ChangesStrip changes={panel.shown === null ? null : (panel.changes[panel.shown] ?? null)} />
        <QueueStrip queue={waiting} />
        <Composer
          draft={panel.draft}
          focusWanted={panel.focusWanted}
          ready={panel.server.state === "ready"}
          sending={panel.sending !== null}
          running={session?.running != null}
          mode={session?.mode ?? "auto"}
          model={session?.model ?? ""}
          context={session?.context ?? 0}
          earlier={earlier}
          onTyped={dispatch.typed}
          onAttach={dispatch.attach}
          onDetach={dispatch.detach}
          onStopEditing={dispatch.stopEditing}
          onLeave={toPending}
        />
        <p class="spoken" role="status" aria-live="polite">{spokenTurn(session?.turns.at(-1))}</p>
        <p class="spoken" role="alert" aria-live="assertive">{pending ? spokenPending(pending) : ""}</p>
      </div>
    </SharedContext.Provider>
  );
}

interface StreamProps {
  readonly rows: readonly Row[];
  readonly running: boolean;
  readonly list: { current: ListHandle | null };
  readonly pending: string | undefined;
}

function Stream({ rows, running, list, pending }: StreamProps) {
  const [atEnd, setAtEnd] = useState(true);
  const jump = (): void => (pending ? list.current?.focusRow(pending) : list.current?.toEnd());
  return (
    <>
      <VirtualList
        rows={rows}
        label="Conversation"
        busy={running}
        handle={list}
        estimate={estimate}
        render={drawRow}
        keep={isUnfinished}
        onAtEnd={setAtEnd}
      />
      {!atEnd && (
        <button type="button" class={`jump ${pending ? "jump-pending" : ""}`} onClick={jump}>
          <Icon name={pending ? "hand" : "down"} /> {pending ? "Waits for you" : "Latest"}
        </button>
      )}
    </>
  );
}

function drawRow(row: Row) {
  return (
    <Guard>
      <StreamRow row={row} />
    </Guard>
  );
}

/** A person may have begun to answer it. */
function isUnfinished(row: Row): boolean {
  if (row.kind === "call") return !row.over && row.call.state === "asking";
  return row.kind === "question" && !row.over && !row.question.answered;
}

function useDispatch(act: (action: Action) => void) {
  return useMemo(
    () => ({
      typed: (text: string) => act({ kind: "typed", text }),
      attach: (attachment: Attachment) => act({ kind: "attach", attachment }),
      detach: (at: number) => act({ kind: "detach", at }),
      stopEditing: () => act({ kind: "stopEditing" }),
      dismiss: () => act({ kind: "dismissed" }),
      closeRewind: () => act({ kind: "rewindClosed" }),
      closeList: () => act({ kind: "listClosed" }),
    }),
    [act],
  );
}

/** So long after the last key, in milliseconds, somebody is not in the middle of typing. */
const AT_REST = 1500;

/** What newly waits takes the focus, unless the person is writing or looks elsewhere. */
function useFocusPending(
  key: string | undefined,
  panel: Panel,
  list: { current: ListHandle | null },
  lastKey: { current: number },
): void {
  useEffect(() => {
    if (key === undefined || !document.hasFocus()) return;
    if (performance.now() - lastKey.current < AT_REST) return;
    const { activeElement } = document;
    const idle = activeElement === null || activeElement === document.body;
    const inComposer = activeElement?.matches(".composer-text") ?? false;
    if (idle || (inComposer && panel.draft.text === "")) list.current?.focusRow(key);
  }, [key]);
}

/** Keys of the stream: from row to row, from prompt to prompt, to the end. */
function streamKeys(event: KeyboardEvent, list: ListHandle | null): void {
  if (!list || event.isComposing) return;
  const target = event.target as HTMLElement;
  const writes = target.closest<HTMLInputElement>("input, textarea, select");
  if (!writes?.value && event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    list.focusNext(event.key === "ArrowUp" ? -1 : 1, (key) => key.endsWith(":prompt"));
  } else if (event.ctrlKey && event.key === "End" && !writes) list.toEnd();
  else if (writes || !target.closest(".stream-row")) return;
  else if (event.key === "PageDown") list.focusNext(1);
  else if (event.key === "PageUp") list.focusNext(-1);
  else if (event.key === "Escape") document.querySelector<HTMLElement>(".composer-text")?.focus();
  else return;
  event.preventDefault();
}

/** A prompt of which the server has not told yet. While a turn runs it will stand in the queue instead. */
function sendingRow(panel: Panel): Row | null {
  if (!panel.sending || shownSession(panel)?.running) return null;
  return { kind: "starting", key: "sending:prompt", text: panel.sending.text };
}

function titleOf(panel: Panel, session: Session | null): string {
  const title = panel.info?.sessionId === panel.shown ? panel.info?.title : "";
  return session?.title || title || session?.turns[0]?.prompt.split("\n")[0] || "New session";
}

/** The plan of the last turn of the conversation. */
function planOf(session: Session | null): Session["turns"][number]["plan"] {
  if (!session) return NONE;
  const last = session.turns.at(-1);
  if (!last || last.plan.length === 0) return NONE;
  return goneTurns(session).has(last.id) ? NONE : last.plan;
}
