"""An edit in an open buffer: what became of it, and how it comes to the disk."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pails.core.errors import StorageError
from pails.core.hunks import diff_hunks, revert_hunks
from pails.core.ports import Change, Editor, EditOutcome, TextChange
from pails.core.tasks import uninterrupted
from pails.tools.files.document import (
    Document,
    Unreadable,
    Unwritten,
    read_disk,
    text_of,
    write_to_disk,
)


async def landed(
    editor: Editor, now: Document, path: Path, after: str, data: bytes
) -> Change | Unwritten:
    """What became of an edit that the editor says it has applied; it is brought to the disk."""
    buffer = editor.buffer(path)
    if buffer is None:
        return not_applied(EditOutcome("unknown", "the document was closed meanwhile"))
    text = text_of(buffer)
    if not _holds(text, now.text, after):
        return not_applied(EditOutcome("unknown", "the document has another text now"))
    change = Change(path, now.text, after, "buffer")
    if now.dirty:
        return replace(change, unsaved="it had unsaved text before")
    typed_on = text not in (after, now.text)
    is_saved = not typed_on and await editor.save(path)
    return await _brought_to_disk(now, change, data, is_saved=is_saved, typed_on=typed_on)


async def _brought_to_disk(
    now: Document, change: Change, data: bytes, *, is_saved: bool, typed_on: bool
) -> Change:
    """The change, which is in the buffer, as it is on the disk too, or why it is not."""
    disk = (await asyncio.to_thread(read_disk, now.path)).content
    if disk != now.stored:
        if isinstance(disk, Unreadable):
            return replace(change, unsaved=f"the file {disk.message}")
        return _found_on_disk(disk.text, change, change.after or "", is_saved=is_saved)
    if typed_on:
        return replace(change, unsaved="text was typed after it")
    return await _store(now, change, data)  # also for a client that only says that it has saved


async def _store(now: Document, change: Change, data: bytes) -> Change:
    try:
        await uninterrupted(asyncio.to_thread(write_to_disk, now.path, data))
    except StorageError as error:  # the buffer has it all the same, and the person can save it
        return replace(change, unsaved=f"writing it to the disk failed: {error.reason}")
    return change


def not_applied(outcome: EditOutcome) -> Unwritten:
    if outcome.status == "refused":
        return Unwritten(f"Nothing was written, because {outcome.reason}.")
    return Unwritten(
        f"It is not known whether the edit was applied, because {outcome.reason}. Read the file "
        "before you go on."
    )


def shifted(changes: Sequence[TextChange], distance: int) -> list[TextChange]:
    """The changes as offsets of a text that has `distance` more characters in front."""
    return [replace(c, start=c.start + distance, end=c.end + distance) for c in changes]


def _found_on_disk(disk: str, change: Change, after: str, *, is_saved: bool) -> Change:
    """The change, when somebody else has written the file since: their text stays."""
    # Saving may reformat the text. Without a save it is a person's own, or that of a stranger.
    if is_saved or _holds(disk, change.before or "", after):
        return replace(change, after=disk)
    return replace(change, unsaved="another program has changed the file on the disk meanwhile")


def _holds(text: str, before: str, after: str) -> bool:
    """Whether the lines that an edit changed are in a text that may have changed elsewhere since.

    The text before the edit counts too: of a client that sends no changes its word is taken.
    """
    if text in (after, before):
        return True
    return not revert_hunks(diff_hunks(before, after), after, text).conflicts
