"""Documents: a file's text, from the editor's buffer where one is open, else from the disk.

The open buffer is the truth. A write goes where the text came from:

    not open          atomic write to the disk
    open and clean    versioned edit in the buffer, then saved; if the client cannot save, the same
                      bytes are written to the disk
    open and dirty    versioned edit in the buffer, left unsaved

A document that changed since it was read is never written: nothing happens and the error says so,
and who did it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pails.core.errors import StorageError
from pails.core.ports import Buffer, Change, Editor, TextChange
from pails.core.tasks import uninterrupted
from pails.host.encodings import TextFile
from pails.tools.files.document import (
    NEW_FILE,
    Document,
    OnDisk,
    Unreadable,
    Unwritten,
    encoded,
    is_stale,
    read_disk,
    text_of,
    without_buffer,
    write_to_disk,
)
from pails.tools.files.landing import landed, not_applied, shifted
from pails.tools.files.writers import Busy, LastWrite, WriterLock, Writers, fingerprint
from pails.tools.text.edit import apply_changes, narrowest

_GONE = "gone"
"""What stands for the fingerprint of a file that was moved or deleted."""


class Documents:
    """Reads and writes documents for one session. `editor` is None where no client has buffers.

    What its model has seen of which file is the session's own. `writers`, which sessions share,
    gives them turns.
    """

    def __init__(
        self, editor: Editor | None = None, writers: Writers | None = None, session_id: str = ""
    ) -> None:
        self.editor = editor
        self.writers = writers or Writers()
        self._session_id = session_id
        self._seen: dict[Path, int] = {}

    async def read(self, path: Path) -> Document | Unreadable:
        """The document at an absolute path, or why there is none."""
        found = await self.read_or_new(path)
        if isinstance(found, Document) and not found.exists:
            return Unreadable("missing", "does not exist")
        return found

    async def read_or_new(self, path: Path) -> Document | Unreadable:
        """Like `read`; where nothing exists yet, an empty document that a write will create."""
        return self._document(await asyncio.to_thread(read_disk, path))

    async def read_all(self, paths: Sequence[Path]) -> list[Document | Unreadable]:
        """`read_or_new` of many, at one go."""
        found = await asyncio.to_thread(lambda: [read_disk(path) for path in paths])
        return [self._document(disk) for disk in found]

    async def read_for_model(self, path: Path) -> Document | Unreadable:
        """Like `read`, for a text that the model is shown: it may then replace the whole of it."""
        found = await self.read(path)
        if isinstance(found, Document):
            self.saw(found.real, found.text)
        return found

    def saw(self, real: Path, text: str) -> None:
        """The model knows that the file of this real path has this text."""
        self._seen[real] = hash(text)  # of a text from the disk it was computed in a thread

    def forget(self) -> None:
        """The model knows no file any more: what it has read is gone from its conversation."""
        self._seen.clear()

    def knows(self, document: Document) -> bool:
        """Whether the model has seen the document as it is."""
        return self._seen.get(document.real) == hash(document.text)

    async def unseen(self, document: Document) -> str:
        """Completes "FILE …" where a whole new text would replace what the model does not know."""
        if not document.text or self.knows(document):
            return ""
        if document.real not in self._seen:
            return "exists, and you have not read it"
        async with self.writers.turn(document.real) as lock:
            try:
                await uninterrupted(asyncio.to_thread(lock.take))
            except Busy:
                return "is being written by another process"
            return self._changed(lock, document)

    async def check(self, document: Document) -> Unwritten | None:
        """What `write` would say of a document that is not as it was read."""
        now = await self.read_or_new(document.path)
        if not is_stale(document, now):
            return None
        async with self.writers.turn(document.real) as lock:
            try:
                await uninterrupted(asyncio.to_thread(lock.take))  # who was the last stands there
            except Busy:
                return _busy(document)
            return self._stale(lock, document, now)

    async def write(
        self,
        document: Document,
        new: str | Sequence[TextChange],
        label: str,
        like: TextFile = NEW_FILE,
    ) -> Change | Unwritten:
        """Make `new` (a whole text, or changes of `document.text`) the document's text.

        `label` names the edit in the editor's undo stack. A new file is stored in the encoding of
        `like`.
        """
        changes = narrowest(document.text, new) if isinstance(new, str) else new
        after = apply_changes(document.text, changes)
        write = LastWrite(self._session_id, label, "")
        async with self.writers.turn(document.real) as lock:
            if self.buffer(document.path, document.real) is None:
                here = asyncio.to_thread(self._write_disk, lock, document, after, write, like)
                return await uninterrupted(here)  # a thread would go on without the lock
            return await self._write_buffer(lock, document, changes, after, write)

    def note(self, lock: WriterLock, label: str, text: str | None) -> None:
        """Note that the file whose turn this is has got a text, or is gone (None). Blocks."""
        mark = _GONE if text is None else fingerprint(text)
        lock.note(LastWrite(self._session_id, label, mark))

    def buffer(self, path: Path, real: Path) -> Buffer | None:
        """The open document of a file."""
        if self.editor is None:
            return None
        return self.editor.buffer(path) or self.editor.buffer(real)

    def _document(self, disk: OnDisk) -> Document | Unreadable:
        buffer = self.buffer(disk.path, disk.real)
        if buffer is not None:
            stored = disk.content if isinstance(disk.content, TextFile) else None
            text = text_of(buffer)
            dirty = stored is None or text != stored.text
            return Document(disk.path, disk.real, text, stored, buffer, dirty)
        return without_buffer(disk)

    def _write_disk(
        self, lock: WriterLock, then: Document, after: str, write: LastWrite, like: TextFile
    ) -> Change | Unwritten:
        """Look, write and note it in one go. Blocks."""
        try:
            lock.take()
        except Busy:
            return _busy(then)
        now = without_buffer(read_disk(then.path))
        if isinstance(now, Unreadable) or is_stale(then, now):
            return self._stale(lock, then, now)
        data = encoded(now, after, like)
        if isinstance(data, Unwritten):
            return data
        try:
            write_to_disk(now.path, data)
        except StorageError as error:
            return Unwritten(str(error))
        lock.note(replace(write, fingerprint=fingerprint(after)))
        return Change(now.path, now.text if now.exists else None, after, "disk")

    async def _write_buffer(
        self,
        lock: WriterLock,
        then: Document,
        changes: Sequence[TextChange],
        after: str,
        write: LastWrite,
    ) -> Change | Unwritten:
        def look() -> tuple[OnDisk, str]:
            lock.take()
            return read_disk(then.path), fingerprint(after)

        try:
            disk, mark = await uninterrupted(asyncio.to_thread(look))
        except Busy:
            return _busy(then)
        now = self._document(disk)
        if isinstance(now, Unreadable) or is_stale(then, now):
            return self._stale(lock, then, now)
        data = encoded(now, after, NEW_FILE)
        if isinstance(data, Unwritten):
            return data
        if now.buffer is None or self.editor is None:  # it was closed just now
            return self._stale(lock, then, now)
        placed = shifted(changes, len(now.buffer.text) - len(now.text))
        outcome = await self.editor.apply(now.buffer, placed, write.label)
        if outcome.status != "applied":
            return not_applied(outcome)
        change = await landed(self.editor, now, now.buffer.path, after, data)
        lock.note(replace(write, fingerprint=mark))
        return change

    def _stale(self, lock: WriterLock, then: Document, now: Document | Unreadable) -> Unwritten:
        if isinstance(now, Unreadable) and now.reason != "missing":
            said = f"{now.message} now"
        elif isinstance(now, Unreadable) or not now.exists:
            last = lock.last()
            by = self._named(last) if last and last.fingerprint == _GONE else "another program"
            said = f"has been moved or deleted by {by}"
        else:
            said = self._changed(lock, now)
        return Unwritten(
            f"{then.path.name} {said}. Nothing was written; read it again and repeat the edit on "
            "its current text."
        )

    def _changed(self, lock: WriterLock, now: Document) -> str:
        """Completes "FILE …": that it has changed since it was read, and who did it."""
        last = lock.last()
        if last is not None and last.fingerprint == fingerprint(now.text):
            return f"has changed since it was read: it was written by {self._named(last)}"
        if now.dirty:
            who = "the person changed it in the editor"
        elif now.buffer is not None:
            who = "the person in the editor, or another program, changed it"
        else:
            who = "another program, or a command, wrote it"
        return f"has changed since it was read: {who}"

    def _named(self, last: LastWrite) -> str:
        if last.session_id == self._session_id:
            return f"this session ({last.label})"
        return f"another Pails session ({last.session_id}: {last.label})"


def _busy(document: Document) -> Unwritten:
    return Unwritten(
        f"Another process is writing {document.path.name} and does not come to an end. Nothing was "
        "written; try it again later."
    )
