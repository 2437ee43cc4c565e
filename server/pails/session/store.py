"""The sessions on the disk: a log each, its name beside it where the person gave it one.

    sessions/<workspace>/<id>.jsonl    the log
    sessions/<workspace>/<id>.title    its name, where the person gave it one
    deleted/<id>/                      all that a deleted session had, until it is old

All functions block.
"""

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pails.config import Paths
from pails.core.errors import NotFoundError
from pails.core.events import Event, PromptAccepted, SessionCreated, TurnStarted
from pails.core.text import first_line
from pails.host import files
from pails.host.log import AppendLog, LogFile, first_lines, list_logs
from pails.host.moving import move
from pails.session.codec import Record, decode_record, encode_record

SUFFIX = ".jsonl"
TITLE_CHARS = 80

_TITLE_SUFFIX = ".title"
_MAX_TITLE_BYTES = 4_000


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list, which may be on disk only. `updated_at`: seconds since 1970."""

    session_id: str
    workspace: str
    title: str
    updated_at: float


class SessionStore:
    """Finds, lists, names, copies, deletes and restores the sessions that are kept in `paths`."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def new_log(self, workspace: Path) -> Path:
        """Where the log of a new session goes; its stem is the session's id."""
        session_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
        return self._paths.sessions(workspace) / f"{session_id}{SUFFIX}"

    def find(self, session_id: str, workspace: Path | None = None) -> Path:
        """The log of a session; raises `NotFoundError`."""
        folder = self._paths.sessions(workspace) if workspace else self._paths.all_sessions
        return _find(session_id, folder)

    def list(self, workspace: Path | None = None) -> "list[SessionSummary]":
        """All sessions, of one workspace or of all, newest first."""
        folder = self._paths.sessions(workspace) if workspace else self._paths.all_sessions
        found = (_summary(log) for log in list_logs(folder, SUFFIX))
        return [summary for summary in found if summary]

    def title(self, log: Path) -> str:
        """What the session is called in lists; its id when nothing was asked in it yet."""
        summary = _summary(LogFile(log, 0.0))
        return summary.title if summary else log.stem

    def rename(self, log: Path, title: str) -> None:
        """Call the session so in lists from now on; raises `StorageError`."""
        files.write_atomic(log.with_suffix(_TITLE_SUFFIX), title.encode())

    def write(self, workspace: Path, events: Iterable[Event]) -> str:
        """The id of a new session with these events, which nobody has open yet.

        Raises `LogError`; then there is none.
        """
        path = self.new_log(workspace)
        now = round(time.time(), 3)
        records = (Record(seq, now, event) for seq, event in enumerate(events, 1))
        log = AppendLog(path)
        try:
            log.append(b"".join(map(encode_record, records)))
        except BaseException:
            log.discard()
            raise
        log.close()
        return path.stem

    def delete(self, log: Path) -> None:
        """Take a session out of all lists; raises `StorageError`, and `LogError` if it is open."""
        if not files.exists(log):  # nothing was ever asked in it
            return
        AppendLog(log).close()
        session_id, workspace = log.stem, _workspace(log)
        for here, away in self._places(session_id, workspace):
            if files.exists(here):
                move(here, away)

    def restore(self, session_id: str) -> None:
        """Bring a deleted session back; raises `NotFoundError` and `StorageError`."""
        log = _find(session_id, self._paths.all_deleted)
        workspace = _workspace(log)
        for here, away in self._places(session_id, workspace):
            if files.exists(away):
                move(away, here)

    def _places(self, session_id: str, workspace: Path) -> "tuple[tuple[Path, Path], ...]":
        """All that a session has, and where each of it goes when it is deleted; the log last."""
        log = self._paths.sessions(workspace) / f"{session_id}{SUFFIX}"
        away = self._paths.deleted(session_id)
        return (
            (log.with_suffix(_TITLE_SUFFIX), away / f"{session_id}{_TITLE_SUFFIX}"),
            (self._paths.texts(workspace, session_id), away / "texts"),
            (log, away / log.name),
        )


def title_of(text: str) -> str:
    """A line for lists, of a prompt's text or of a name that a person typed."""
    return first_line(text, TITLE_CHARS)


def _find(session_id: str, folder: Path) -> Path:
    for log in list_logs(folder, SUFFIX):
        if log.path.stem == session_id:
            return log.path
    raise NotFoundError(f"There is no session {session_id!r}. List the sessions to see them.")


def _workspace(log: Path) -> Path:
    """The workspace that the log names; raises `NotFoundError` when it names none."""
    for line in first_lines(log):
        try:
            event = decode_record(line).event
        except ValueError:
            continue
        if isinstance(event, SessionCreated):
            return Path(event.workspace)
    raise NotFoundError(f"The session log {log} does not say where it belongs.")


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
    return SessionSummary(log.path.stem, workspace, _title(log.path) or title, log.modified)


def _title(log: Path) -> str:
    path = log.with_suffix(_TITLE_SUFFIX)
    if not files.exists(path):
        return ""
    text = files.read_bytes(path, _MAX_TITLE_BYTES).decode("utf-8", "replace")
    return title_of(text)
