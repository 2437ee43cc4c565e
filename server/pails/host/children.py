"""Child processes of asyncio: how their ends are noticed, how they are signalled."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from contextlib import suppress


def watch_children_by_descriptor() -> None:
    """On Linux let asyncio wait for children by pidfd, as it does by itself from Python 3.12 on.

    Python 3.11 starts a thread for each child instead, which doubles the price of a short one.
    """
    if sys.version_info < (3, 12) and sys.platform == "linux":
        try:
            os.close(os.pidfd_open(os.getpid()))
        except OSError:  # an old kernel, or a sandbox that forbids it
            return
        # Deprecated from 3.12 on, where this branch is not taken.
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())  # pyright: ignore[reportDeprecated]


def signal_child(process: Process, number: signal.Signals) -> None:
    """Send a signal, if the child has not been reaped yet.

    `Process.kill` first looks whether the child has ended, and so may reap it before asyncio's own
    watcher does, which then does not know how it ended and complains.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def kill_child(process: Process) -> None:
    """End the child at once."""
    signal_child(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
