"""What happened below a folder is told once, wholly, and only where it matters."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pails.host import watch
from pails.host.watch import Watcher


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name in ("a/b", "node_modules/x"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def watcher(root: Path, tmp_path: Path) -> Iterator[Watcher]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    watcher = Watcher(root, scratch, lambda path: path.endswith("/node_modules"))
    assert watcher.changed(soon()) is None, "of what was before nothing is known"
    yield watcher
    watcher.close()


def soon() -> float:
    return time.monotonic() + 20


def told(watcher: Watcher, root: Path) -> set[str] | None:
    paths = watcher.changed(soon())
    return None if paths is None else {path.relative_to(root).as_posix() for path in paths}


def test_everything_up_to_now_is_told_and_only_once(watcher: Watcher, root: Path) -> None:
    (root / "a/b/日本 😀").write_text("x")
    (root / "top").write_text("x")
    assert told(watcher, root) == {"a/b/日本 😀", "top"}
    assert told(watcher, root) == set()
    (root / "top").chmod(0o700)
    (root / "a/b/日本 😀").rename(root / "a/moved")
    assert told(watcher, root) == {"top", "a/b/日本 😀", "a/moved"}
    (root / "a/moved").unlink()
    (root / "link").symlink_to("a")
    assert told(watcher, root) == {"a/moved", "link"}


def test_new_folders_are_told_and_watched_from_then_on(watcher: Watcher, root: Path) -> None:
    (root / "new/deep").mkdir(parents=True)
    (root / "new/deep/file").write_text("x")
    assert "new" in (told(watcher, root) or ())
    (root / "new/deep/file").write_text("y")
    assert told(watcher, root) == {"new/deep/file"}
    (root / "a").rename(root / "z")
    assert {"a", "z"} <= (told(watcher, root) or set())
    (root / "z/b/file").write_text("x")
    assert told(watcher, root) == {"z/b/file"}


def test_what_is_left_out_is_not_watched(watcher: Watcher, root: Path) -> None:
    (root / "node_modules/x/file").write_text("x")
    (root / "node_modules/y").mkdir()
    (root / "node_modules/y/file").write_text("x")
    assert told(watcher, root) == set()


def test_a_name_that_is_not_text_means_that_all_may_have_changed(
    watcher: Watcher, root: Path
) -> None:
    (root / os.fsdecode(b"\xff")).write_text("x")
    assert told(watcher, root) is None
    (root / "a/file").write_text("x")
    assert told(watcher, root) == {"a/file"}


def test_when_too_much_happens_all_may_have_changed(
    watcher: Watcher, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MOST_CHANGES", 10)
    for number in range(20):
        (root / f"{number}").write_text("x")
    assert told(watcher, root) is None
    (root / "1").write_text("y")
    assert told(watcher, root) == {"1"}


def test_after_the_deadline_nothing_is_known(watcher: Watcher, root: Path) -> None:
    assert watcher.changed(time.monotonic()) is None
    (root / "x").write_text("x")
    assert told(watcher, root) == {"x"}


def test_a_folder_that_cannot_be_watched_is_a_problem_and_never_tried_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MOST_FOLDERS", 1)
    watcher = Watcher(root, tmp_path, lambda _: False)
    assert watcher.changed(soon()) is None
    assert "more than 1 folders" in watcher.problem
    monkeypatch.setattr(watch, "_MOST_FOLDERS", 100)
    assert watcher.changed(soon()) is None


def test_no_cookie_is_left(watcher: Watcher, tmp_path: Path) -> None:
    watcher.changed(soon())
    assert list((tmp_path / "scratch").iterdir()) == []
