"""Append-only line files: opened once, owned by one process, private to the person."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import LogError
from pails.host.files import reason
from pails.host.locks import try_lock


class AppendLog:
    """A file to which whole lines are appended, readable by its owner only.

    Nobody else can open it as a log while this one is open, in this process or another. Raises
    `LogError` when somebody has, and when the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._half_written = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._fd = os.open(path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            raise LogError(
                f"Cannot open {path} for writing: {reason(error)}. Nothing was written; make room "
                "or give the rights to it, and try again."
            ) from error
        if not try_lock(self._fd):
            self.close()
            raise LogError(
                f"{path.stem} is open in another Pails process, and only one can write its log. "
                "Go on there, or close it there and try again."
            )

    def append(self, data: bytes) -> None:
        """Append all of `data`, one line or more, or nothing. Raises `LogError`."""
        written = 0
        try:
            if self._half_written:  # it would swallow this line
                os.ftruncate(self._fd, self._size)
                self._half_written = False
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            self._half_written = self._half_written or written > 0
            raise LogError(
                f"Cannot write to {self._path}: {reason(error)}. What was written before is kept; "
                "free some space and try again."
            ) from error
        self._size += written

    def cut(self, size: int) -> int:
        """Cut the file back to its first `size` bytes; how many went. Raises `LogError`."""
        cut_off = self._size - size
        if cut_off:
            try:
                os.ftruncate(self._fd, size)
            except OSError as error:
                raise LogError(f"Cannot mend {self._path}: {reason(error)}.") from error
            self._size = size
        return cut_off

    async def sync(self) -> None:
        """Wait for the disk, off the event loop. Raises `LogError`."""
        try:
            await asyncio.to_thread(os.fsync, self._fd)
        except OSError as error:
            raise LogError(
                f"The disk did not take {self._path}: {reason(error)}. What was written before "
                "is kept; look at the disk and try again."
            ) from error

    def discard(self) -> None:
        """Remove the file, and let go of it."""
        with suppress(OSError):  # then it stays
            self._path.unlink()
        self.close()

    def close(self) -> None:
        """Let go of the file. Appending afterwards is an error, and reaches no other file."""
        fd, self._fd = self._fd, -1
        os.close(fd)


def read_lines(path: Path) -> tuple[list[bytes], int]:
    """The whole lines of a log, and how many bytes they take: blocking.

    What stands behind them was torn by a killed process, or is being written just now. Raises
    `LogError`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"Cannot read {path}: {reason(error)}.") from error
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n")[:-1], end


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log on disk, with the time of its last change in seconds since 1970."""

    path: Path
    modified: float


def list_logs(folder: Path, suffix: str) -> list[LogFile]:
    """The logs in a folder and in its folders, newest first: blocking. No folder, no logs."""
    files = [log for path in folder.glob(f"**/*{suffix}") if (log := _log_file(path))]
    return sorted(files, key=lambda file: file.modified, reverse=True)


def first_lines(path: Path, limit: int = 8_000_000) -> Iterator[bytes]:
    """The whole lines within the first `limit` bytes, read as they are asked for: blocking.

    None of what cannot be read.
    """
    with suppress(OSError), path.open("rb") as file:
        while (line := file.readline(limit)).endswith(b"\n"):
            limit -= len(line)
            yield line


def _log_file(path: Path) -> LogFile | None:
    """None for what is no file, such as a link to nowhere, or one deleted meanwhile."""
    try:
        return LogFile(path, path.stat().st_mtime) if path.is_file() else None
    except OSError:
        return None
