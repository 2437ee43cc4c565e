"""Locks between processes. The system lets go of them when their owner dies, however it dies."""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 40  # far behind any text, since others cannot read a locked byte
else:
    import fcntl

_POLL_SECONDS = 0.01
_MOST_NOTE_BYTES = 4096


class FileLock:
    """The lock that a file is, and the note that its last owner left in it. Every method blocks.

    The file is made where it is missing, and stays; that it exists says nothing. Two threads of one
    process exclude each other as well. Where the file system knows no locks there is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self, deadline: float) -> None:
        """Wait for the lock until `time.monotonic()` reaches `deadline`.

        Raises `TimeoutError` when somebody else holds it all the time, `OSError` without a file.
        """
        while not self._try():
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{self._path} is locked by another process")
            time.sleep(_POLL_SECONDS)

    def note(self) -> bytes:
        """What the last owner noted; only for the owner. Raises `OSError`."""
        if self._descriptor is None:
            return b""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.read(self._descriptor, _MOST_NOTE_BYTES)

    def leave_note(self, note: bytes) -> None:
        """Note something for the next owner. Raises `OSError`."""
        if self._descriptor is not None:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, note[:_MOST_NOTE_BYTES])
            os.ftruncate(self._descriptor, len(note[:_MOST_NOTE_BYTES]))

    def release(self) -> None:
        """Let go, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _try(self) -> bool:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if try_lock(descriptor) and _is_still_at(self._path, descriptor):
            self._descriptor = descriptor
            return True
        os.close(descriptor)
        return False


@contextmanager
def locked(path: Path, deadline: float) -> Generator[None]:
    """Hold the lock of this file; see `FileLock.take`."""
    lock = FileLock(path)
    lock.take(deadline)
    try:
        yield
    finally:
        lock.release()


def try_lock(descriptor: int) -> bool:
    """Lock the file until it is closed; False when somebody else has locked it.

    Where the file system knows no locks, the file is used without one.
    """
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass
    return True


def _is_still_at(path: Path, descriptor: int) -> bool:
    """Whether the file has not been removed, or replaced, before it was locked."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
