"""Looking only at paths that are said to have changed since the last snapshot."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from pails.host.listing import IGNORE_FILES, not_ignored
from pails.host.paths import is_within, named_and_real
from pails.host.tree import Kind, Status, names_and_kinds, status_of
from pails.snapshots.build_folders import ALWAYS, SIGNS, is_build_folder
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import FOLDER, Entry, LeftOut, Reason, is_below
from pails.snapshots.look import Look, Place

_MOST_NAMES = 2_000


class EverythingChangedError(Exception):
    """What is left out may be different now, or so much changed: look at everything instead."""


class Base:
    """The last snapshot, as far as it matters here."""

    def __init__(
        self,
        entry_at: Callable[[str], Entry | None],
        paths_below: Callable[[str], Collection[str]],
        left_out: Mapping[str, Reason],
    ) -> None:
        self.entry_at = entry_at
        self.paths_below = paths_below
        self.left_out = left_out


def look_at(place: Place, changed: Collection[Path], base: Base, deadline: Deadline) -> Look:
    """Look at these paths, absolute or relative to the workspace, and at what is below them.

    Raises `EverythingChangedError`, `TimeoutError`, `OSError`, `ConfigurationError`.
    """
    look = _LookAgain(place, base, deadline)
    for path in changed:
        look.at(path)
    look.judge()
    return look.look


class _LookAgain:
    def __init__(self, place: Place, base: Base, deadline: Deadline) -> None:
        self.look = Look()
        self._place = place
        self._base = base
        self._deadline = deadline
        self._seen: set[str] = set()
        self._new: dict[str, Status] = {}
        """Paths that are not in the last snapshot: they may be ignored."""

    def at(self, path: Path) -> None:
        named, _ = named_and_real(self._place.root / path)
        if not is_within(named, self._place.root):
            self.look.told.append(LeftOut(str(path), Reason.OUTSIDE))
            return
        name = named.relative_to(self._place.root).as_posix()
        if name == ".":
            raise EverythingChangedError
        self._at(name)

    def judge(self) -> None:
        """Ask about the new paths whether they are ignored, all at once."""
        place = self._place
        visible = not_ignored(place.root, self._new, place.scratch, self._deadline.at)
        for path, status in self._new.items():
            if path in visible:
                self._add(path, status)
            else:
                self.look.gone.append(path)
                self.look.told.append(LeftOut(path, Reason.IGNORED))

    def _at(self, name: str) -> None:
        """Go down to the path; where the way ends earlier, that is what changed."""
        self._deadline.check()
        parts = name.split("/")
        for count, part in enumerate(parts, 1):
            path = "/".join(parts[:count])
            if part == ".git":
                return
            try:
                status = status_of(self._place.absolute(path))
            except OSError:
                self._leave_out(path, Reason.UNREADABLE)
                return
            self._check_signs(path, part, status)
            if status is None or status.kind != "folder":
                self._see(path, status)
                return
            if self._is_closed(path, part):
                return
        self._expand(name)

    def _check_signs(self, path: str, name: str, status: Status | None) -> None:
        """Changed rules may hide or reveal any path."""
        if name in IGNORE_FILES:
            raise EverythingChangedError
        if name in SIGNS and (status is None) != (self._base.entry_at(path) is None):
            raise EverythingChangedError

    def _is_closed(self, folder: str, name: str) -> bool:
        """Whether nothing in the folder belongs into a snapshot."""
        above = folder.removesuffix(name)
        if folder == self._place.own:
            return True
        if is_build_folder(name, lambda sign: self._exists(above + sign)):
            self.look.gone.append(folder)
            if name in ALWAYS:
                self.look.told.append(LeftOut(folder, Reason.BUILD))
            else:
                self.look.left_out[folder] = Reason.BUILD
            return True
        if self._exists(folder + "/.git"):
            self._leave_out(folder, Reason.NESTED)
            return True
        if folder in self._base.left_out:
            raise EverythingChangedError  # it was closed, and is not any more
        return False

    def _exists(self, path: str) -> bool:
        return status_of(self._place.absolute(path)) is not None

    def _see(self, path: str, status: Status | None) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        known = self._base.entry_at(path)
        if status is None or status.kind == "other":
            self.look.gone.append(path)
        elif (known and known.mode != FOLDER) or path in self._base.left_out:
            self._add(path, status)
        else:
            self._new[path] = status

    def _add(self, path: str, status: Status) -> None:
        if status.kind == "link":
            self.look.links.append(path)
        else:
            self.look.add_file(path, status, self._place.limits)

    def _leave_out(self, path: str, reason: Reason) -> None:
        self.look.gone.append(path)
        self.look.left_out[path] = reason

    def _expand(self, folder: str) -> None:
        """Look at all that is in the folder, and that was."""
        known = self._base.entry_at(folder)
        if known and known.mode != FOLDER:
            self.look.gone.append(folder)
        below = {*self._base.paths_below(folder)}
        folders = [folder]
        while folders and len(below) <= _MOST_NAMES:
            current = folders.pop()
            for name, kind in self._items(current):
                path = f"{current}/{name}"
                if kind == "folder" and not self._is_closed(path, name):
                    folders.append(path)
                elif kind != "folder":
                    below.add(path)
        if len(below) > _MOST_NAMES:
            raise EverythingChangedError
        for path in below:
            if path not in self._seen:
                self._at(path)

    def _items(self, folder: str) -> list[tuple[str, Kind]]:
        try:
            return names_and_kinds(self._place.absolute(folder))
        except OSError:
            self._leave_out(folder, Reason.UNREADABLE)
            return []


def still_left_out(before: Mapping[str, Reason], look: Look) -> dict[str, Reason]:
    """What is left out after a look at some paths."""
    touched = [*look.files, *look.links, *look.gone]
    kept = {
        path: reason
        for path, reason in before.items()
        if not any(is_below(path, other) for other in touched)
    }
    return kept | look.left_out
