"""Who writes which file: one at a time, in all sessions of all processes, and who was the last."""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from pails.host.folders import make_private
from pails.host.locks import FileLock

log = logging.getLogger(__name__)

LOCK_NAMES = "*.lock"
_WAIT_SECONDS = 10.0
"""A write through an editor lasts as long as the editor takes to answer, which is seldom long."""


@dataclass(frozen=True, slots=True)
class LastWrite:
    """The last write of a file by any Pails: by which session, what for, and to which text."""

    session_id: str
    label: str
    fingerprint: str


class Busy(Exception):
    """Another process has been writing the file all the time."""


class WriterLock:
    """The turn to write one file. `take` and `release` it; both may be called again."""

    def __init__(self, lock: FileLock | None) -> None:
        self._lock = lock

    def take(self) -> None:
        """Wait until no other process writes the file; blocks. Raises `Busy`."""
        if self._lock is None:
            return
        try:
            self._lock.take(time.monotonic() + _WAIT_SECONDS)
        except TimeoutError as error:
            raise Busy from error
        except OSError as error:  # a stale base is found without a lock too, but for an instant
            log.warning("files are written without locks between processes: %s", error)
            self._lock = None

    def last(self) -> LastWrite | None:
        """The last write as it was noted; None when nobody knows."""
        with suppress(OSError, ValueError, TypeError):
            return LastWrite(**json.loads(self._lock.note())) if self._lock else None
        return None

    def note(self, write: LastWrite) -> None:
        """Note a write that has happened, for whoever comes next."""
        if self._lock is None:
            return
        try:
            self._lock.leave_note(json.dumps(asdict(write)).encode())
        except OSError as error:
            log.warning("who wrote a file cannot be noted: %s", error)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()


class Writers:
    """Gives the turn to write a file. Shared by all sessions of a process."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is for lock files and made here, which blocks; without it other processes are
        not waited for."""
        self._folder = folder
        if folder is not None:
            try:
                make_private(folder)
            except OSError as error:
                log.warning("files are written without locks between processes: %s", error)
                self._folder = None
        self._turns = WeakValueDictionary[Path, asyncio.Lock]()

    @asynccontextmanager
    async def turn(self, path: Path) -> AsyncGenerator[WriterLock]:
        """The turn to write the file of this real path, once no task of this process has it.

        Between processes the lock is not taken yet: that blocks, and belongs into a thread.
        """
        # Within a process nobody may wait in a thread: whoever holds the lock may need one to end.
        async with self._turns.setdefault(path, asyncio.Lock()):
            lock = WriterLock(self._lock(path))
            try:
                yield lock
            finally:
                lock.release()

    def _lock(self, path: Path) -> FileLock | None:
        if self._folder is None:
            return None
        name = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return FileLock(self._folder / f"{name}.lock")


def fingerprint(text: str) -> str:
    """A text in few characters, the same in every process."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
