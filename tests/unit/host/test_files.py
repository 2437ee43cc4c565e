"""Files: a write leaves the old content or the new, and everything else about the file."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pails.core.errors import StorageError
from pails.host import files


@pytest.fixture(autouse=True)
def _nothing_left_behind(tmp_path: Path):
    yield
    assert not list(tmp_path.rglob(".pails-*"))


def make_old(path: Path, hours: float) -> None:
    then = time.time() - hours * 3600
    os.utime(path, (then, then))


def test_a_write_replaces_the_content(tmp_path):
    path = tmp_path / "a.txt"
    files.write_atomic(path, b"one")
    files.write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o4755])
def test_mode_is_kept(tmp_path, mode):
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(mode)
    files.write_atomic(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_follows_the_umask(tmp_path):
    path = tmp_path / "new"
    before = os.umask(0o027)
    try:
        files.write_atomic(path, b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_extended_attributes_and_owner_are_kept(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")
    if os.getuid() == 0:
        os.chown(path, 1234, 1234)
    owner = path.stat().st_uid
    files.write_atomic(path, b"new")
    assert os.getxattr(path, "user.note") == b"mine"
    assert path.stat().st_uid == owner


def test_a_link_is_written_through(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to("target")
    files.write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_dangling_link_is_not_followed(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="Nothing was written"):
        files.write_atomic(link, b"new")
    assert not (tmp_path / "elsewhere").exists()


def test_links_in_a_circle_are_an_error(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(StorageError, match="circle"):
        files.write_atomic(link, b"new")


@pytest.mark.parametrize("new", [b"a much longer text", b"s", b""])
def test_hard_links_stay_together(tmp_path, new):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old text")
    other.hardlink_to(one)
    files.write_atomic(one, new)
    assert other.read_bytes() == new
    assert one.stat().st_nlink == 2


def test_a_folder_and_a_pipe_are_not_written(tmp_path):
    with pytest.raises(StorageError):
        files.write_atomic(tmp_path, b"x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError):
        files.write_atomic(pipe, b"x")


def test_reading_a_pipe_returns_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="regular file"):
        files.read_bytes(pipe)


def test_reading_stops_at_the_limit(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(b"12345")
    assert files.read_bytes(path, limit=5) == b"12345"
    with pytest.raises(OSError, match="5 bytes"):
        files.read_bytes(path, limit=4)


def test_short_writes_are_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    path = tmp_path / "a"
    files.write_atomic(path, b"0123456789")
    assert path.read_bytes() == b"0123456789"


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_leaves_the_old_content(tmp_path, linked):
    """A limit on file size stands for the full disk: writing fails in the middle."""
    path = tmp_path / "a"
    path.write_bytes(b"old" * 1000)
    if linked:
        (tmp_path / "b").hardlink_to(path)
    program = """
import resource, signal, sys
from pathlib import Path
from pails.core.errors import StorageError
from pails.host import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    files.write_atomic(Path(sys.argv[1]), b"n" * 100_000)
except StorageError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert "Nothing was written" in done.stdout
    assert path.read_bytes() == b"old" * 1000


def test_a_kill_in_the_middle_leaves_old_or_new_and_the_next_write_cleans_up(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    program = """
import os, sys
from pathlib import Path
from pails.host import files
flush = os.fsync
def slow(descriptor):
    print("written", flush=True)
    sys.stdin.read()
os.fsync = slow
files.write_atomic(Path(sys.argv[1]), b"new" * 1_000_000)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        child.send_signal(signal.SIGKILL)
    assert path.read_bytes() == b"old"
    (leftover,) = tmp_path.glob(".pails-*")
    make_old(leftover, hours=2)
    files.write_atomic(tmp_path / "b", b"x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_cleaning_spares_the_temporary_files_of_the_living(tmp_path):
    living = tmp_path / f".pails-{os.getppid()}-0123abcd.tmp"
    living.write_bytes(b"")
    make_old(living, hours=2)
    files.write_atomic(tmp_path / "a", b"x")
    assert living.exists()
    living.unlink()


def test_cleaning_spares_what_another_machine_may_be_writing(tmp_path):
    """In a container or on a network share, a process that does not live here may live there."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    elsewhere = tmp_path / f".pails-{gone.pid}-0123abcd.tmp"
    elsewhere.write_bytes(b"")
    make_old(elsewhere, hours=0.9)
    files.write_atomic(tmp_path / "a", b"x")
    assert elsewhere.exists()
    make_old(elsewhere, hours=1.1)
    files.write_atomic(tmp_path / "a", b"x")
    assert not elsewhere.exists()


def test_writers_in_parallel_leave_one_whole_content(tmp_path):
    path = tmp_path / "a"
    contents = [bytes([65 + n]) * 200_000 for n in range(8)]
    threads = [threading.Thread(target=files.write_atomic, args=(path, c)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents


def test_a_folder_is_listed_directories_first(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "A.txt").write_bytes(b"12")
    (tmp_path / ".hidden").write_bytes(b"")
    (tmp_path / "link").symlink_to("nowhere")
    assert files.list_folder(tmp_path) == [
        files.Entry("b", "directory"),
        files.Entry(".hidden", "file", 0),
        files.Entry("A.txt", "file", 2),
        files.Entry("link", "link", target="nowhere"),
    ]
