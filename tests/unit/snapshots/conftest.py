"""A workspace with a store beside it, and ways to look at both."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pails.snapshots.store import SnapshotStore

Content = dict[str, tuple[str, bytes]]


def read_workspace(root: Path) -> Content:
    """Every file and link below a folder: its kind (`file`, `program`, `link`) and its bytes."""
    found: Content = {}
    for folder, folders, names in os.walk(os.fsencode(root)):
        for name in [*names, *(n for n in folders if os.path.islink(os.path.join(folder, n)))]:
            path = os.path.join(folder, name)
            relative = os.fsdecode(os.path.relpath(path, os.fsencode(root)))
            if os.path.islink(path):
                found[relative] = ("link", os.readlink(path))
            else:
                kind = "program" if os.lstat(path).st_mode & 0o100 else "file"
                found[relative] = (kind, Path(os.fsdecode(path)).read_bytes())
    return found


@pytest.fixture
def content() -> Callable[[Path], Content]:
    return read_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path, workspace: Path) -> SnapshotStore:
    return SnapshotStore.open(tmp_path / "store", workspace)
