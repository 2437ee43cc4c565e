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
from dataclasses import dataclass
from pathlib import Path

from pygit2 import GitError

from pails.core.errors import ConfigurationError, StorageError
from pails.host.files import exists, read_bytes, write_atomic, write_private
from pails.host.folders import home_folders, make_private
from pails.host.locks import locked
from pails.host.paths import is_within, real_folder, real_path
from pails.snapshots.cleaning import Cleaned, clean, find_store, open_store
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import (
    FOLDER,
    Entry,
    FileDelta,
    LeftOut,
    Limits,
    Reason,
    Snapshot,
    SnapshotError,
    is_below,
)
from pails.snapshots.look import Look, Place, look_everywhere
from pails.snapshots.look_again import Base, EverythingChangedError, look_at, still_left_out
from pails.snapshots.objects import Objects
from pails.snapshots.reading import Reader
from pails.snapshots.stat_cache import decode, encode
from pails.snapshots.trees import Edits, compare, edited, entry_at, set_edit, walk

_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_MOST_SECONDS = 600.0
_CACHE = "stat-cache"
_CACHE_BYTES = 1_000_000_000
_DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class _Taken:
    """What the last snapshot of this process was made of."""

    tree: str
    left_out: dict[str, Reason]


class SnapshotStore:
    """The snapshots of one workspace; one object of a process, used from any thread.

    Methods raise `SnapshotError`, whose text is for a person. `deadline` is an instant of
    `time.monotonic()`; without one a call gives up after ten minutes.
    """

    def __init__(self, folder: Path, place: Place, objects: Objects) -> None:
        self._folder = folder
        self._place = place
        self._objects = objects
        self._last: _Taken | None = None
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
        if reason := _refusal(root):
            raise SnapshotError(
                f"Pails keeps no snapshots of {root}: it is {reason}. What the agent does there "
                "cannot be taken back as a whole. Open the folder of one project instead."
            )
        advice = f"If it stays so, remove {folder}: then Pails begins a new one, without the old"
        with _explained("open the store of snapshots", f" {advice} snapshots."):
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
        with self._thread, _explained(f"take the snapshot {name}"), self._limit(deadline) as limit:
            last, self._last = self._last, None
            while True:
                if self._reopened():
                    last = None
                look, everything = self._look(last, changed, limit)
                with locked(self._folder / "lock", limit.at):
                    if self._is_replaced():
                        continue
                    base = None if everything else last
                    taken = self._write(look, base, limit)
                    left_out = _told(taken, look)
                    seconds = time.monotonic() - started
                    snapshot = self._objects.commit(
                        name, taken.tree, self._parent, seconds, left_out
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
            return tuple(self._paths(snapshot.tree, folder))

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

    # -- looking and writing

    def _look(
        self, last: _Taken | None, changed: Collection[Path] | None, deadline: Deadline
    ) -> tuple[Look, bool]:
        """What is to be in the snapshot, and whether that is everything in it."""
        if last is not None and changed is not None:
            tree, read = last.tree, self._objects.read
            base = Base(
                lambda path: entry_at(tree, path, read),
                lambda folder: self._paths(tree, folder),
                last.left_out,
            )
            try:
                return look_at(self._place, changed, base, deadline), False
            except EverythingChangedError:
                pass
        return look_everywhere(self._place, deadline), True

    def _write(self, look: Look, base: _Taken | None, deadline: Deadline) -> _Taken:
        """Store what was seen, on top of the last snapshot or from nothing."""
        objects = self._objects
        edits: Edits = {}
        reader = Reader(self._place, look, objects.write_blob, self._cache() if not base else {})
        entries = None
        try:
            entries = reader.read(deadline)
        finally:
            if (
                base is None and reader.has_read
            ):  # also when time was up: the next scan then gets further
                write_atomic(objects.folder / _CACHE, encode(reader.rows, reader.started))
        for path in look.gone:
            set_edit(edits, path, None)
        for path, entry in entries.items():
            set_edit(edits, path, entry)
        tree = edited(base.tree if base else None, edits, objects.read, objects.write_tree)
        left_out = still_left_out(base.left_out, look) if base else look.left_out
        return _Taken(tree or objects.write_tree(b""), left_out)

    def _cache(self) -> dict[str, bytes]:
        try:
            return decode(read_bytes(self._objects.folder / _CACHE, _CACHE_BYTES))
        except OSError:
            return {}

    def _paths(self, tree: str, folder: str) -> list[str]:
        read = self._objects.read
        entry = entry_at(tree, folder, read) if folder else Entry(FOLDER, tree)
        if entry is None or entry.mode != FOLDER:
            return []
        return [path for path, _ in walk(entry.id, read, f"{folder}/" if folder else "")]

    # -- the store, which another process may have replaced

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
        with self._thread, _explained(doing):
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


def _told(taken: _Taken, look: Look) -> tuple[LeftOut, ...]:
    standing = [LeftOut(path, reason) for path, reason in sorted(taken.left_out.items())]
    return (*standing, *look.told)


def _refusal(root: Path) -> str:
    """Why a folder is too much for snapshots; empty if it is not."""
    if root.parent == root:
        return "the root of a file system"
    for home in home_folders():
        if root == home:
            return "your home folder"
        if is_within(home, root):
            return "a folder above your home folder"
    return ""


@contextmanager
def _explained(doing: str, advice: str = "") -> Generator[None]:
    """Turn what may go wrong into sentences for a person."""
    try:
        yield
    except TimeoutError as error:
        raise SnapshotError(
            f"Pails could not {doing} in time. Your files are as they were, and so are all older "
            "snapshots; the next one looks at everything again."
        ) from error
    except SnapshotError:
        raise
    except (GitError, OSError, ValueError, StorageError, ConfigurationError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SnapshotError(
            f"Pails could not {doing}: {reason}. Your files are as they were.{advice}", reason
        ) from error
