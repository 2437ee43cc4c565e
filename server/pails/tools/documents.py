"""Documents: a file's text, from the editor's buffer where one is open, else from the disk.

The open buffer is the truth. A write goes where the text came from:

    not open          atomic write to the disk
    open and clean    versioned edit in the buffer, then saved; if the client cannot save, the same
                      bytes are written to the disk
    open and dirty    versioned edit in the buffer, left unsaved

A document that changed since it was read is never written: nothing happens and the error says so.
"""

import asyncio
import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from pails.core.errors import StorageError
from pails.core.hunks import diff_hunks, revert_hunks
from pails.core.ports import Buffer, Change, Editor, EditOutcome, TextChange
from pails.core.tasks import uninterrupted
from pails.host import files
from pails.host.encodings import BinaryFile, TextFile, decode, encode
from pails.host.paths import named_and_real
from pails.tools.edit import apply_changes
from pails.tools.lines import common_ends

_BOM = "\ufeff"
_NEW_FILE = TextFile("")


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
class _OnDisk:
    """What the disk says about a path."""

    path: Path
    real: Path
    content: TextFile | Unreadable


class Documents:
    """Reads and writes documents. `editor` is None where no client has buffers."""

    def __init__(self, editor: Editor | None = None) -> None:
        self._editor = editor
        self._locks = WeakValueDictionary[Path, asyncio.Lock]()

    async def read(self, path: Path) -> Document | Unreadable:
        """The document at an absolute path, or why there is none."""
        found = await self.read_or_new(path)
        if isinstance(found, Document) and not found.exists:
            return Unreadable("missing", "does not exist")
        return found

    async def read_or_new(self, path: Path) -> Document | Unreadable:
        """Like `read`; where nothing exists yet, an empty document that a write will create."""
        disk = await asyncio.to_thread(_read_disk, path)
        buffer = self._buffer(disk)
        if buffer is not None:
            stored = disk.content if isinstance(disk.content, TextFile) else None
            text = buffer.text.removeprefix(_BOM)  # some clients leave the mark in the text
            dirty = stored is None or text != stored.text
            return Document(disk.path, disk.real, text, stored, buffer, dirty)
        if isinstance(disk.content, TextFile):
            return Document(disk.path, disk.real, disk.content.text, disk.content)
        if disk.content.reason == "missing":
            return Document(disk.path, disk.real, "")
        return disk.content

    async def write(
        self, document: Document, new: str | Sequence[TextChange], label: str
    ) -> Change | Unwritten:
        """Make `new` (a whole text, or changes of `document.text`) the document's text.

        `label` names the edit in the editor's undo stack.
        """
        changes = _narrowest(document.text, new) if isinstance(new, str) else new
        after = apply_changes(document.text, changes)
        async with self._locks.setdefault(document.real, asyncio.Lock()):
            now = await self.read_or_new(document.path)
            if isinstance(now, Unreadable) or _is_stale(document, now):
                return Unwritten(
                    f"{document.path.name} has changed since it was read. Nothing was written; "
                    "read it again and repeat the edit on its current text."
                )
            data = _encoded(now, after)
            if isinstance(data, Unwritten):
                return data
            if now.buffer is None or self._editor is None:
                return await _write_disk(now, after, data)
            moved = _moved(changes, len(now.buffer.text) - len(now.text))
            outcome = await self._editor.apply(now.buffer, moved, label)
            if outcome.status != "applied":
                return _not_applied(outcome)
            return await _landed(self._editor, now, now.buffer.path, after, data)

    def _buffer(self, disk: _OnDisk) -> Buffer | None:
        if self._editor is None:
            return None
        return self._editor.buffer(disk.path) or self._editor.buffer(disk.real)


def _read_disk(path: Path) -> _OnDisk:
    """Blocking. What is at the path, and where the path really leads."""
    plain, real = named_and_real(path)
    try:
        content = decode(files.read_bytes(real))
    except OSError as error:
        return _OnDisk(plain, real, _unreadable(error))
    if isinstance(content, BinaryFile):
        message = f"is binary: {content.size:,} bytes, {content.kind}"
        return _OnDisk(plain, real, Unreadable("binary", message))
    return _OnDisk(plain, real, content)


def _unreadable(error: OSError) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        return Unreadable("missing", "does not exist")
    if isinstance(error, IsADirectoryError):
        return Unreadable("directory", "is a directory")
    reason = "too large" if error.errno == errno.EFBIG else "denied"
    return Unreadable(reason, f"cannot be read: {error.strerror or error}")


