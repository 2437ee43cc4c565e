"""Which processes belong to a command, and how they all end.

A command gets a session of its own, and a marker in its environment that every process it starts
inherits. A process that moved to another session, or that was left by its parent, still carries
the marker; one that dropped its environment is still a child of one that did not.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CALL_MARKER = "PAILS_CALL"
"""The environment variable with the ids of the calls that a process belongs to, outermost first."""

KILL_ROUNDS = 50
_PROC = Path("/proc")


def with_marker(environment: Mapping[str, str], marker: str) -> dict[str, str]:
    """The environment with one more id, kept beside those of the calls around this one."""
    outer = environment.get(CALL_MARKER, "")
    return {**environment, CALL_MARKER: f"{outer}:{marker}" if outer else marker}


def kill_tree(pid: int | None, marker: str = "", grace: float = 0.5) -> list[int]:
    """End a session's leader, all it started and all that carry the marker.

    Returns when they are gone: asked first, killed after `grace` seconds. A pid that comes back
    is still there, which only happens when the kernel will not end it. Blocks: use a thread.
    """
    if sys.platform == "win32":
        return _kill_tree_on_windows(pid)
    _signal_all(pid, marker, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while tree_members(pid, marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    # Repeated, because a process may start another between the look and the signal.
    for _ in range(KILL_ROUNDS):
        if not tree_members(pid, marker):
            return []
        _signal_all(pid, marker, signal.SIGKILL)
        time.sleep(0.02)
    return tree_members(pid, marker)


def tree_members(pid: int | None, marker: str = "") -> list[int]:
    """The living processes of the tree; without /proc, the leader stands for its group."""
    if sys.platform != "linux":
        return [pid] if pid is not None and _group_lives(pid) else []
    processes = _processes()
    members = {
        p.pid
        for p in processes
        if (pid is not None and p.session == pid) or _carries(p.pid, marker)
    }
    found = True
    while found:
        found = {p.pid for p in processes if p.parent in members} - members
        members |= found
    return sorted(members - {os.getpid()})


def process_identity(pid: int) -> str | None:
    """What tells this process from a later one of the same number; None when it does not live."""
    if sys.platform == "linux":
        process = _process(pid)
        return process.started if process else None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "alive"


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    session: int
    started: str


def _processes() -> list[_Process]:
    with os.scandir(_PROC) as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return [process for pid in pids if (process := _process(pid))]


def _process(pid: int) -> _Process | None:
    """What /proc/PID/stat says; None for a process that is gone or only waits to be reaped."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name before the last parenthesis may hold blanks and parentheses of its own.
    fields = stat[stat.rfind(")") + 2 :].split()
    state, parent, _group, session = fields[:4]
    if state in "ZX":
        return None
    return _Process(pid, int(parent), int(session), fields[19])


def _carries(pid: int, marker: str) -> bool:
    if not marker:
        return False
    try:
        return marker.encode() in (_PROC / str(pid) / "environ").read_bytes()
    except OSError:  # another user's, or gone
        return False


def _signal_all(pid: int | None, marker: str, number: signal.Signals) -> None:
    members = tree_members(pid, marker)
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
    for member in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, number)


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_tree_on_windows(pid: int | None) -> list[int]:
    if pid is not None:
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)
    return []
