"""Changing several files together: all of them, or none as far as that can be had.

Everything is looked at again before the first write. When one fails all the same, what was done
before is taken back, unless somebody has gone on from there; what is left is said exactly.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pails.core.ports import Change, TextChange
from pails.core.tasks import uninterrupted
from pails.host import moving
from pails.host.folders import remove_files
from pails.tools.files.document import NEW_FILE, Document, Unreadable, Unwritten
from pails.tools.files.documents import Documents
from pails.tools.files.places import Place, find_place, move, remove


@dataclass(frozen=True, slots=True)
class Step:
    """One file as it is, and as it should be.

    It is to have the text `after` (None: to be deleted) at `path` (another one than the document's:
    to be moved). `changes`, where given, lead from the one text to the other.
    """

    document: Document
    path: Path
    after: str | None
    changes: tuple[TextChange, ...] | None = None

    @property
    def is_move(self) -> bool:
        return self.path != self.document.path

    @property
    def makes_name(self) -> bool:
        """Whether there is no file yet where this one will be."""
        return self.is_move or not self.document.exists

    @property
    def before(self) -> str | None:
        """The text at the document's own path, None where there is no file."""
        return self.document.text if self.document.exists else None


@dataclass(frozen=True, slots=True)
class Done:
    """What has been changed, and why not all of it; `failure` is empty when everything was.

    `kept` is a second name of a file that was deleted: until all is done it may have to come back,
    as it was and not just with its text.
    """

    changes: tuple[Change, ...]
    failure: str = ""
    kept: Path | None = None


async def carry_out(documents: Documents, steps: Sequence[Step], label: str) -> Done:
    """Do the steps in their order, deletions last. `label` names them in the editor's undo."""
    if len(steps) == 1 and not steps[0].is_move and steps[0].after is not None:
        return await _write(documents, steps[0].document, steps[0], label)  # it looks by itself
    for step in steps:
        refusal = await documents.check(step.document)
        if refusal:
            return Done((), f"{refusal.message} No file of this call was changed.")
    made: list[tuple[Step, Done]] = []
    try:
        for step in sorted(steps, key=lambda step: step.after is None):
            do = _do if step.after is not None else _delete
            made.append((step, await do(documents, step, label)))
            if made[-1][1].failure:
                return await _taken_back(documents, made, label)
    finally:
        kept = [done.kept for _, done in made if done.kept]
        if kept:
            await uninterrupted(asyncio.to_thread(remove_files, kept))
    return Done(tuple(change for _, done in made for change in done.changes))


async def _do(documents: Documents, step: Step, label: str) -> Done:
    if not step.is_move and step.after is not None:
        return await _write(documents, step.document, step, label)
    place = await find_place(documents, step.document.path)
    if isinstance(place, Unwritten):
        return Done((), place.message)
    if step.after is not None:
        return await _move(documents, place, step, label)
    gone, failure = await remove(documents, place, label)
    return Done(gone, failure.message if failure else "")


async def _delete(documents: Documents, step: Step, label: str) -> Done:
    """Delete a file that may have to come back."""
    kept = await uninterrupted(asyncio.to_thread(moving.second_name, step.document.path))
    try:
        return replace(await _do(documents, step, label), kept=kept)
    except asyncio.CancelledError:
        if kept:
            await uninterrupted(asyncio.to_thread(remove_files, [kept]))
        raise


async def _move(documents: Documents, place: Place, step: Step, label: str) -> Done:
    moved = await move(documents, place, step.path, label)
    if isinstance(moved, Unwritten):
        return Done((), moved.message)
    now = await documents.read_or_new(step.path)
    if isinstance(now, Unreadable) or now.text != step.document.text:
        return Done(moved, f"{step.path.name} has changed as soon as it was moved.")
    if documents.knows(step.document):
        documents.saw(now.real, now.text)
    if step.after == now.text:
        return Done(moved)
    written = await _write(documents, now, step, label)
    return Done((*moved, *written.changes), written.failure)


async def _write(documents: Documents, document: Document, step: Step, label: str) -> Done:
    after = step.after or ""
    new = after if step.changes is None else step.changes
    written = await documents.write(document, new, label)
    if isinstance(written, Unwritten):
        return Done((), written.message)
    if documents.knows(document) or not document.text:
        documents.saw(document.real, after)  # who knew all of it knows what became of it
    return Done((written,))


async def _taken_back(documents: Documents, made: Sequence[tuple[Step, Done]], label: str) -> Done:
    """Undo what was made, the newest first, and say what is left of it."""
    failure = made[-1][1].failure
    left: list[Change] = []
    for step, done in reversed(made):
        if not done.changes:
            continue
        if done.kept and await asyncio.to_thread(moving.give_back, done.kept, step.path):
            continue
        if not await _undo(documents, step, f"Take back: {label}"):
            left = [*done.changes, *left]
    names = ", ".join(dict.fromkeys(change.path.name for change in left))
    if left:
        said = f"Changed, and not put back: {names}. All other files are as they were."
    else:
        said = "No file of this call is changed; what was written before was put back."
    return Done(tuple(left), f"{failure} {said}")


async def _undo(documents: Documents, step: Step, label: str) -> bool:
    """Put one file back, if it still is as the step has left it."""
    document = step.document
    now = await documents.read_or_new(step.path)
    if isinstance(now, Unreadable) or now.text not in (step.after or "", document.text):
        return False
    if not document.exists:
        return not (await _do(documents, Step(now, now.path, None), label)).failure
    like = document.stored or NEW_FILE
    if now.text != document.text or not now.exists:
        if isinstance(await documents.write(now, document.text, label, like), Unwritten):
            return False
        now = await documents.read_or_new(step.path)
    if not step.is_move or isinstance(now, Unreadable):
        return True
    return not (await _do(documents, Step(now, document.path, document.text), label)).failure
