"""The store and the watcher of one workspace, which all its sessions share."""

import threading
import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pails.host.folders import make_private
from pails.host.tree import status_of
from pails.snapshots.build_folders import is_build_folder
from pails.snapshots.entries import Snapshot, SnapshotError

if TYPE_CHECKING:
    from pails.host.watch import Watcher
    from pails.snapshots.store import SnapshotStore

LoadSnapshots = Callable[[], "tuple[type[SnapshotStore], type[Watcher]]"]
"""Imports the store and the watcher: with the first snapshot, since no start should wait for it."""

_WATCH_SECONDS = 2.0
_MOST_SECONDS = 60.0
_CLEANING_EVERY_SECONDS = 3600.0
_MOST_CLEANING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Open:
    store: "SnapshotStore"
    watcher: "Watcher"


class WorkspaceSnapshots:
    """Opens with the first snapshot. Methods block, so use them in threads; all but `close` raise
    `SnapshotError`, and nothing else for what can go wrong outside of us."""

    def __init__(self, folder: Path, workspace: Path, load: LoadSnapshots) -> None:
        self.is_closed = False
        self._folder = folder
        self._workspace = workspace
        self._load = load
        self._lock = threading.Lock()
        self._open: _Open | None = None
        self._clean_next = 0.0

    @property
    def problem(self) -> str:
        """A sentence about what makes snapshots slow here; empty where nothing does."""
        reason = self._open.watcher.problem if self._open else ""
        if not reason:
            return ""
        return (
            f"Pails cannot watch {self._workspace} for changes: {reason}. Each snapshot looks at "
            "all of its files instead, which takes longer in a large folder."
        )

    @property
    def store(self) -> "SnapshotStore":
        """Opens it where it is not open yet."""
        with self._lock:
            return self._opened().store

    def take(self, name: str, changed: Collection[Path] = ()) -> Snapshot:
        """A snapshot of this name; `changed` are paths that are known to have changed."""
        with self._lock, self._explained("take a snapshot"):
            opened = self._opened()
            seen = opened.watcher.changed(time.monotonic() + _WATCH_SECONDS)
            deadline = time.monotonic() + _MOST_SECONDS
            return opened.store.take(name, None if seen is None else {*seen, *changed}, deadline)

    def clean_up(self, keep: Collection[str]) -> None:
        """Keep the store below its limit, once in an hour; of `keep` all snapshots stay."""
        with self._lock:
            now = time.monotonic()
            if self._open is not None and now >= self._clean_next:
                self._clean_next = now + _CLEANING_EVERY_SECONDS
                self._open.store.clean_up(keep, now + _MOST_CLEANING_SECONDS)

    def close(self) -> None:
        """End what runs in other threads, and watch no longer."""
        self.is_closed = True
        if self._open is not None:
            self._open.store.stop()
        with self._lock:
            if self._open is not None:
                self._open.watcher.close()

    def _opened(self) -> _Open:
        if self._open is None and not self.is_closed:
            with self._explained("open the store of snapshots"):
                self._open = self._begin()
        # Asked again behind the opening: who closed meanwhile has found no store to stop.
        if self._open is None or self.is_closed:
            raise SnapshotError("Pails is ending, so no snapshot is taken any more.")
        return self._open

    def _begin(self) -> _Open:
        store, watcher = self._load()
        opened = store.open(self._folder, self._workspace)
        scratch = self._folder / "watch"
        make_private(scratch)
        return _Open(opened, watcher(self._workspace, scratch, self._is_unwatched))

    @contextmanager
    def _explained(self, doing: str) -> Generator[None]:
        """Turn what is no sentence for a person yet into one."""
        try:
            yield
        except SnapshotError:
            raise
        except (ImportError, OSError) as error:
            raise SnapshotError(
                f"Pails could not {doing} of {self._workspace}: {error}. Your files are as they "
                "were, and the work goes on; what commands change until a snapshot succeeds cannot "
                "be taken back."
            ) from error

    def _is_unwatched(self, path: str) -> bool:
        above, _, name = path.rpartition("/")
        if path == str(self._folder):
            return True
        return is_build_folder(name, lambda sign: status_of(f"{above}/{sign}") is not None)
