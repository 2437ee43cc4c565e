"""All sessions of this process: make, open, list, close."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pails.config import Paths
from pails.core.errors import LogError, NotFoundError
from pails.core.events import (
    Event,
    Mode,
    Notice,
    PromptAccepted,
    SessionCreated,
    SessionReopened,
    TurnStarted,
)
from pails.core.tasks import uninterrupted
from pails.host.log import LogFile, first_lines, list_logs
from pails.host.paths import real_folder
from pails.session.codec import decode_record
from pails.session.ending import missing_end
from pails.session.journal import Journal
from pails.session.kit import Kit
from pails.session.session import Session
from pails.session.state import SessionState
from pails.session.turn import title_of

SUFFIX = ".jsonl"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list, which may be on disk only. `updated_at`: seconds since 1970."""

    session_id: str
    workspace: str
    title: str
    updated_at: float


class SessionManager:
    """Owns the open sessions. `make_kit` builds the parts of one, of its workspace and id."""

    def __init__(self, paths: Paths, make_kit: Callable[[Path, str], Kit]) -> None:
        self._paths = paths
        self._make_kit = make_kit
        self._open: dict[str, Session] = {}
        self._opening = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def opened(self) -> tuple[Session, ...]:
        """The sessions that are open in this process."""
        return tuple(self._open.values())

    async def new(self, workspace: Path, mode: Mode | None, model: str | None) -> Session:
        """Start an empty session. `workspace` must be an existing folder."""
        workspace = await asyncio.to_thread(_existing_folder, workspace)
        session_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
        kit = await asyncio.to_thread(self._make_kit, workspace, session_id)
        path = self._paths.sessions(workspace) / f"{session_id}{SUFFIX}"
        journal = await _opened(lambda: Journal(path), Journal.close)
        session = Session(session_id, workspace, journal, SessionState(), kit)
        created = SessionCreated(str(workspace), mode or kit.mode, model or "")
        notices = [Notice("warning", warning) for warning in kit.warnings]
        await self._begin(session, [created, *notices])
        return session

    async def open(self, session_id: str, workspace: Path | None = None) -> Session:
        """The session of this id, read from its log when it is not open yet.

        A turn that was cut off by the death of its process is closed: nothing runs again unasked.
        Raises `LogError` when another process has the session open.
        """
        async with self._opening:  # two requests at once must not make two of it
            return self._open.get(session_id) or await self._reopen(session_id, workspace)

    async def _reopen(self, session_id: str, workspace: Path | None) -> Session:
        path = await asyncio.to_thread(self._find, session_id, workspace)
        journal, loaded = await _opened(lambda: Journal.reopen(path), lambda pair: pair[0].close())
        try:
            state = SessionState()
            for record in loaded.records:
                state.apply(record.event)
            if not state.workspace:
                raise LogError(f"The session log {path} does not say where it belongs.")
            folder = await asyncio.to_thread(_existing_folder, Path(state.workspace))
            kit = await asyncio.to_thread(self._make_kit, folder, session_id)
            for rule in state.grants:
                kit.gate.grants.add(rule)
        except BaseException:
            journal.close()
            raise
        session = Session(session_id, folder, journal, state, kit)
        await self._begin(session, [SessionReopened(loaded.repaired), *missing_end(state)])
        return session

    async def _begin(self, session: Session, events: Sequence[Event]) -> None:
        """A session counts as open when its first events are in the log."""
        try:
            for event in events:
                await session.emit(event)
        except LogError:
            await session.close()
            raise
        self._open[session.id] = session

    def get(self, session_id: str) -> Session:
        """The open session of this id; raises `NotFoundError`."""
        session = self._open.get(session_id)
        if session is None:
            raise NotFoundError(
                f"No session {session_id!r} is open. Open it first, or start a new one."
            )
        return session

    async def list(self, workspace: Path | None = None) -> list[SessionSummary]:
        """All sessions on disk, of one workspace or of all, newest first."""
        folder = self._paths.sessions(workspace) if workspace else self._paths.all_sessions
        return await asyncio.to_thread(_summaries, folder)

    async def close(self) -> None:
        """End every running turn and let go of the logs."""
        await asyncio.gather(*(session.close() for session in self._open.values()))
        self._open.clear()

    def _find(self, session_id: str, workspace: Path | None) -> Path:
        folder = self._paths.sessions(workspace) if workspace else self._paths.all_sessions
        for log in list_logs(folder, SUFFIX):
            if log.path.stem == session_id:
                return log.path
        raise NotFoundError(f"There is no session {session_id!r}. List the sessions to see them.")


async def _opened(open_log: Callable[[], T], close: Callable[[T], None]) -> T:
    """What `open_log` opens, in a thread. Cancelled meanwhile, it must not stay open and locked."""
    opening = asyncio.ensure_future(asyncio.to_thread(open_log))
    try:
        return await uninterrupted(opening)
    except asyncio.CancelledError:
        if not opening.cancelled() and opening.exception() is None:
            close(opening.result())
        raise


def _existing_folder(path: Path) -> Path:
    """The real path of a folder; raises `NotFoundError` when it is none."""
    folder = real_folder(path)
    if folder is None:
        raise NotFoundError(f"The workspace {path} is not a folder on this machine.")
    return folder


def _summaries(folder: Path) -> list[SessionSummary]:
    found = (_summary(log) for log in list_logs(folder, SUFFIX))
    return [summary for summary in found if summary]


def _summary(log: LogFile) -> SessionSummary | None:
    """What the first records tell; None where nothing was asked (yet), or nothing can be read."""
    workspace, title = "", None
    for line in first_lines(log.path):
        try:
            event = decode_record(line).event
        except ValueError:  # it may have been a prompt
            title = title or ""
            continue
        if isinstance(event, SessionCreated):
            workspace = event.workspace
        if isinstance(event, PromptAccepted | TurnStarted):
            title = event.title if isinstance(event, TurnStarted) else title_of(event.text)
            break
    if not workspace or title is None:
        return None
    return SessionSummary(log.path.stem, workspace, title, log.modified)