def _is_stale(then: Document, now: Document) -> bool:
    """Whether the edit's base is gone: other text, another file, or a disk that moved on."""
    return (
        now.text != then.text
        or now.real != then.real
        or now.exists != then.exists
        or (now.dirty and not then.dirty)
    )


def _encoded(now: Document, after: str) -> bytes | Unwritten:
    """The bytes of the new text, or why the file cannot hold it."""
    stored = now.stored or _NEW_FILE
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


def _narrowest(before: str, after: str) -> tuple[TextChange, ...]:
    """The one change that leads from one text to the other."""
    if before == after:
        return ()
    start, end = common_ends(before, after)
    # Editors have no position between the two halves of a line end.
    while start and before[start - 1] == "\r":
        start -= 1
    while end and before[len(before) - end] == "\n":
        end -= 1
    return (TextChange(start, len(before) - end, after[start : len(after) - end]),)


def _not_applied(outcome: EditOutcome) -> Unwritten:
    if outcome.status == "refused":
        return Unwritten(f"Nothing was written, because {outcome.reason}.")
    return Unwritten(
        f"It is not known whether the edit was applied, because {outcome.reason}. Read the file "
        "before you go on."
    )


async def _write_disk(now: Document, after: str, data: bytes) -> Change | Unwritten:
    try:
        await _write_file(now.path, data)
    except StorageError as error:
        return Unwritten(str(error))
    return Change(now.path, now.text if now.exists else None, after, "disk")


async def _landed(
    editor: Editor, now: Document, path: Path, after: str, data: bytes
) -> Change | Unwritten:
    """What became of an edit that the editor says it has applied; it is brought to the disk."""
    buffer = editor.buffer(path)
    if buffer is None:
        return _not_applied(EditOutcome("unknown", "the document was closed meanwhile"))
    text = buffer.text.removeprefix(_BOM)
    if not _holds(text, now.text, after):
        return _not_applied(EditOutcome("unknown", "the document has another text now"))
    change = Change(path, now.text, after, "buffer")
    if now.dirty:
        return replace(change, unsaved="it had unsaved text before")
    typed_on = text not in (after, now.text)
    is_saved = not typed_on and await editor.save(path)
    disk = (await asyncio.to_thread(_read_disk, now.path)).content
    if disk != now.stored:
        return _found_on_disk(disk, change, is_saved=is_saved)
    if typed_on:
        return replace(change, unsaved="text was typed after it")
    return await _store(now, change, data)  # also for a client that only says that it has saved


def _found_on_disk(disk: TextFile | Unreadable, change: Change, *, is_saved: bool) -> Change:
    """The change, when somebody else has written the file since: their text stays."""
    if isinstance(disk, Unreadable):
        return replace(change, unsaved=f"the file {disk.message}")
    # Saving may reformat the text. Without a save it is a person's own, or that of a stranger.
    if is_saved or _holds(disk.text, change.before or "", change.after):
        return replace(change, after=disk.text)
    return replace(change, unsaved="another program has changed the file on the disk meanwhile")


def _holds(text: str, before: str, after: str) -> bool:
    """Whether the lines that an edit changed are in a text that may have changed elsewhere since.

    The text before the edit counts too: of a client that sends no changes its word is taken.
    """
    if text in (after, before):
        return True
    return not revert_hunks(diff_hunks(before, after), after, text).conflicts


async def _store(now: Document, change: Change, data: bytes) -> Change:
    try:
        await _write_file(now.path, data)
    except StorageError as error:  # the buffer has it all the same, and the person can save it
        return replace(change, unsaved=f"writing it to the disk failed: {error.reason}")
    return change


def _moved(changes: Sequence[TextChange], distance: int) -> list[TextChange]:
    """The changes as offsets of a text that has `distance` more characters in front."""
    return [replace(c, start=c.start + distance, end=c.end + distance) for c in changes]


async def _write_file(path: Path, data: bytes) -> None:
    """Write to the disk; a cancellation waits until the write has ended, one way or the other.

    Otherwise the thread would go on writing after the lock is free. Raises `StorageError`.
    """

    def write() -> None:
        files.make_parents(path)
        files.write_atomic(path, data)

    await uninterrupted(asyncio.to_thread(write))
