"""The protocol's stream belongs to the protocol; the editor's end is noticed."""

import os
import subprocess
import sys
import threading

import pytest

from pails.host.parent import watch_parent

SERVER = """
import os, subprocess, sys
from pails.host.stdio import protect_stdio
reader, writer = protect_stdio()
print("a stray print", flush=True)
os.write(1, b"a stray write\\n")
subprocess.run(["echo", "a child's line"])
subprocess.run(["cat"])  # would swallow the request if it could
children = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True).stdout.split()
assert sys.stdin.read() == ""
writer.write(b"answer to " + reader.readline())
writer.write(" ".join(children).encode())
writer.flush()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_prints_and_children_cannot_touch_the_stream():
    done = subprocess.run(
        [sys.executable, "-c", SERVER],
        input=b"request\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    answer, descriptors = done.stdout.split(b"\n")
    assert answer == b"answer to request"
    assert set(descriptors.split()) == {b"0", b"1", b"2", b"3"}  # 3 is the listing itself
    for line in (b"a stray print\n", b"a stray write\n", b"a child's line\n"):
        assert line in done.stderr


def test_without_standard_error_strays_go_nowhere():
    """A client may close it; then nothing must take its place."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, SERVER],
        input=b"request\n",
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(b"answer to request\n")


MIDDLE = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1]])
time.sleep(300)
"""
ORPHAN = """
import os, threading
from pails.host.parent import watch_parent
gone = threading.Event()
watch_parent((), gone.set)
print("watching", flush=True)
os._exit(0 if gone.wait(60) else 1)
"""


def test_an_orphan_notices_that_its_parent_was_killed():
    """The reading end closes only when the orphan has ended too."""
    middle = subprocess.Popen(
        [sys.executable, "-c", MIDDLE, ORPHAN], stdout=subprocess.PIPE, text=True
    )
    with middle:
        assert middle.stdout is not None
        assert middle.stdout.readline() == "watching\n"
        middle.kill()
        assert middle.stdout.read() == ""


def test_the_end_of_a_named_process_is_told_once():
    child = subprocess.Popen(["sleep", "300"])
    calls: list[int] = []
    told = threading.Event()

    def on_gone() -> None:
        calls.append(1)
        told.set()

    stop = watch_parent((child.pid, os.getpid()), on_gone)
    assert not told.wait(0.7)
    child.kill()
    assert told.wait(20)  # not reaped yet: a zombie counts as gone
    child.wait()
    assert _ended("parent-watch")
    assert calls == [1]
    stop()


def test_a_pid_that_never_lived_here_is_not_watched():
    child = subprocess.Popen(["true"])
    child.wait()
    gone = threading.Event()
    stop = watch_parent((child.pid,), gone.set)
    assert not gone.wait(1.2)
    stop()
    assert _ended("parent-watch")


def _ended(name: str) -> bool:
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(20)
            return not thread.is_alive()
    return True
