"""Ctrl-C that is noticed at once, whatever the event loop does."""

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress


@contextmanager
def wake_on_signals() -> Generator[None]:
    """Have each signal wake the running event loop. Call it in the main thread.

    `asyncio.run` handles SIGINT in Python, between two steps. One that comes in the instant before
    the loop begins to wait, or to another thread, would lie there until something else happens.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(ours, _drain, ours)
        except NotImplementedError:  # on Windows, whose loop does this by itself
            yield
            return
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(ours)


def _drain(stream: socket.socket) -> None:
    with suppress(BlockingIOError):
        stream.recv(4096)
