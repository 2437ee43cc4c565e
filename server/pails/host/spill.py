"""The file that keeps a whole output when only a part of it goes to the model."""

import os
from pathlib import Path
from typing import BinaryIO

from pails.host.files import reason

SPILL_QUOTA = 64 * 1024 * 1024
"""Bytes of one output that are kept; a flood must not fill the disk."""

_HELD_BYTES = 64 * 1024


class SpillFile:
    """Takes an output piece by piece; a file appears only when the output is long.

    An output is evidence, not the work itself: when it cannot be written, `failure` says why and
    the command goes on. The file is readable by its owner only, for output may hold secrets.
    """

    def __init__(self, path: Path | None, quota: int = SPILL_QUOTA) -> None:
        self.failure = ""
        self.complete = True
        self._path = path
        self._room = quota
        self._held = bytearray()
        self._file: BinaryIO | None = None

    def write(self, text: str) -> None:
        if self._path is None or self.failure:
            return
        data = text.encode("utf-8")
        if len(data) > self._room:
            self.complete = False
            data = data[: self._room].decode("utf-8", "ignore").encode("utf-8")
            self._room = 0
        else:
            self._room -= len(data)
        self._held += data
        if len(self._held) > _HELD_BYTES:
            self._flush(self._path)

    def close(self, *, keep: bool) -> Path | None:
        """End the file; where it is, or None when it is not wanted or could not be written."""
        if self._path is None:
            return None
        if keep and not self.failure:
            self._flush(self._path)
        if self._file is not None:
            self._file.close()
            if not keep or self.failure:
                self._path.unlink(missing_ok=True)
        return self._path if keep and not self.failure else None

    def _flush(self, path: Path) -> None:
        try:
            if self._file is None:
                self._file = _create(path)
            self._file.write(self._held)
        except OSError as error:
            self.failure = reason(error)
        self._held.clear()


def _create(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "wb", buffering=0)
