"""Looking at the whole workspace: which files and links belong into a snapshot.

Ripgrep lists the files that no ignore file hides. Our own walk through the folders of those finds
what it does not tell: links, nested repositories, folders that cannot be read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pails.host.listing import list_files, not_ignored
from pails.host.tree import Status, names_and_kinds, status_of
from pails.snapshots.build_folders import ALWAYS, BESIDE, is_build_folder
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import LeftOut, Limits, Reason, parents

# In folders that hold no listed file - most are ignored - so many names are looked at for links.
_MOST_UNLISTED_NAMES = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """What to look at. `own` is the store's folder, relative to `root`; "" where it is outside."""

    root: Path
    own: str
    scratch: Path
    limits: Limits

    def absolute(self, path: str) -> str:
        return f"{self.root}/{path}" if path else str(self.root)


@dataclass(slots=True)
class Look:
    """What was seen; nothing has been read yet.

    `gone` are paths that must not be in the snapshot; after a look at everything, whatever is not
    named here is not in it anyway. `left_out` stays true until somebody looks there again; `told`
    is for this snapshot only.
    """

    files: dict[str, Status] = field(default_factory=dict[str, Status])
    links: list[str] = field(default_factory=list[str])
    gone: list[str] = field(default_factory=list[str])
    left_out: dict[str, Reason] = field(default_factory=dict[str, Reason])
    told: list[LeftOut] = field(default_factory=list[LeftOut])

    def add_file(self, path: str, status: Status, limits: Limits) -> None:
        """A file that belongs into the snapshot, unless it is too large."""
        if status.size > limits.file_bytes:
            self.left_out[path] = Reason.TOO_LARGE
            self.gone.append(path)
        else:
            self.files[path] = status


def look_everywhere(place: Place, deadline: Deadline) -> Look:
    """Raises `TimeoutError`, `OSError`, `ConfigurationError`."""
    walk = _Walk(place, list_files(place.root, sorted(ALWAYS), deadline.at), deadline)
    walk.run()
    visible = not_ignored(place.root, walk.links, place.scratch, deadline.at)
    walk.look.links = [path for path in walk.links if path in visible]
    return walk.look


def _by_folder(listed: Iterable[str]) -> dict[str, set[str]]:
    """The names of the listed files in each folder; folders that hold only folders have none."""
    folders: dict[str, set[str]] = {"": set()}
    for path in listed:
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = set()
            for above in parents(folder):
                folders.setdefault(above, set())
        folders[folder].add(name)
    return folders


class _Walk:
    """From the root through the folders that hold listed files."""

    def __init__(self, place: Place, listed: list[str], deadline: Deadline) -> None:
        self.look = Look()
        self.links: list[str] = []
        """Also such as are ignored."""
        self._place = place
        self._deadline = deadline
        self._listed = _by_folder(listed)
        self._to_visit = [""]

    def run(self) -> None:
        while self._to_visit:
            self._deadline.check()
            self._visit(self._to_visit.pop())

    def _visit(self, folder: str) -> None:
        items = self._items(folder)
        if items is None:
            return
        if folder and ".git" in items:
            self.look.left_out[folder] = Reason.NESTED
            return
        prefix = folder + "/" if folder else ""
        listed = self._listed[folder]
        for name, kind in items.items():
            path = prefix + name
            if kind == "file" and name in listed:
                self._add_file(path)
            elif kind == "link":
                self.links.append(path)
            elif kind == "folder":
                self._enter(path, name, prefix)

    def _enter(self, path: str, name: str, prefix: str) -> None:
        if path == self._place.own or name in ALWAYS:
            return
        if path not in self._listed:
            self._find_links(path)
        elif name in BESIDE and is_build_folder(name, lambda sign: self._exists(prefix + sign)):
            self.look.left_out[path] = Reason.BUILD
        else:
            self._to_visit.append(path)

    def _exists(self, path: str) -> bool:
        return status_of(self._place.absolute(path)) is not None

    def _items(self, folder: str) -> dict[str, str] | None:
        try:
            return dict(names_and_kinds(self._place.absolute(folder)))
        except FileNotFoundError:  # it went away since it was listed
            return None
        except OSError:
            self.look.left_out[folder] = Reason.UNREADABLE
            return None

    def _add_file(self, path: str) -> None:
        try:
            status = status_of(self._place.absolute(path))
        except OSError:
            self.look.left_out[path] = Reason.UNREADABLE
            return
        if status is not None and status.kind == "file":
            self.look.add_file(path, status, self._place.limits)

    def _find_links(self, folder: str) -> None:
        """Collect the links in a folder without listed files: it is ignored, or has only links."""
        folders, seen = [folder], 0
        while folders and seen < _MOST_UNLISTED_NAMES:
            current = folders.pop()
            items = self._items(current) or {}
            seen += len(items) + 1
            if ".git" in items:
                continue
            for name, kind in items.items():
                if kind == "link":
                    self.links.append(f"{current}/{name}")
                elif kind == "folder" and name not in ALWAYS:
                    folders.append(f"{current}/{name}")
