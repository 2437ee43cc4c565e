"""The git store: objects, commits and refs, by libgit2 and nothing else.

It is isolated. No program runs; configuration comes from the store's own file only, never from
the system or the person; bytes go in and out as they are, since no attribute and no filter is ever
asked. libgit2 reads no GIT_* variable unless it is told to, which we never do.

    refs/pails/<name>    a snapshot

Whoever writes holds the lock of the store. So a lock file of libgit2's own that is in the way was
left by a process that was killed, and is removed.
"""

import json
import time
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from pygit2 import GitError, Oid, PackBuilder, Repository, Signature, init_repository, settings
from pygit2.enums import ConfigLevel, ObjectType, RepositoryOpenFlag

from pails.host.files import write_private
from pails.host.folders import disk_usage, find_files, remove_files
from pails.snapshots.entries import FOLDER, LeftOut, Reason, Snapshot
from pails.snapshots.trees import parse

_PREFIX = "refs/pails/"
_LEVELS = (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL, ConfigLevel.PROGRAMDATA)
_LEFTOVERS = (
    *("*.lock", "refs/**/*.lock", "objects/tmp_object_*", "objects/pack/pack_git2_*"),
    *("objects/pack/*.lock", ".pails-*.tmp"),
)
_PACK_THREADS = 1


class Objects:
    """One git store. Methods raise `GitError`, `OSError` or `ValueError` where it is damaged."""

    def __init__(self, folder: Path) -> None:
        _isolate()
        self.folder = folder
        # Without searching, or a damaged store would lead to a repository in a folder above.
        self._repository = Repository(
            str(folder), RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.BARE
        )

    @classmethod
    def create(cls, folder: Path) -> "Objects":
        """A new, empty store."""
        _isolate()
        init_repository(str(folder), bare=True)
        return cls(folder)

    def sweep(self) -> None:
        """Remove what killed processes left behind; only for who holds the lock."""
        remove_files(find_files(self.folder, _LEFTOVERS))

    def disk_usage(self) -> int:
        """How many bytes the store takes on the disk."""
        return disk_usage(self.folder)

    # -- objects

    def read(self, id: str) -> bytes:
        """The bytes of a file, a link or a tree."""
        return self._repository.read(id)[1]

    def write_blob(self, data: bytes) -> str:
        return str(self._repository.write(ObjectType.BLOB, data))

    def write_tree(self, data: bytes) -> str:
        return str(self._repository.write(ObjectType.TREE, data))

    # -- snapshots

    def commit(
        self,
        name: str,
        tree: str,
        parent: str | None,
        seconds: float,
        left_out: tuple[LeftOut, ...],
    ) -> Snapshot:
        """Store a tree as a snapshot, under a name that may have had another one before."""
        taken = time.time()
        who = Signature("Pails", "pails@localhost", int(taken), 0)
        about = {
            "taken": taken,
            "seconds": seconds,
            "leftOut": [[item.path, item.reason.name] for item in left_out],
        }
        parents: list[str | Oid] = [parent] if parent and parent in self._repository else []
        message = f"{name}\n\n{json.dumps(about)}\n"
        id = self._repository.create_commit(None, who, who, message, tree, parents)
        self._point(_PREFIX + name, id)
        return Snapshot(name, str(id), tree, taken, seconds, left_out)

    def snapshot(self, name: str) -> Snapshot | None:
        """The snapshot of this name; None where there is none, or where it is damaged."""
        id = self._target(_PREFIX + name)
        if id is None:
            return None
        try:
            lines = self._repository.read(id)[1].decode().split("\n")
            about = json.loads(lines[-2])
            left_out = tuple(LeftOut(path, Reason[reason]) for path, reason in about["leftOut"])
            tree = lines[0].removeprefix("tree ")
            return Snapshot(name, str(id), tree, about["taken"], about["seconds"], left_out)
        except (GitError, ValueError, KeyError, IndexError, TypeError):
            return None

    def newest(self) -> str | None:
        """The commit of the newest snapshot."""
        found = [snapshot for name in self.names() if (snapshot := self.snapshot(name))]
        return max(found, key=lambda snapshot: snapshot.taken).id if found else None

    def names(self) -> list[str]:
        found = self._repository.listall_references()
        return [name.removeprefix(_PREFIX) for name in found if name.startswith(_PREFIX)]

    def forget(self, name: str) -> None:
        """Remove the name; the bytes stay until `copy_to` leaves them behind."""
        self.sweep()
        try:
            self._repository.references.delete(_PREFIX + name)
        except (GitError, KeyError):  # what it says is damaged
            remove_files([self.folder / (_PREFIX + name)])

    # -- copying what is still needed

    def reachable(self, snapshot: Snapshot, known: set[str]) -> set[str]:
        """The ids of everything that a snapshot needs and that is not known yet."""
        found = {snapshot.id} - known
        trees = [snapshot.tree]
        while trees:
            tree = trees.pop()
            if tree in known or tree in found:
                continue
            found.add(tree)
            for entry in parse(self.read(tree)).values():
                if entry.mode == FOLDER:
                    trees.append(entry.id)
                elif entry.id not in known and entry.id not in found:
                    self.size(entry.id)  # it must be there
                    found.add(entry.id)
        return found

    def size(self, id: str) -> int:
        """How many bytes an object has, before it is compressed."""
        return self._repository.odb.read_header(id)[1]

    def copy_to(self, folder: Path, snapshots: Iterable[Snapshot], ids: Collection[str]) -> None:
        """Make a new store with these snapshots; `ids` are all that they need."""
        fresh = Objects.create(folder)
        builder = PackBuilder(self._repository)
        builder.set_threads(_PACK_THREADS)
        for id in ids:
            builder.add(Oid(hex=id))
        if len(builder):
            with _durable():
                builder.write(folder / "objects" / "pack")
        copied = set(ids)
        cut = ""
        for snapshot in snapshots:
            fresh._point(_PREFIX + snapshot.name, snapshot.id)
            if any(parent not in copied for parent in self._parents(snapshot.id)):
                cut += snapshot.id + "\n"
        if cut:  # git reads here that the parents of these are missing on purpose
            write_private(folder / "shallow", cut.encode())

    def _parents(self, commit: str) -> list[str]:
        header = self._repository.read(commit)[1].decode().partition("\n\n")[0]
        rows = [line.partition(" ") for line in header.split("\n")]
        return [id for word, _, id in rows if word == "parent"]

    # -- refs

    def _target(self, ref: str) -> str | None:
        try:
            return str(self._repository.references[ref].target)
        except (KeyError, GitError, ValueError):
            return None

    def _point(self, ref: str, id: Oid | str) -> None:
        try:
            self._repository.create_reference(ref, id, force=True)
        except (OSError, GitError):
            self.sweep()
            remove_files([self.folder / ref])  # what it says is damaged
            self._repository.create_reference(ref, id, force=True)


@contextmanager
def _durable() -> Generator[None]:
    """Wait for the disk: what is written takes the place of all that was there before.

    For single objects that would take too long; what the machine loses with its power is read as
    damaged.
    """
    settings.enable_fsync_gitdir(True)
    try:
        yield
    finally:
        settings.enable_fsync_gitdir(False)


def _isolate() -> None:
    """Take away every place but the store itself where libgit2 looks for configuration.

    The settings belong to the whole process, in which nobody else uses libgit2.
    """
    for level in _LEVELS:
        settings.search_path[level] = ""
    # The store is in our own folder; in a container that may well belong to somebody else.
    settings.owner_validation = False
