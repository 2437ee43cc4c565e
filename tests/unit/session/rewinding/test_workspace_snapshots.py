"""What happens when the store cannot be opened, or is closed before it is open."""

import threading
from pathlib import Path
from typing import Any

import pytest

from pails.entry import load_snapshots
from pails.host.watch import Watcher
from pails.session.rewinding.workspace_snapshots import WorkspaceSnapshots
from pails.snapshots.entries import SnapshotError
from pails.snapshots.store import SnapshotStore


def test_closing_stops_a_first_snapshot_whose_store_is_still_opening(tmp_path: Path) -> None:
    opening, go_on = threading.Event(), threading.Event()

    class SlowStore(SnapshotStore):
        @classmethod
        def open(cls, *args: Any) -> SnapshotStore:
            opening.set()
            assert go_on.wait(20)
            return SnapshotStore.open(*args)

    folder, workspace = tmp_path / "store", tmp_path / "workspace"
    workspace.mkdir()
    snapshots = WorkspaceSnapshots(folder, workspace, lambda: (SlowStore, Watcher))
    failures: list[SnapshotError] = []

    def take() -> None:
        try:
            snapshots.take("s/t/before")
        except SnapshotError as error:
            failures.append(error)

    taking = threading.Thread(target=take)
    taking.start()
    assert opening.wait(20)
    closing = threading.Thread(target=snapshots.close)
    closing.start()
    while not snapshots.is_closed:
        closing.join(0.001)
    go_on.set()
    taking.join()
    closing.join()

    assert ["ending" in str(failure) for failure in failures] == [True]
    assert SnapshotStore.open(folder, workspace).names() == ()


@pytest.mark.parametrize("failure", [ImportError("no git here"), OSError(5, "no git here")])
def test_what_cannot_be_loaded_is_a_sentence_and_is_tried_again(
    tmp_path: Path, failure: Exception
) -> None:
    failures = [failure]

    def load() -> tuple[type[SnapshotStore], type[Watcher]]:
        if failures:
            raise failures.pop()
        return load_snapshots()

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    snapshots = WorkspaceSnapshots(tmp_path / "store", workspace, load)
    try:
        with pytest.raises(SnapshotError, match=r"no git here.*Your files are as they were"):
            snapshots.take("s/t/before")
        assert snapshots.take("s/t/after").name == "s/t/after"
    finally:
        snapshots.close()
