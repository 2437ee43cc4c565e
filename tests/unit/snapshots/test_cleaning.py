import os
import subprocess
from pathlib import Path

import pytest

from pails.snapshots.entries import Limits, Snapshot, SnapshotError
from pails.snapshots.store import SnapshotStore

MEGABYTE = 1_000_000


def fill(store: SnapshotStore, workspace: Path, names: list[str]) -> dict[str, Snapshot]:
    """Snapshots of half a megabyte each that nothing can compress."""
    snapshots: dict[str, Snapshot] = {}
    for name in names:
        (workspace / "data").write_bytes(os.urandom(MEGABYTE // 2))
        snapshots[name] = store.take(name)
    return snapshots


def readable(store: SnapshotStore) -> set[str]:
    found = {name: store.get(name) for name in store.names()}
    for snapshot in found.values():
        assert snapshot
        for path in store.paths(snapshot):
            entry = store.entry(snapshot, path)
            assert entry and store.read(entry) is not None
    return {*found}


def test_the_oldest_go_until_the_store_is_small_enough(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, Limits(store_bytes=3 * MEGABYTE))
    (workspace / "same").write_text("in all of them")
    names = [f"s/{number}" for number in range(10)]
    snapshots = fill(store, workspace, names)

    cleaned = store.clean_up(keep=["s/1"])

    assert cleaned
    assert cleaned.before > 3 * MEGABYTE > cleaned.after > MEGABYTE
    left = readable(store)
    assert {"s/1", "s/9"} <= left
    assert left == {*names} - {*cleaned.dropped}
    newest = [name for name in names if name in left and name != "s/1"]
    assert newest == names[-len(newest) :], "the newest are kept"
    assert {name: store.get(name) for name in left} == {name: snapshots[name] for name in left}
    assert store.clean_up() is None
    assert store.take("next", [Path("data")]).tree == snapshots["s/9"].tree


def test_git_finds_the_cleaned_store_sound(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, Limits(store_bytes=2 * MEGABYTE))
    fill(store, workspace, [f"s/{number}" for number in range(8)])
    store.clean_up()
    store.take("more")

    folder = next((tmp_path / "store").glob("store-*"))
    check = subprocess.run(
        ["git", f"--git-dir={folder}", "fsck", "--full", "--strict"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr
    assert "missing" not in check.stdout + check.stderr


def test_what_was_dropped_goes_though_there_is_room(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    fill(store, workspace, ["a/1", "a/2", "b/1"])
    assert store.clean_up() is None
    store.drop("a")

    cleaned = store.clean_up()

    assert cleaned
    assert cleaned.after < MEGABYTE < cleaned.before
    assert readable(store) == {"b/1"}
    assert store.clean_up() is None


def test_what_must_stay_may_be_larger_than_the_limit(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, Limits(store_bytes=MEGABYTE))
    fill(store, workspace, ["keep/1", "keep/2", "go", "keep/3"])

    assert store.clean_up(keep=["keep"])
    assert readable(store) == {"keep/1", "keep/2", "keep/3"}


@pytest.mark.parametrize("looks_first", [True, False])
def test_a_store_that_another_process_cleaned_is_opened_anew(
    tmp_path: Path, workspace: Path, looks_first: bool
) -> None:
    limits = Limits(store_bytes=MEGABYTE)
    one = SnapshotStore.open(tmp_path / "store", workspace, limits)
    other = SnapshotStore.open(tmp_path / "store", workspace, limits)
    fill(one, workspace, ["a", "b", "c"])
    fill(other, workspace, ["d"])

    assert other.clean_up()
    if looks_first:
        assert one.names() == ("d",)

    (workspace / "new").write_text("x")
    snapshot = one.take("e", [workspace / "new"])
    assert {*one.paths(snapshot)} == {"data", "new"}
    assert readable(one) == readable(other) == {"d", "e"}


def test_a_damaged_snapshot_does_not_stop_the_cleaning(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, Limits(store_bytes=MEGABYTE))
    snapshots = fill(store, workspace, ["a", "b", "c"])
    entry = store.entry(snapshots["b"], "data")
    assert entry
    folder = next((tmp_path / "store").glob("store-*"))
    (folder / "objects" / entry.id[:2] / entry.id[2:]).unlink()
    with pytest.raises(SnapshotError):
        store.read(entry)

    assert store.clean_up(keep=["a", "b"])
    assert readable(store) == {"a", "c"}
