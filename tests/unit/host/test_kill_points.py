"""A process killed at any call that changes the disk: each file is old or new, never a mixture."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, os, shutil, signal, sys
from pathlib import Path
from pails.host import files, moving
from pails.snapshots.entries import FILE, LINK, PROGRAM, Entry, blob_id
from pails.snapshots.restore import apply_plan
from pails.snapshots.rewind import RewindPlan, Step

CALLS = ("open", "write", "ftruncate", "fsync", "fchown", "fchmod", "chmod", "rename", "replace",
         "unlink", "rmdir", "mkdir", "link", "symlink")
root = Path(sys.argv[1])
OLD, NEW = b"old line\\n" * 3000, b"a new line\\n" * 3000
KINDS = {OLD: "old", NEW: "new"}

def lay():
    shutil.rmtree(root, ignore_errors=True)
    (root / "src" / "deep").mkdir(parents=True)
    (root / "a").write_bytes(OLD)
    (root / "a").chmod(0o755)
    (root / "link").symlink_to("a")
    (root / "src" / "b").write_bytes(OLD)
    (root / "src" / "deep" / "c").write_bytes(OLD)

def killed_at(number, work):
    count = 0
    def counted(call):
        def wrapped(*args, **kwargs):
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)
            if call is write:  # as systems may: less than was offered
                return call(args[0], args[1][: 7000])
            return call(*args, **kwargs)
        return wrapped
    write = os.write
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    work()
    os._exit(0)

def create():
    files.make_parents(root / "x" / "y")
    files.write_atomic(root / "x" / "y", NEW)

def take_back():
    a, b, link = Entry(PROGRAM, blob_id(OLD)), Entry(FILE, blob_id(OLD)), Entry(LINK, blob_id(b"a"))
    steps = (
        Step("src/b", "delete", b, "removed"),
        Step("a", "write", a, "restored", NEW, PROGRAM),
        Step("link", "link", link, "restored", b"src/deep/c", LINK),
        Step("src/deep/c", "chmod", b, "restored", mode=PROGRAM),
    )
    assert apply_plan(RewindPlan(steps, (), ()), root) == ()

WORKS = {
    "write": lambda: files.write_atomic(root / "a", NEW),
    "through a link": lambda: files.write_atomic(root / "link", NEW),
    "create": create,
    "move": lambda: moving.move(root / "a", root / "x" / "moved"),
    "move a folder": lambda: moving.move(root / "src", root / "x" / "moved"),
    "delete": lambda: moving.remove_all(root / "a", moving.look_below(root / "a", 9)),
    "delete a folder": lambda: moving.remove_all(root / "src", moving.look_below(root / "src", 9)),
    "take back": take_back,
}

for name, work in WORKS.items():
    number = 0
    while True:
        number += 1
        lay()
        child = os.fork()
        if child == 0:
            killed_at(number, work)
        _, status = os.waitpid(child, 0)
        found = {
            str(path.relative_to(root)): KINDS.get(path.read_bytes(), "a mixture")
            for path in root.rglob("*")
            if path.is_file() and not path.name.endswith(".tmp")
        }
        print(json.dumps([name, os.WIFSIGNALED(status), found, (root / "a").exists()
                          and (root / "a").stat().st_mode & 0o777]), flush=True)
        if not os.WIFSIGNALED(status):
            assert status == 0, status
            break
"""
REST = {"link": "old", "src/b": "old", "src/deep/c": "old"}
START = {"a": "old", **REST}
WRITTEN = {**START, "a": "new", "link": "new"}
MOVED = {"src/b": "old", "src/deep/c": "old", "x/moved": "old"}
FOLDER_MOVED = {"a": "old", "link": "old", "x/moved/b": "old", "x/moved/deep/c": "old"}
ALLOWED = {
    "write": [START, WRITTEN],
    "through a link": [START, WRITTEN],
    "create": [START, {**START, "x/y": "new"}],
    "move": [START, MOVED],
    "move a folder": [START, FOLDER_MOVED],
    "delete": [START, {name: REST[name] for name in ("src/b", "src/deep/c")}],
    "delete a folder": [
        START,
        {"a": "old", "link": "old", "src/deep/c": "old"},
        {"a": "old", "link": "old"},
    ],
    "take back": [
        START,
        {"a": "old", "link": "old", "src/deep/c": "old"},
        {"a": "new", "link": "new", "src/deep/c": "old"},
        {"a": "new", "link": "old", "src/deep/c": "old"},
    ],
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="counts calls in forked children")
def test_a_kill_at_any_point_leaves_old_or_new(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "w"], capture_output=True, text=True, check=True
    )
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    for name, allowed in ALLOWED.items():
        seen = [run for run in runs if run[0] == name]
        assert len(seen) >= 2, f"{name}: no call was ever counted"
        for number, (_, was_killed, found, mode) in enumerate(seen, 1):
            assert found in allowed, f"{name}, killed at call {number}"
            assert mode in (0o755, False), f"{name}, killed at call {number}: {mode:o}"
            assert was_killed or found == allowed[-1]
    assert len([run for run in runs if run[0] == "write"]) > 8


@pytest.fixture
def tiny_disk(tmp_path: Path):
    """A file system of one megabyte, where one may be made."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if not mount or not umount or os.getuid() != 0:
        pytest.skip("needs root")
    command = [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run([umount, folder], check=True)


def test_a_disk_that_is_really_full_keeps_the_old_content(tiny_disk):
    path = tiny_disk / "a"
    path.write_bytes(b"o" * 600_000)
    program = (
        "import sys\nfrom pathlib import Path\nfrom pails.core.errors import StorageError\n"
        "from pails.host import files\ntry:\n"
        "    files.write_atomic(Path(sys.argv[1]), b'n' * 900_000)\n"
        "except StorageError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert "No space left on device. Nothing was written" in done.stdout
    assert path.read_bytes() == b"o" * 600_000
    assert os.listdir(tiny_disk) == ["a"]


def test_the_system_ends_a_write_of_many_megabytes_half_way(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    program = (
        "import sys\nfrom pathlib import Path\nfrom pails.host import files\n"
        "data = b'n' * 100_000_000\nprint('go', flush=True)\n"
        "files.write_atomic(Path(sys.argv[1]), data)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"go\n"
        child.send_signal(signal.SIGKILL)
    assert path.stat().st_size in (3, 100_000_000)
