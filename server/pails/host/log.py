"""Append-only line files: opened once, owned by one process, private to the person."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import StorageError


class AppendLog:
    """A file to which whole lines are appended, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._fd = os.open(path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            raise StorageError(f"Cannot open {path} for writing: {error.strerror}.") from error

    def append(self, line: bytes) -> None:
        """Append all of `line`, or nothing. Raises `StorageError`."""
        try:
            written = 0
            while written < len(line):
                written += os.write(self._fd, line[written:])
            self._size += written
        except OSError as error:
            self._cut_back()
            raise StorageError(
                f"Cannot write to {self._path}: {error.strerror}. What was written before is kept; "
                "free some space and try again."
            ) from error

    def _cut_back(self) -> None:
        """Half a record would swallow the next one."""
        if os.fstat(self._fd).st_size > self._size:
            os.ftruncate(self._fd, self._size)

    async def sync(self) -> None:
        """Wait for the disk, off the event loop."""
        await asyncio.to_thread(os.fsync, self._fd)

    def close(self) -> None:
        os.close(self._fd)

    @staticmethod
    def read_and_repair(path: Path) -> tuple[list[bytes], int]:
        """The whole lines of the file, and how many bytes of a torn last line were cut off."""
        try:
            data = path.read_bytes()
            end = data.rfind(b"\n") + 1
            torn = len(data) - end
            if torn:
                os.truncate(path, end)
        except OSError as error:
            raise StorageError(f"Cannot read {path}: {error.strerror}.") from error
        return data[:end].split(b"\n")[:-1], torn


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log on disk, with the time of its last change in seconds since 1970."""

    path: Path
    modified: float


def list_logs(folder: Path, suffix: str) -> list[LogFile]:
    """The logs in a folder and in its folders, newest first: blocking. No folder, no logs."""
    files = [LogFile(path, path.stat().st_mtime) for path in folder.glob(f"**/*{suffix}")]
    return sorted(files, key=lambda file: file.modified, reverse=True)


def first_lines(path: Path, limit: int = 65536) -> list[bytes]:
    """The whole lines within the first `limit` bytes: blocking."""
    with path.open("rb") as file:
        head = file.read(limit)
    return head[: head.rfind(b"\n") + 1].split(b"\n")[:-1]
