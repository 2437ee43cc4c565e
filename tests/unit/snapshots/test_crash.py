"""Processes that are killed while they write: the store opens, works, and holds no leftovers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pails.snapshots.entries import Limits
from pails.snapshots.store import SnapshotStore
from tests.unit.snapshots.test_cleaning import fill, readable

START = """
import sys
from pathlib import Path
from pails.snapshots.entries import Limits
from pails.snapshots.store import SnapshotStore
store = SnapshotStore.open(Path(sys.argv[1]), Path(sys.argv[2]), Limits(store_bytes=2_000_000))
"""
TAKE = """
number = 0
while True:
    number += 1
    for file in range(40):
        (Path(sys.argv[2]) / f"f{file}").write_text(f"{number} {file}")
    store.take(f"{sys.argv[3]}/{number}")
    print(number, flush=True)
"""
CLEAN = """
print("ready", flush=True)
store.clean_up(keep=["keep"])
"""
OPEN = """
print("ready", flush=True)
folder, number = Path(sys.argv[1]), 0
while True:
    number += 1
    folder.rename(folder.with_name(f"old-{number}"))
    SnapshotStore.open(folder, Path(sys.argv[2]))
"""


def kill_during(program: str, store: Path, workspace: Path, name: str, delay: float) -> None:
    """Start the program, wait for its first line and then `delay` seconds, and kill it."""
    process = subprocess.Popen(
        [sys.executable, "-c", START + program, str(store), str(workspace), name],
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline()
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)


def leftovers(folder: Path) -> list[str]:
    names = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    signs = ("tmp_object", "pack_git2", ".lock", ".new", "model-", ".tmp")
    return [name for name in names if any(sign in name for sign in signs)]


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.04, 0.07])
def test_a_kill_during_a_snapshot(tmp_path: Path, workspace: Path, delay: float) -> None:
    folder = tmp_path / "store"
    kill_during(TAKE, folder, workspace, "killed", delay)

    store = SnapshotStore.open(folder, workspace)

    assert leftovers(folder) == []
    assert "killed/1" in readable(store)
    check_it_works(store, workspace)


def check_it_works(store: SnapshotStore, workspace: Path) -> None:
    (workspace / "new").write_text("x")
    first = store.take("works/1")
    (workspace / "new").write_text("y")
    second = store.take("works/2", [Path("new")])
    assert [delta.path for delta in store.changes(first, second)] == ["new"]


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1])
def test_a_kill_during_cleaning(tmp_path: Path, workspace: Path, delay: float) -> None:
    folder = tmp_path / "store"
    store = SnapshotStore.open(folder, workspace, Limits(store_bytes=2_000_000))
    snapshots = fill(store, workspace, [*(f"s/{number}" for number in range(8)), "keep", "last"])
    kill_during(CLEAN, folder, workspace, "", delay)

    store = SnapshotStore.open(folder, workspace, Limits(store_bytes=2_000_000))

    assert leftovers(folder) == []
    assert len(list(folder.glob("store-*"))) == 1
    left = readable(store)
    assert {"keep", "last"} <= left
    assert all(store.get(name) == snapshots[name] for name in left)
    store.clean_up(keep=["keep"])
    assert {"keep", "last"} <= readable(store)
    check_it_works(store, workspace)


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.002, 0.004, 0.008])
def test_a_kill_while_the_store_is_made(tmp_path: Path, workspace: Path, delay: float) -> None:
    kill_during(OPEN, tmp_path / "store", workspace, "", delay)

    check_it_works(SnapshotStore.open(tmp_path / "store", workspace), workspace)
    assert leftovers(tmp_path / "store") == []


def plant_ref_lock(store: Path) -> None:
    lock = store / "refs" / "pails" / "s" / "1.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_bytes(b"")


def plant_packed_refs_lock(store: Path) -> None:
    (store / "packed-refs.lock").write_bytes(b"")


def plant_cache(store: Path) -> None:
    (store / ".pails-1-01234567.tmp").write_bytes(b"half")


def plant_object(store: Path) -> None:
    (store / "objects" / "tmp_object_git2_0123456789abcdef").write_bytes(b"half")


def plant_pack(store: Path) -> None:
    (store / "objects" / "pack" / "pack_git2_0123456789abcdef").write_bytes(b"half")


def plant_store(store: Path) -> None:
    (store.parent / "store-2.new" / "objects").mkdir(parents=True)


def plant_model(store: Path) -> None:
    (store.parent / "model-abc_12").mkdir()


@pytest.mark.parametrize(
    "plant",
    [
        plant_ref_lock,
        plant_packed_refs_lock,
        plant_object,
        plant_cache,
        plant_pack,
        plant_store,
        plant_model,
    ],
)
def test_leftovers_of_killed_processes_go_when_the_store_is_opened(
    tmp_path: Path, store: SnapshotStore, workspace: Path, plant: Callable[[Path], None]
) -> None:
    plant(tmp_path / "store" / "store-1")
    assert leftovers(tmp_path / "store")

    SnapshotStore.open(tmp_path / "store", workspace)

    assert leftovers(tmp_path / "store") == []


@pytest.mark.parametrize("plant", [plant_ref_lock, plant_packed_refs_lock])
def test_a_stale_lock_does_not_stop_an_open_store(
    tmp_path: Path, store: SnapshotStore, workspace: Path, plant: Callable[[Path], None]
) -> None:
    """Another process was killed while this one has the store open."""
    plant(tmp_path / "store" / "store-1")
    assert store.take("s/1").tree
    plant(tmp_path / "store" / "store-1")
    assert store.take("s/1").tree
    plant(tmp_path / "store" / "store-1")
    assert store.drop("s") == ("s/1",)
    assert store.names() == ()


def test_the_lock_of_a_killed_owner_is_free(tmp_path: Path, workspace: Path) -> None:
    """The file stays, and says nothing."""
    program = (
        "from pails.host.locks import locked; import time, sys\n"
        "with locked(Path(sys.argv[1]) / 'lock', time.monotonic()):\n"
        "    print('ready', flush=True); time.sleep(60)"
    )
    kill_during(program, tmp_path / "store", workspace, "", 0)

    assert (tmp_path / "store" / "lock").exists()
    check_it_works(SnapshotStore.open(tmp_path / "store", workspace), workspace)


def test_a_name_that_was_written_half_is_no_snapshot(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    """As after the machine lost its power."""
    store.take("s/1")
    store.take("s/2")
    (tmp_path / "store" / "store-1" / "refs" / "pails" / "s" / "1").write_bytes(b"")

    store = SnapshotStore.open(tmp_path / "store", workspace)

    assert store.get("s/1") is None
    assert store.get("s/2")
    assert "s/2" in store.drop("s")
    assert store.names() == ()
    assert store.take("s/1").tree
