"""Which store in a folder counts, and replacing it by one that holds only what is still needed.

libgit2 cannot remove objects. So those that are needed are packed into a store beside the old one,
which becomes the store in the moment it gets its name: `store-<n + 1>`. Killed before that, the
old one counts and the new one is a leftover; killed after it, the old one is.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pygit2 import GitError

from pails.host.folders import disk_usage, names_in, remove_tree, rename
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import Snapshot
from pails.snapshots.objects import Objects

_STORE = re.compile(r"store-(\d+)")
_UNFINISHED = re.compile(r"store-\d+\.new|model-\w+")
# What is aimed at when the limit is passed, so that it is not passed again at once.
_GOAL = 0.7


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What cleaning did: the names that went, and the store's size in bytes before and after."""

    dropped: tuple[str, ...]
    before: int
    after: int


def find_store(folder: Path) -> Path | None:
    """The store that counts. Raises `OSError`."""
    numbers = [int(found[1]) for name in names_in(folder) if (found := _STORE.fullmatch(name))]
    return folder / f"store-{max(numbers)}" if numbers else None


def open_store(folder: Path) -> Objects:
    """Open or make the store, and remove leftovers; only for who holds the lock."""
    for name in names_in(folder):
        if _UNFINISHED.fullmatch(name):
            remove_tree(folder / name)
    current = find_store(folder)
    if current is None:
        current = folder / "store-1"
        Objects.create(_unfinished(current))
        rename(_unfinished(current), current)
    for name in names_in(folder):
        if _STORE.fullmatch(name) and name != current.name:
            remove_tree(folder / name)
    objects = Objects(current)
    objects.sweep()
    return objects


def clean(
    objects: Objects, is_kept: Callable[[str], bool], limit: int, deadline: Deadline
) -> Cleaned:
    """Replace the store by one without what no snapshot needs, of at most `limit` bytes.

    For that the oldest snapshots go, but never the newest and those that are kept. Only for who
    holds the lock; the store has to be opened anew afterwards. Raises `TimeoutError`, and what
    `Objects` raises; the old store is then intact.
    """
    before = objects.disk_usage()
    names = objects.names()
    snapshots = _sound(objects, names)
    number = int(objects.folder.name.removeprefix("store-"))
    new = objects.folder.with_name(f"store-{number + 1}")
    while True:
        shares = _shares(objects, snapshots, is_kept, deadline)
        remove_tree(_unfinished(new))
        ids = [id for share in shares for id in share.sizes]
        snapshots = [share.snapshot for share in shares]
        objects.copy_to(_unfinished(new), snapshots, ids)
        after = disk_usage(_unfinished(new))
        fewer = _fitting(shares, after, limit)
        if len(fewer) == len(snapshots):
            break
        snapshots = fewer
    deadline.check()
    rename(_unfinished(new), new)
    remove_tree(objects.folder)
    kept = {snapshot.name for snapshot in snapshots}
    return Cleaned(tuple(name for name in names if name not in kept), before, after)


def _unfinished(store: Path) -> Path:
    return store.with_name(store.name + ".new")


def _sound(objects: Objects, names: Sequence[str]) -> list[Snapshot]:
    """The snapshots that can be read, oldest first."""
    found = [snapshot for name in names if (snapshot := objects.snapshot(name))]
    return sorted(found, key=lambda snapshot: snapshot.taken)


@dataclass(frozen=True, slots=True)
class _Share:
    """A snapshot, and what it needs beyond those that are more important, by id: sizes in bytes."""

    snapshot: Snapshot
    stays: bool
    sizes: dict[str, int]


def _shares(
    objects: Objects,
    snapshots: Sequence[Snapshot],
    is_kept: Callable[[str], bool],
    deadline: Deadline,
) -> list[_Share]:
    """The snapshots, the most important first; none of those of which something is lost."""
    newest = snapshots[-1:]
    order = sorted(
        snapshots, key=lambda item: (item in newest or is_kept(item.name), item.taken), reverse=True
    )
    known: set[str] = set()
    shares: list[_Share] = []
    for snapshot in order:
        deadline.check()
        try:
            needed = objects.reachable(snapshot, known)
            sizes = {id: objects.size(id) for id in needed}
        except (GitError, OSError, ValueError):
            continue
        known |= needed
        shares.append(_Share(snapshot, snapshot in newest or is_kept(snapshot.name), sizes))
    return shares


def _fitting(shares: Sequence[_Share], stored: int, limit: int) -> list[Snapshot]:
    """The snapshots to keep, oldest first: all, or fewer when they take more than the limit.

    `stored` is what they take on the disk together; each is taken to be compressed equally well.
    """
    chosen = [share.snapshot for share in shares]
    if stored > limit:
        whole = sum(sum(share.sizes.values()) for share in shares) or 1
        room = limit * _GOAL * whole / stored
        chosen.clear()
        for share in shares:
            room -= sum(share.sizes.values())
            if share.stays or room >= 0:
                chosen.append(share.snapshot)
    return sorted(chosen, key=lambda snapshot: snapshot.taken)
