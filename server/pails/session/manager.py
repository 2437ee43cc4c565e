"""All sessions of this process: make, open, list, close."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pails.config import Paths
from pails.core.errors import InvalidRequestError, LogError, NotFoundError
from pails.core.events import (
    Event,
    Mode,
    Notice,
    SessionCreated,
    SessionRenamed,
    SessionReopened,
)
from pails.core.tasks import all_of, uninterrupted
from pails.host.log import read_lines
from pails.host.paths import real_folder
from pails.session.codec import decode_record
from pails.session.ending import missing_end
from pails.session.journal import Journal, load
from pails.session.kit import Kit
from pails.session.session import Session
from pails.session.state import SessionState
from pails.session.store import SessionStore, SessionSummary, title_of
from pails.session.talk import markdown_of, talk_of

T = TypeVar("T")


class SessionManager:
    """Owns the open sessions. `make_kit` builds the parts of one, of its workspace and id."""

    def __init__(self, paths: Paths, make_kit: Callable[[Path, str], Kit]) -> None:
        self._store = SessionStore(paths)
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
        path = self._store.new_log(workspace)
        session_id = path.stem
        kit = await asyncio.to_thread(self._make_kit, workspace, session_id)
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
        path = await asyncio.to_thread(self._store.find, session_id, workspace)
        journal, loaded = await _opened(lambda: Journal.reopen(path), lambda pair: pair[0].close())
        try:
            state = SessionState()
            for record in loaded.records:
                state.apply(record.event)
            if not state.workspace:
                raise LogError(
                    f"The session log {path} does not say where it belongs; it was left as it is. "
                    "Start a new session."
                )
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
        return await asyncio.to_thread(self._store.list, workspace)

    async def rename(self, session_id: str, title: str) -> None:
        """Call an open session so from now on; raises `InvalidRequestError` for no name at all."""
        session, title = self.get(session_id), title_of(title)
        if not title:
            raise InvalidRequestError("The name is empty. The session is called as before.")
        await session.emit(SessionRenamed(title))
        log = await asyncio.to_thread(self._store.find, session_id, session.workspace)
        await asyncio.to_thread(self._store.rename, log, title)

    async def fork(self, session_id: str, before_turn_id: str | None = None) -> Session:
        """A new session that begins with the talk of another, up to before a turn of it."""
        path = await asyncio.to_thread(self._store.find, session_id)
        events = await asyncio.to_thread(_events_of, path)
        return await self._copy(events, talk_of(events, before_turn_id), session_id, None)

    async def export(self, session_id: str, *, as_markdown: bool) -> tuple[str, str]:
        """Its title, and its log as it is, which `import_log` takes, or its talk to read."""
        path = await asyncio.to_thread(self._store.find, session_id)
        title = await asyncio.to_thread(self._store.title, path)
        if not as_markdown:
            return title, await asyncio.to_thread(_log_text, path)
        events = await asyncio.to_thread(_events_of, path)
        return title, markdown_of(title, talk_of(events))

    async def import_log(self, text: str, workspace: Path) -> Session:
        """A new session in this workspace that begins with the talk of an exported one.

        Raises `InvalidRequestError` when the text is no session's.
        """
        events = await asyncio.to_thread(_parse, text)
        return await self._copy(events, talk_of(events), "", workspace)

    async def _copy(
        self, events: Sequence[Event], talk: Sequence[Event], source: str, workspace: Path | None
    ) -> Session:
        created = next((e for e in events if isinstance(e, SessionCreated)), None)
        if created is None or not talk:
            raise InvalidRequestError(
                "There is no finished turn in it to begin with. Nothing was made."
            )
        folder = await asyncio.to_thread(_existing_folder, workspace or Path(created.workspace))
        begun = replace(created, workspace=str(folder), copied_from=source)
        made = await asyncio.to_thread(self._store.write, folder, [begun, *talk])
        return await self.open(made, folder)

    async def delete(self, session_id: str) -> None:
        """Close a session and take it out of all lists; it is kept for a while, see `restore`.

        Raises `InvalidRequestError` while a turn runs or waits in it.
        """
        async with self._opening:
            path = await asyncio.to_thread(self._store.find, session_id)
            session = self._open.get(session_id)
            if session is not None:
                session.check_idle()
                await session.close()
                del self._open[session_id]
            await asyncio.to_thread(self._store.delete, path)

    async def restore(self, session_id: str) -> None:
        """Bring a deleted session back into the lists."""
        await asyncio.to_thread(self._store.restore, session_id)

    async def close(self) -> None:
        """End every running turn and let go of the logs."""
        sessions, self._open = self._open, {}
        await all_of(session.close() for session in sessions.values())


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
        raise NotFoundError(
            f"The workspace {path} is not a folder on this machine. Its conversations are kept; "
            "they open again when it is back in its place."
        )
    return folder


def _events_of(path: Path) -> list[Event]:
    """What a log holds; raises `LogError`. Blocks."""
    return [record.event for record in load(path).records]


def _log_text(path: Path) -> str:
    lines, _ = read_lines(path)
    return b"".join(line + b"\n" for line in lines).decode("utf-8", "replace")


def _parse(text: str) -> list[Event]:
    try:
        return [decode_record(line).event for line in text.encode().split(b"\n") if line.strip()]
    except ValueError as error:
        raise InvalidRequestError(
            "This is not a session that Pails exported, or a part of it is damaged. Nothing was "
            "made."
        ) from error
