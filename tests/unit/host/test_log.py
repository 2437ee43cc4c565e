"""Line files that grow at the end: one owner, whole lines, and errors that can be read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pails.core.errors import StorageError
from pails.host.log import AppendLog, first_lines, list_logs, read_lines

OTHER_PROCESS = """
import sys
from pathlib import Path
from pails.core.errors import StorageError
from pails.host.log import AppendLog
try:
    AppendLog(Path(sys.argv[1])).append(b"theirs\\n")
except StorageError as error:
    print(error)
"""


def open_elsewhere(path: Path) -> str:
    """What another process says that opens this log and writes a line."""
    command = [sys.executable, "-c", OTHER_PROCESS, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_log_has_one_owner_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = AppendLog(path)
    log.append(b"ours\n")
    assert "open in another Pails process" in open_elsewhere(path)
    with pytest.raises(StorageError, match="open in another"):
        AppendLog(path)
    log.close()
    assert open_elsewhere(path) == ""
    assert path.read_bytes() == b"ours\ntheirs\n"


def test_reading_leaves_a_line_alone_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"whole\nhal")
    assert read_lines(path) == ([b"whole"], 6)
    assert path.read_bytes() == b"whole\nhal"


def test_a_closed_log_writes_into_no_other_file(tmp_path: Path) -> None:
    """The number of a closed descriptor is soon another file's."""
    log = AppendLog(tmp_path / "s.jsonl")
    log.close()
    other = tmp_path / "other"
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT)
    with pytest.raises(StorageError):
        log.append(b"line\n")
    os.close(descriptor)
    assert other.read_bytes() == b""


async def test_a_disk_that_does_not_take_it_is_a_storage_error() -> None:
    device = Path("/dev/full")  # cannot be synced
    if not device.exists():
        pytest.skip("no /dev/full here")
    log = AppendLog(device)
    with pytest.raises(StorageError, match="/dev/full"):
        await log.sync()
    log.close()


def test_what_is_no_log_does_not_spoil_the_list(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(b"line\n")
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "missing")
    (tmp_path / "folder.jsonl").mkdir()
    assert [log.path.name for log in list_logs(tmp_path, ".jsonl")] == ["good.jsonl"]
    assert list(first_lines(tmp_path / "missing")) == []


def test_the_first_lines_are_whole_and_within_the_limit(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\ntwo\n" + b"x" * 100 + b"\nfour\ntorn")
    assert list(first_lines(log)) == [b"one\n", b"two\n", b"x" * 100 + b"\n", b"four\n"]
    assert list(first_lines(log, limit=50)) == [b"one\n", b"two\n"]
