"""Snapshots around the turns of a session, and around the commands in them.

The critical path knows nothing of them, but for one rule: a call that may change something waits
until the snapshot from before it has been taken - for some seconds in a turn at most.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pails.core.events import Effect, Notice, SnapshotTaken
from pails.core.text import shown_name
from pails.session.recorder import Recorder
from pails.session.rewinding.workspace_snapshots import WorkspaceSnapshots
from pails.snapshots.entries import LeftOut, Reason, Snapshot, SnapshotError

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""How long the calls of a turn wait for snapshots, all together."""
CLOSE_SECONDS = 1.0
LATE = (
    "The snapshot of this folder takes long, and the turn goes on without it. What tools write in "
    "this turn can be taken back, what commands change cannot. The next snapshot is faster."
)
_MOST_NAMED = 5

_TOLD_REASONS = (Reason.TOO_LARGE, Reason.NESTED, Reason.UNREADABLE)


@dataclass(slots=True)
class _Taking:
    """A snapshot under way, and the one before it. When it is `late` nobody is told of it: things
    have happened since that it was to come before."""

    event: SnapshotTaken
    before: "_Taking | None"
    done: asyncio.Event
    late: bool = False

    def make_late(self) -> None:
        """And so all that come before it."""
        taking: _Taking | None = self
        while taking is not None:
            taking.late, taking = True, taking.before


class SessionSnapshots:
    """Takes the snapshots of one session and tells of them. Used on the event loop."""

    def __init__(self, session_id: str, recorder: Recorder, workspace: WorkspaceSnapshots) -> None:
        self.workspace = workspace
        self._session_id = session_id
        self._recorder = recorder
        self._newest: _Taking | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn_id = ""
        self._commands = 0
        self._patience = 0.0
        self._told: set[str] = set()
        self._closed = False

    def begin_turn(self, turn_id: str) -> None:
        """Take the snapshot from before the turn; nobody waits for it here."""
        self._turn_id, self._commands, self._patience = turn_id, 0, PATIENCE_SECONDS
        self._start("before", "before")

    def end_turn(self) -> None:
        """Take the one from after it, and make room where that is due."""
        self._start("after", "after")

    @asynccontextmanager
    async def around(self, call_id: str, effect: Effect) -> AsyncGenerator[None]:
        """Implements `core.ports.CallGuard`. What a tool writes is known without snapshots."""
        changes = effect in (Effect.WRITE, Effect.EXECUTE)
        if not changes or not await self._is_ready() or effect is Effect.WRITE:
            yield
            return
        self._commands += 1
        self._start("before", f"{self._commands}/before", call_id)
        await self._is_ready()
        try:
            yield
        finally:
            self._start("after", f"{self._commands}/after", call_id)
        await self._is_ready()  # what the person does next is not the command's

    async def take(self, name: str) -> Snapshot:
        """A snapshot under this name within those of the session. Raises `SnapshotError`."""
        return await asyncio.to_thread(self.workspace.take, f"{self._session_id}/{name}")

    async def settle(self) -> None:
        """Wait until no snapshot is under way."""
        while self._newest is not None and not self._newest.done.is_set():
            await self._newest.done.wait()

    async def close(self) -> None:
        """Wait for what is nearly done. Nobody is told any more of what is not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.settle()
        self._closed = True

    async def _is_ready(self) -> bool:
        """Wait for the snapshots under way; False when that takes too long."""
        newest = self._newest
        if newest is None or newest.done.is_set():
            return True
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._patience):
                await newest.done.wait()
        except TimeoutError:
            newest.make_late()
            self._tell(LATE)
        self._patience = max(0.0, self._patience - (time.monotonic() - started))
        return newest.done.is_set()

    def _start(self, moment: Literal["before", "after"], name: str, call_id: str = "") -> None:
        snapshot_id = f"{self._session_id}/{self._turn_id}/{name}"
        event = SnapshotTaken(self._turn_id, moment, snapshot_id, call_id)
        self._newest = _Taking(event, self._newest, asyncio.Event())
        task = asyncio.create_task(self._take(self._newest), name=f"snapshot {snapshot_id}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """No turn waits for the task, so a bug in it would be seen by nobody."""
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            log.error("a snapshot failed", exc_info=failure)
            self._tell(
                f"Pails failed inside while it took a snapshot ({type(failure).__name__}: "
                f"{failure}). The work goes on; what commands change until a snapshot succeeds "
                "cannot be taken back. The log has the details."
            )

    async def _take(self, taking: _Taking) -> None:
        try:
            if taking.before is not None:  # each shows what happened since the one before
                await taking.before.done.wait()
                taking.before = None
            files = [Path(path) for path in self._recorder.state.turn_files]
            snapshot_id = taking.event.snapshot_id
            snapshot = await asyncio.to_thread(self.workspace.take, snapshot_id, files)
            if not taking.late and not self._closed:
                self._recorder.conclude(taking.event)
            self._tell_left_out(snapshot)
            self._tell(self.workspace.problem)
        except SnapshotError as error:
            self._tell(str(error))
        finally:
            taking.done.set()
        if taking.event.moment == "after" and not taking.event.call_id:
            await self._clean_up()

    async def _clean_up(self) -> None:
        try:
            await asyncio.to_thread(self.workspace.clean_up, (self._session_id,))
        except SnapshotError as error:
            log.warning("%s", error)

    def _tell_left_out(self, snapshot: Snapshot) -> None:
        """What is told once is not told again."""
        new = [item for item in snapshot.left_out if item.reason in _TOLD_REASONS]
        new = [item for item in new if item.path not in self._told]
        self._told.update(item.path for item in new)
        if new:
            named = ", ".join(_named(item) for item in new[:_MOST_NAMED])
            more = f" and {len(new) - _MOST_NAMED:,} more" if len(new) > _MOST_NAMED else ""
            text = f"What commands change here cannot be taken back by a rewind: {named}{more}."
            self._tell(text, "info")

    def _tell(self, text: str, level: Literal["info", "warning"] = "warning") -> None:
        if text and text not in self._told and not self._closed:
            self._told.add(text)
            self._recorder.conclude(Notice(level, text))


def _named(item: LeftOut) -> str:
    return f"{shown_name(item.path)} ({item.reason})"
