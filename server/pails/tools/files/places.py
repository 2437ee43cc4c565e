"""Moving and deleting what stands at a path, with the documents that are open there.

What is open and unsaved is never moved or deleted. Where a document is open, the editor does it,
if it can, so that its tabs follow.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import StorageError
from pails.core.ports import Change
from pails.core.tasks import uninterrupted
from pails.host import moving
from pails.host.files import reason
from pails.host.moving import Below
from pails.host.paths import is_within, named_and_real
from pails.tools.files.document import Document, Unwritten
from pails.tools.files.documents import Documents
from pails.tools.files.writers import Busy

MAX_FILES = 500
"""Whoever moves or deletes more of them at once should do it by a command."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A file, link or pipe at or below a place. `document` is None where it is no text."""

    path: Path
    document: Document | None


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at `path` (links in its folders resolved, not its own)."""

    path: Path
    below: Below
    leaves: tuple[Leaf, ...]

    @property
    def is_folder(self) -> bool:
        return self.below.kind == "folder"


async def find_place(documents: Documents, path: Path) -> Place | Unwritten:
    """What stands at an absolute path, or why it can be neither moved nor deleted."""

    def look() -> tuple[Path, Below | None]:
        named, _ = named_and_real(path)
        return named, moving.look_below(named, MAX_FILES)

    try:
        named, below = await asyncio.to_thread(look)
    except OSError as error:
        return Unwritten(f"{path.name}: {reason(error)}. Use run_command for it.")
    if below is None:
        return Unwritten(f"{path.name} does not exist.")
    leaves = [await _leaf(documents, file) for file in below.files]
    place = Place(named, below, tuple(leaves))
    unsaved = sorted(path.name for path in _unsaved(documents, place))
    if unsaved:
        return Unwritten(
            f"{', '.join(unsaved)} has unsaved text in the editor. Ask the person to save or close "
            "it first."
        )
    return place


async def _leaf(documents: Documents, path: Path) -> Leaf:
    found = await documents.read(path)
    if isinstance(found, Document) and found.real == path and found.stored is not None:
        return Leaf(path, found)
    return Leaf(path, None)  # a link is no text, whatever it leads to


def _unsaved(documents: Documents, place: Place) -> Iterator[Path]:
    """The open documents at or below the place that differ from the disk."""
    for leaf in place.leaves:
        if leaf.document and leaf.document.dirty:
            yield leaf.path
    known = {leaf.path for leaf in place.leaves if leaf.document}
    for buffer in documents.editor.open_buffers() if documents.editor else ():
        if buffer.path not in known and is_within(buffer.path, place.path):
            yield buffer.path


async def move(
    documents: Documents, place: Place, target: Path, label: str
) -> tuple[Change, ...] | Unwritten:
    """Give what stands there another name: all of it, or nothing."""

    def on_disk() -> str:
        try:
            moving.move(place.path, target)
        except StorageError as error:
            return str(error)
        return ""

    failure = await _carry_out(documents, place, target, label, on_disk)
    if failure:
        return failure
    return tuple(change for leaf in place.leaves for change in _moved(leaf, place.path, target))


async def remove(
    documents: Documents, place: Place, label: str
) -> tuple[tuple[Change, ...], Unwritten | None]:
    """Delete what stands there. The files that are gone, and why the others are not, if any."""

    def on_disk() -> str:
        try:
            moving.remove_all(place.path, place.below)
        except StorageError as error:
            return str(error)
        return ""

    failure = await _carry_out(documents, place, None, label, on_disk)
    gone = await asyncio.to_thread(_gone, place) if failure else place.leaves
    return tuple(map(_deleted, gone)), failure


async def _carry_out(
    documents: Documents, place: Place, target: Path | None, label: str, on_disk: Callable[[], str]
) -> Unwritten | None:
    """Do it in the editor or on the disk, if nothing has changed since the place was looked at."""
    async with documents.writers.turn(place.path) as lock:
        try:
            await uninterrupted(asyncio.to_thread(lock.take))
        except Busy:
            return Unwritten(f"Another process is writing {place.path.name}. Nothing was done.")
        if await find_place(documents, place.path) != place:
            return Unwritten(
                f"{place.path.name} has changed since it was looked at. Nothing was done; look at "
                "it again."
            )
        failure = await _in_editor(documents, place, target, label)
        if failure is None:
            failure = await uninterrupted(asyncio.to_thread(on_disk))
        if not failure:
            documents.note(lock, label, None)
        return Unwritten(failure) if failure else None


async def _in_editor(
    documents: Documents, place: Place, target: Path | None, label: str
) -> str | None:
    """Why the editor did not do it; "" when it did, None where the disk is to be used."""
    is_open = any(leaf.document and leaf.document.buffer for leaf in place.leaves)
    if documents.editor is None or not is_open or (target is None and place.is_folder):
        return None  # all of a folder would go, and not just what was looked at
    outcome = await documents.editor.relocate(place.path, target, label)
    if outcome is None:
        return None
    if outcome.status == "refused":
        return f"Nothing was done, because {outcome.reason}."
    is_gone = await asyncio.to_thread(lambda: moving.kind_of(place.path) is None)
    is_there = target is None or await asyncio.to_thread(lambda: moving.kind_of(target) is not None)
    if is_gone and is_there:
        return ""
    return f"It is not known what the editor did with {place.path.name}: see list_dir."


def _gone(place: Place) -> list[Leaf]:
    return [leaf for leaf in place.leaves if moving.kind_of(leaf.path) is None]


def _moved(leaf: Leaf, source: Path, target: Path) -> tuple[Change, Change]:
    there = target / leaf.path.relative_to(source)  # for the place itself it is just the target
    text, binary = _text(leaf), leaf.document is None
    return (
        Change(leaf.path, text, None, "disk", binary=binary),
        Change(there, None, text, "disk", moved_from=leaf.path, binary=binary),
    )


def _deleted(leaf: Leaf) -> Change:
    return Change(leaf.path, _text(leaf), None, "disk", binary=leaf.document is None)


def _text(leaf: Leaf) -> str:
    return leaf.document.text if leaf.document else ""
