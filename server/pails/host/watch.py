"""Which paths below a folder changed since one last asked, as the operating system tells it.

Linux watches single folders, so each is named; build folders and the like are left out and cost
nothing. Elsewhere the system watches a whole tree by itself. Between two questions nothing of ours
runs: what happened waits in a set of `watchfiles`.

That everything up to now has been told is known by a cookie: a file that we make in a folder of our
own, which is watched as well. What happened before it was told before it.
"""

import os
import secrets
import sys
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, watch

from pails.host.tree import names_and_kinds

_RECURSIVE = sys.platform != "linux"
_MOST_FOLDERS = 20_000
_MOST_CHANGES = 5_000
"""With more at once the system may have dropped some, of which nobody hears."""
_TRIES = 3
_MILLISECONDS = 1

_Changes = Generator[set[tuple[Change, str]], None, None]


class Watcher:
    """Watches one folder. Blocks: call it in a thread, and one call at a time.

    `scratch` is an existing folder of ours, `is_left_out` says of an absolute path below `root`
    that a folder there is not to be watched.
    """

    def __init__(self, root: Path, scratch: Path, is_left_out: Callable[[str], bool]) -> None:
        self.problem = ""
        """Why this folder cannot be watched; empty as long as it can."""
        self._root = root
        self._scratch = scratch
        self._is_left_out = is_left_out
        self._changes: _Changes | None = None

    def changed(self, deadline: float) -> frozenset[Path] | None:
        """The paths that changed since the last call; a new folder stands for all that is in it.

        None when that is not known: at the first call, when the system told too much or nothing
        until `time.monotonic()` reached `deadline`, and always where there is a `problem`.
        """
        if self.problem:
            return None
        if self._changes is not None:
            try:
                return self._told(self._changes, deadline)
            except (OSError, RuntimeError):  # also a name that is not UTF-8, and TimeoutError
                self.close()
        self._begin()
        return None

    def close(self) -> None:
        """Watch no longer."""
        if self._changes is not None:
            self._changes.close()
            self._changes = None

    def _told(self, changes: _Changes, deadline: float) -> frozenset[Path]:
        seen = self._up_to_now(changes, deadline)
        paths, new_folder = self._judged(seen)
        tries = 0
        while new_folder and not _RECURSIVE:
            if tries == _TRIES:
                raise TimeoutError(f"{self._root} does not come to rest")
            tries += 1
            self._changes = self._armed()
            more, new_folder = self._judged(next(changes))  # what happened while it was armed
            paths |= more
            changes.close()
            changes = self._changes
        return frozenset(paths)

    def _up_to_now(self, changes: _Changes, deadline: float) -> set[tuple[Change, str]]:
        """All that has been told. Raises `TimeoutError`, and what `watchfiles` raises."""
        cookie = self._scratch / f"cookie-{secrets.token_hex(4)}"
        seen: set[tuple[Change, str]] = set()
        cookie.touch()
        try:
            while not any(path == str(cookie) for _, path in seen):
                seen |= next(changes)
                if time.monotonic() >= deadline or len(seen) > _MOST_CHANGES:
                    raise TimeoutError(f"not all is known that happened in {self._root}")
        finally:
            with suppress(OSError):
                cookie.unlink()
        return seen

    def _judged(self, seen: set[tuple[Change, str]]) -> tuple[set[Path], bool]:
        """The paths that matter, and whether a folder is among them that is not watched yet."""
        paths: set[Path] = set()
        new_folder = False
        for change, name in seen:
            path = Path(name)
            if self._scratch in (path, path.parent):
                continue
            is_folder = path.is_dir() and not path.is_symlink()
            if is_folder and change is Change.modified:
                continue  # of what is in it we are told by name
            new_folder |= is_folder and not self._is_left_out(name)
            paths.add(path)
        return paths, new_folder

    def _begin(self) -> None:
        for _ in range(_TRIES):
            try:
                self._changes = self._armed()
                return
            except FileNotFoundError:  # a folder went away since it was found
                continue
            except (OSError, RuntimeError) as error:
                self.problem = str(error)
                return
        self.problem = "its folders come and go too fast"

    def _armed(self) -> _Changes:
        """Watching from now on. Raises `OSError` or `RuntimeError` where that is impossible."""
        folders = [str(self._root)] if _RECURSIVE else self._folders()
        changes = watch(
            *folders,
            str(self._scratch),
            watch_filter=None,
            debounce=_MILLISECONDS,
            step=_MILLISECONDS,
            rust_timeout=_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=False,
            recursive=_RECURSIVE,
            ignore_permission_denied=True,
        )
        next(changes)  # only now it watches
        return changes

    def _folders(self) -> list[str]:
        """The folder itself and all below it that are to be watched."""
        found: list[str] = []
        waiting = [str(self._root)]
        while waiting:
            folder = waiting.pop()
            found.append(folder)
            if len(found) > _MOST_FOLDERS:
                raise OSError(f"it has more than {_MOST_FOLDERS:,} folders")
            with suppress(OSError):  # it went away, or we may not look into it
                for name, kind in names_and_kinds(folder):
                    path = os.path.join(folder, name)  # noqa: PTH118 - strings, as in `tree`
                    if kind == "folder" and not self._is_left_out(path):
                        waiting.append(path)
        return found
