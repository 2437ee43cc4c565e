"""Making the tree of the next snapshot: from the last one and what changed, or from nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pails.host.files import read_bytes, write_atomic
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import Entry, LeftOut, Reason
from pails.snapshots.look import Look, Place, look_everywhere
from pails.snapshots.look_again import Base, EverythingChangedError, look_at, still_left_out
from pails.snapshots.objects import Objects
from pails.snapshots.reading import Reader
from pails.snapshots.stat_cache import decode, encode
from pails.snapshots.trees import Edits, edited, entry_at, paths_in, set_edit

_CACHE = "stat-cache"
_CACHE_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What a snapshot was made of, for the next one to go on from."""

    tree: str
    left_out: dict[str, Reason]

    def told(self, look: Look) -> tuple[LeftOut, ...]:
        """What the snapshot says that it leaves out."""
        standing = [LeftOut(path, reason) for path, reason in sorted(self.left_out.items())]
        return (*standing, *look.told)


def look_for(
    place: Place,
    objects: Objects,
    last: Taken | None,
    changed: Collection[Path] | None,
    deadline: Deadline,
) -> tuple[Look, Taken | None]:
    """What is to be in the snapshot, and on top of what: None when it is everything.

    Raises `TimeoutError`, `OSError`, `ConfigurationError`, and what `Objects` raises.
    """
    if last is not None and changed is not None:
        tree, read = last.tree, objects.read
        base = Base(
            lambda path: entry_at(tree, path, read),
            lambda folder: paths_in(tree, folder, read),
            last.left_out,
        )
        try:
            return look_at(place, changed, base, deadline), last
        except EverythingChangedError:
            pass
    return look_everywhere(place, deadline), None


def write_tree(
    place: Place, objects: Objects, look: Look, base: Taken | None, deadline: Deadline
) -> Taken:
    """Store what was seen, on top of the last snapshot or from nothing."""
    edits = Edits()
    entries = _read(place, objects, look, base, deadline)
    for path in look.gone:
        set_edit(edits, path, None)
    for path, entry in entries.items():
        set_edit(edits, path, entry)
    tree = edited(base.tree if base else None, edits, objects.read, objects.write_tree)
    left_out = still_left_out(base.left_out, look) if base else look.left_out
    return Taken(tree or objects.write_tree(b""), left_out)


def _read(
    place: Place, objects: Objects, look: Look, base: Taken | None, deadline: Deadline
) -> dict[str, Entry]:
    """The entries of what was seen, whose bytes are in the store then."""
    if base is not None:
        return Reader(place, look, objects.write_blob, {}).read(deadline)
    reader = Reader(place, look, objects.write_blob, _cache(objects))
    try:
        return reader.read(deadline)
    finally:
        if reader.has_read:  # also when time was up: the next scan then gets further
            write_atomic(objects.folder / _CACHE, encode(reader.rows, reader.started))


def _cache(objects: Objects) -> dict[str, bytes]:
    try:
        return decode(read_bytes(objects.folder / _CACHE, _CACHE_BYTES))
    except OSError:
        return {}
