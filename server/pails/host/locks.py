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


@contextmanager
def locked(path: Path, deadline: float) -> Generator[None]:
    """Hold the lock of this file: blocking, until `time.monotonic()` reaches `deadline`.

    The file is made where it is missing, and stays; that it exists says nothing. Two threads of one
    process exclude each other as well. Where the file system knows no locks there is none.
    Raises `TimeoutError` when somebody else holds it all the time, `OSError` without a file.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{path} is locked by another process")
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


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
