"""Old files of ours go; nothing else does."""

import os
import time
from pathlib import Path

from pails.host.leftovers import remove_old, remove_old_folders


def put(path: Path, hours: float) -> Path:
    """A file that was last changed so many hours ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


def below(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_what_is_old_goes_with_the_folders_that_held_nothing_else(tmp_path: Path):
    put(tmp_path / "w1/s1/command-1.txt", hours=3)
    put(tmp_path / "w1/s1/command-2.txt", hours=3)
    put(tmp_path / "w2/s2/command-1.txt", hours=3)
    put(tmp_path / "w2/s3/command-1.txt", hours=1)
    put(tmp_path / "command-0.txt", hours=3)
    remove_old(tmp_path, "command-*.txt", seconds=2 * 3600)
    assert below(tmp_path) == {"w2", "w2/s3", "w2/s3/command-1.txt"}


def test_the_folder_itself_stays_and_need_not_be_there(tmp_path: Path):
    folder = tmp_path / "output"
    remove_old(folder, "*", seconds=1)
    put(folder / "a", hours=1)
    remove_old(folder, "*", seconds=1)
    assert below(tmp_path) == {"output"}


def test_what_is_not_ours_stays(tmp_path: Path):
    """A person may keep files of their own in the folder that they named for ours."""
    outside = put(tmp_path / "elsewhere/command-1.txt", hours=3)
    folder = tmp_path / "output"
    put(folder / "w/results.txt", hours=3)
    put(folder / "w/command-1.txt", hours=3)
    (folder / "empty").mkdir()
    (folder / "command-folder.txt").mkdir()
    (folder / "link").symlink_to(outside.parent)
    (folder / "command-link.txt").symlink_to(outside)
    remove_old(folder, "command-*.txt", seconds=2 * 3600)
    assert outside.exists()
    assert below(folder) == {
        *("w", "w/results.txt", "empty", "link", "command-folder.txt", "command-link.txt")
    }


def test_folders_go_with_all_in_them_when_nothing_was_put_there_for_long(tmp_path: Path) -> None:
    for name in ("old", "young"):
        (tmp_path / name / "texts").mkdir(parents=True)
        (tmp_path / name / "texts" / "a").write_text("a")
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "link").symlink_to(tmp_path / "young")
    for name in ("old", "file"):
        os.utime(tmp_path / name, (0, 0))
    remove_old_folders(tmp_path, 3600.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "young"]
    assert (tmp_path / "young" / "texts" / "a").read_text() == "a"
    remove_old_folders(tmp_path / "missing", 0.0)
