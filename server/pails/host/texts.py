"""Texts kept by their contents: compressed files named by the SHA-256 of what they hold."""

import hashlib
import re
import zlib
from pathlib import Path

from pails.core.errors import StorageError
from pails.host.files import read_bytes, reason, write_private
from pails.host.folders import remove_files
from pails.host.leftovers import temporary_name

_ID = re.compile(r"[0-9a-f]{64}")
_FAST = 1
"""The level of compression: a text is kept on the way of a write, where time counts for more."""


class TextStore:
    """Implements `core.ports.Texts` in one folder, which is made with the first text. Blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, text: str) -> str:
        """Keep a text; its id, the same for the same text. Raises `StorageError`."""
        data = text.encode("utf-8", "surrogatepass")
        text_id = hashlib.sha256(data).hexdigest()
        path = self._path(text_id)
        if not _holds(path, data):
            self._write(path, zlib.compress(data, _FAST))
        return text_id

    def get(self, text_id: str) -> str:
        """The text of this id. Raises `StorageError` when it is not kept, or damaged."""
        if not _ID.fullmatch(text_id):
            raise StorageError("This text was not kept.")
        try:
            data = zlib.decompress(read_bytes(self._path(text_id)))
        except FileNotFoundError as error:
            raise StorageError("This text is kept no longer.") from error
        except (OSError, zlib.error) as error:
            raise StorageError(f"A kept text cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != text_id:
            raise StorageError("A kept text is damaged.")
        return data.decode("utf-8", "surrogatepass")

    def _write(self, path: Path, data: bytes) -> None:
        """A name appears with the whole text under it; not flushed, as the file has it too."""
        temporary = self._folder / temporary_name()
        write_private(temporary, data)
        try:
            temporary.replace(path)
        except OSError as error:
            remove_files([temporary])
            raise StorageError(f"{path}: {reason(error)}. It was not kept.") from error

    def _path(self, text_id: str) -> Path:
        return self._folder / f"{text_id}.z"


def _holds(path: Path, data: bytes) -> bool:
    """Whether the text is kept there whole; a machine that went down may have left half of it."""
    try:
        return zlib.decompress(read_bytes(path)) == data
    except (OSError, zlib.error):
        return False
