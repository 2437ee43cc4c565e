"""The snapshots of one workspace. Everything here blocks: call it in a thread.

    <folder>/lock                    held while somebody writes
    <folder>/store-<n>               the git store; the highest number counts, see `cleaning`
    <folder>/store-<n>/stat-cache    what a full scan need not read again

Several processes may use one folder. Each remembers the snapshot that it took last, so that its
next one can be made from the paths that changed in between.
"""

import re
import threading
import time
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pails.host.files import exists, write_private
from pails.host.folders import make_private
from pails.host.locks import locked
from pails.host.paths import is_within, real_folder, real_path
from pails.snapshots.cleaning import Cleaned, clean, find_store, open_store
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import (
    Entry,
    FileDelta,
    Limits,
    Snapshot,
    SnapshotError,
    is_below,
)
from pails.snapshots.explaining import explained, refuse_too_much
from pails.snapshots.look import Place
from pails.snapshots.objects import Objects
from pails.snapshots.taking import Taken, look_for, write_tree
from pails.snapshots.trees import Edits, compare, edited, entry_at, paths_in, set_edit

_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_MOST_SECONDS = 600.0
_DROPPED = "dropped"


class SnapshotStore:
    """The snapshots of one workspace; one object of a process, used from any thread.

    Methods raise `SnapshotError`, whose text is for a person. `deadline` is an instant of
    `time.monotonic()`; without one a call gives up after ten minutes.
    """

    def __init__(self, folder: Path, place: Place, objects: Objects) -> None:
        self._folder = folder
        self._place = place
        self._objects = objects
        self._last: Taken | None = None
        self._parent = objects.newest()
        self._thread = threading.RLock()
        self._stopped = False
        self._running: Deadline | None = None

    @classmethod
    def open(cls, folder: Path, workspace: Path, limits: Limits | None = None) -> "SnapshotStore":
        """Open or make the store of a workspace in `folder`, and remove what killed ones left.

        Refuses the home folder, folders above it, and the root of a file system.
        """
        root = real_folder(workspace)
        if root is None:
            raise SnapshotError(f"{workspace} is not a folder, so there is nothing to keep.")
        refuse_too_much(root)
        advice = f"If it stays so, remove {folder}: then Pails begins a new one, without the old"
        with explained("open the store of snapshots", f" {advice} snapshots."):
            make_private(folder)
            with locked(folder / "lock", time.monotonic() + _MOST_SECONDS):
                objects = open_store(folder)
        real = real_path(folder) or folder
        own = real.relative_to(root).as_posix() if is_within(real, root) else ""
        return cls(folder, Place(root, own, folder, limits or Limits()), objects)

    def take(
        self, name: str, changed: Collection[Path] | None = None, deadline: float | None = None
    ) -> Snapshot:
        """Keep the workspace as it is now under a name such as `session/turn/before`.

        `changed` are the paths that differ from this process's last snapshot, absolute or relative
        to the workspace; a folder stands for all that is in it. Without it, or without a last
        snapshot, everything is looked at. After an error nothing is kept under the name, and the
        next snapshot looks at everything.
        """
        if not _NAME.fullmatch(name):
            raise SnapshotError(f"{name!r} cannot be the name of a snapshot.")
        started = time.monotonic()
        with self._thread, explained(f"take the snapshot {name}"), self._limit(deadline) as limit:
            last, self._last = self._last, None
            while True:
                if self._reopened():
                    last = None
                look, base = look_for(self._place, self._objects, last, changed, limit)
                with locked(self._folder / "lock", limit.at):
                    if self._is_replaced():
                        continue
                    taken = write_tree(self._place, self._objects, look, base, limit)
                    seconds = time.monotonic() - started
                    snapshot = self._objects.commit(
                        name, taken.tree, self._parent, seconds, taken.told(look)
                    )
                self._last, self._parent = taken, snapshot.id
                return snapshot

    def amend(
        self,
        name: str,
        base: Snapshot,
        entries: Mapping[str, Entry | None],
        made: Mapping[str, bytes],
    ) -> Snapshot:
        """Keep a snapshot with these entries in place of its own; None: nothing is there.

        `made` has by id the bytes of those that the store may not have.
        """
        if not _NAME.fullmatch(name):
            raise SnapshotError(f"{name!r} cannot be the name of a snapshot.")
        with (
            self._opened(f"keep the snapshot {name}"),
            locked(self._folder / "lock", time.monotonic() + _MOST_SECONDS),
        ):
            objects, edits = self._objects, Edits()
            for path, entry in entries.items():
                if entry is not None and entry.id in made:
                    objects.write_blob(made[entry.id])
                set_edit(edits, path, entry)
            tree = edited(base.tree, edits, objects.read, objects.write_tree)
            tree = tree or objects.write_tree(b"")
            return objects.commit(name, tree, base.id, 0.0, base.left_out)

    def get(self, name: str) -> Snapshot | None:
        """The snapshot of this name; None where there is none, or where it is damaged."""
        with self._opened("read a snapshot"):
            return self._objects.snapshot(name) if _NAME.fullmatch(name) else None

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """The names that are `prefix` or go on behind it with a slash, sorted."""
        with self._opened("read a snapshot"):
            return tuple(sorted(name for name in self._objects.names() if is_below(name, prefix)))

    def drop(self, prefix: str) -> tuple[str, ...]:
        """Forget these snapshots; their bytes go when the store is next cleaned up."""
        with (
            self._opened("forget snapshots"),
            locked(self._folder / "lock", time.monotonic() + _MOST_SECONDS),
        ):
            names = self.names(prefix)
            for name in names:
                self._objects.forget(name)
            if names and not exists(self._objects.folder / _DROPPED):
                write_private(self._objects.folder / _DROPPED, b"")
            return names

    def changes(self, old: Snapshot, new: Snapshot) -> tuple[FileDelta, ...]:
        """The paths that differ, sorted within each folder."""
        with self._opened("read a snapshot"):
            return tuple(compare(old.tree, new.tree, self._objects.read))

    def entry(self, snapshot: Snapshot, path: str) -> Entry | None:
        """What a snapshot has at a path; a folder is an entry too."""
        with self._opened("read a snapshot"):
            return entry_at(snapshot.tree, path, self._objects.read)

    def paths(self, snapshot: Snapshot, folder: str = "") -> tuple[str, ...]:
        """The paths of the files and links in a folder of a snapshot, or in all of it."""
        with self._opened("read a snapshot"):
            return tuple(paths_in(snapshot.tree, folder, self._objects.read))

    def read(self, entry: Entry) -> bytes:
        """The bytes of a file, or what a link says."""
        with self._opened("read a snapshot"):
            return self._objects.read(entry.id)

    def clean_up(self, keep: Collection[str] = (), deadline: float | None = None) -> Cleaned | None:
        """Bring the store below its limit and leave out what was dropped; None if nothing is to do.

        The oldest snapshots go first; the newest stays, and those whose names are in `keep` or
        begin with one of them and a slash.
        """
        most = self._place.limits.store_bytes
        with (
            self._opened("make room for snapshots"),
            self._limit(deadline) as limit,
            locked(self._folder / "lock", limit.at),
        ):
            self._reopened()
            dropped = exists(self._objects.folder / _DROPPED)
            if not dropped and self._objects.disk_usage() <= most:
                return None
            self._last = None
            return clean(
                self._objects,
                lambda name: any(is_below(name, kept) for kept in keep),
                most,
                limit,
            )

    def stop(self) -> None:
        """Have what runs in other threads end at its next step, as if its time were up."""
        self._stopped = True
        if self._running is not None:
            self._running.end()

    @contextmanager
    def _limit(self, given: float | None) -> Generator[Deadline]:
        """When the work in hand has to end."""
        at = time.monotonic() + _MOST_SECONDS if given is None else given
        self._running = Deadline(0.0 if self._stopped else at)
        try:
            yield self._running
        finally:
            self._running = None

    @contextmanager
    def _opened(self, doing: str) -> Generator[None]:
        with self._thread, explained(doing):
            self._reopened()
            yield

    def _is_replaced(self) -> bool:
        return find_store(self._folder) != self._objects.folder

    def _reopened(self) -> bool:
        if not self._is_replaced():
            return False
        self._last = None
        self._objects = Objects(find_store(self._folder) or self._objects.folder)
        return True
