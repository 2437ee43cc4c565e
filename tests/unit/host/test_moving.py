"""Moving and deleting: onto nothing, through nothing, and all or nothing of a file."""

import pytest

from pails.core.errors import StorageError
from pails.host import moving


def test_a_move_makes_the_folders_above(tmp_path):
    (tmp_path / "a").write_text("x")
    moving.move(tmp_path / "a", tmp_path / "b" / "c" / "d")
    assert (tmp_path / "b" / "c" / "d").read_text() == "x"


@pytest.mark.parametrize("target", ["b", "folder", "link", "a/inside"])
def test_a_move_that_cannot_be_changes_nothing(tmp_path, target):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("y")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(StorageError, match="Nothing was moved"):
        moving.move(tmp_path / "a", tmp_path / target)
    assert (tmp_path / "a").read_text() == "x"
    assert (tmp_path / "b").read_text() == "y"
    assert (tmp_path / "link").is_symlink()


def test_the_place_of_a_target_is_where_its_folder_really_is(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "way").symlink_to("folder")
    source = tmp_path / "a"
    source.touch()
    assert moving.new_place(source, tmp_path / "way" / "b") == tmp_path / "folder" / "b"
    (tmp_path / "folder" / "b").touch()
    assert moving.new_place(source, tmp_path / "way" / "b") is None
    assert moving.new_place(source, source) is None


def test_two_names_of_one_file_are_two_things(tmp_path):
    """Where case does not count, a name in other case is the same thing; a hard link is not."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "A").hardlink_to(tmp_path / "a")
    assert moving.new_place(tmp_path / "a", tmp_path / "A") is None


def test_looking_below_follows_no_link(tmp_path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "a").touch()
    (tmp_path / "x" / "up").symlink_to("..")
    below = moving.look_below(tmp_path / "x", 10)
    assert below == moving.Below(
        "folder", (tmp_path / "x" / "up", tmp_path / "x" / "y" / "a"), (tmp_path / "x" / "y",)
    )
    assert moving.look_below(tmp_path / "none", 10) is None
    assert moving.look_below(tmp_path / "x" / "up", 10) == moving.Below(
        "link", (tmp_path / "x" / "up",)
    )
    with pytest.raises(OSError, match="more than 2"):
        moving.look_below(tmp_path / "x", 2)


def test_a_folder_goes_with_what_was_seen_in_it_and_nothing_else(tmp_path):
    folder = tmp_path / "x"
    (folder / "y").mkdir(parents=True)
    (folder / "y" / "a").touch()
    below = moving.look_below(folder, 10)
    assert below is not None
    (folder / "new").touch()
    with pytest.raises(StorageError):
        moving.remove_all(folder, below)
    assert [path.name for path in folder.rglob("*")] == ["new"]
