"""Where paths really lead, tried on real links."""

from pathlib import Path

from pails.host.paths import is_within, real_path


def test_links_are_followed_up_the_tree_also_to_nowhere(tmp_path):
    tmp_path = tmp_path.resolve()
    (tmp_path / "ws").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "ws" / "folder").symlink_to("../out")
    (tmp_path / "ws" / "dangling").symlink_to(tmp_path / "new")
    (tmp_path / "ws" / "chain").symlink_to("dangling")
    assert real_path(tmp_path / "ws/folder/a/b") == tmp_path / "out/a/b"
    assert real_path(tmp_path / "ws/folder/../x") == tmp_path / "x"
    assert real_path(tmp_path / "ws/chain") == tmp_path / "new"
    assert real_path(tmp_path / "ws/not/yet/here") == tmp_path / "ws/not/yet/here"


def test_what_no_file_can_have_is_no_path(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert real_path(tmp_path / "a") is None
    assert real_path(tmp_path / "x\0y") is None
    assert real_path(tmp_path / "\ud800") is None


def test_within_means_below_and_not_beside():
    assert is_within(Path("/ws"), Path("/ws"))
    assert is_within(Path("/ws/a"), Path("/ws"))
    assert is_within(Path("/ws"), Path("/"))
    assert not is_within(Path("/ws2/a"), Path("/ws"))
