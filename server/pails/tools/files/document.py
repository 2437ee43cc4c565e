"""One file as it is: its text or why there is none, on the disk and in a buffer. Blocks."""

import errno
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pails.core.ports import Buffer
from pails.host import files
from pails.host.encodings import BinaryFile, TextFile, decode, encode
from pails.host.paths import named_and_real

BOM = "\ufeff"
"""The byte order mark as a character; it is not part of a text."""

NEW_FILE = TextFile("")
"""How a file is stored that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it was when read.

    `path` is absolute with the links in its folders resolved, `real` with its own resolved too.
    `stored` is what is on the disk, None where there is no file, or no text. `dirty` means that the
    buffer differs from the disk.
    """

    path: Path
    real: Path
    text: str
    stored: TextFile | None = None
    buffer: Buffer | None = None
    dirty: bool = False

    @property
    def exists(self) -> bool:
        return self.stored is not None or self.buffer is not None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why there is no text at a path. `message` completes "PATH …"."""

    reason: Literal["missing", "directory", "binary", "too large", "denied"]
    message: str


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why a text was not written, in whole sentences that say what to do."""

    message: str


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What the disk says about a path."""

    path: Path
    real: Path
    content: TextFile | Unreadable


def read_disk(path: Path) -> OnDisk:
    """Blocking. What is at the path, and where the path really leads."""
    plain, real = named_and_real(path)
    try:
        content = decode(files.read_bytes(real))
    except OSError as error:
        return OnDisk(plain, real, _unreadable(error))
    if isinstance(content, BinaryFile):
        message = f"is binary: {content.size:,} bytes, {content.kind}"
        return OnDisk(plain, real, Unreadable("binary", message))
    hash(content.text)  # strings keep theirs, so the event loop has it for nothing
    return OnDisk(plain, real, content)


def text_of(buffer: Buffer) -> str:
    """The text without the mark that some clients leave in it."""
    return buffer.text.removeprefix(BOM)


def without_buffer(disk: OnDisk) -> Document | Unreadable:
    """The document of a file that is not open."""
    if isinstance(disk.content, TextFile):
        return Document(disk.path, disk.real, disk.content.text, disk.content)
    if disk.content.reason == "missing":
        return Document(disk.path, disk.real, "")
    return disk.content


def _unreadable(error: OSError) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        return Unreadable("missing", "does not exist")
    if isinstance(error, IsADirectoryError):
        return Unreadable("directory", "is a directory")
    why = "too large" if error.errno == errno.EFBIG else "denied"
    return Unreadable(why, f"cannot be read: {files.reason(error)}")


def is_stale(then: Document, now: Document | Unreadable) -> bool:
    """Whether the edit's base is gone: other text, another file, or a disk that moved on."""
    return (
        isinstance(now, Unreadable)
        or now.text != then.text
        or now.real != then.real
        or now.exists != then.exists
        or (now.dirty and not then.dirty)
    )


def encoded(now: Document, after: str, like: TextFile) -> bytes | Unwritten:
    """The bytes of the new text, or why the file cannot hold it."""
    stored = now.stored or like
    if not stored.exact:
        return Unwritten(
            f"{now.path.name} has bytes that cannot be decoded, so it could not be written back "
            "unharmed. Nothing was written."
        )
    try:
        return encode(replace(stored, text=after))
    except UnicodeEncodeError as error:
        char = after[error.start]
        return Unwritten(
            f"{now.path.name} is stored as {stored.encoding}, which has no {char!r} "
            f"(U+{ord(char):04X}). Nothing was written; use other characters."
        )


def write_to_disk(path: Path, data: bytes) -> None:
    """Write to the disk. Blocks. Raises `StorageError`."""
    files.make_parents(path)
    files.write_atomic(path, data)
