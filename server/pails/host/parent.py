"""Notices when the editor is gone, or ends us, even when it had no time to say so."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterable

from pails.host.process_tree import process_identity

POLL_SECONDS = 0.5


def watch_parent(pids: Iterable[int], on_gone: Callable[[], object]) -> Callable[[], None]:
    """Call `on_gone` once, in a thread, when the parent or one of `pids` has ended.

    The parent is whoever it is now; it has ended when another takes its place. A pid that does
    not live now is not watched: a client outside our container counts processes differently.
    The returned function ends the watch.
    """
    parent = os.getppid()
    watched = {pid: identity for pid in pids if (identity := process_identity(pid))}
    stopped = threading.Event()

    def watch() -> None:
        while not stopped.wait(POLL_SECONDS):
            same = all(process_identity(pid) == identity for pid, identity in watched.items())
            if os.getppid() != parent or not same:
                on_gone()
                return

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
    return stopped.set


def watch_signals(on_asked: Callable[[], object]) -> None:
    """Call `on_asked` on this event loop when somebody asks this process to end.

    Unheeded, the signal would end it on the spot, and the commands that it runs would live on.
    """
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        # Windows has neither; there, the process is ended without being asked.
        with contextlib.suppress(NotImplementedError, AttributeError):
            loop.add_signal_handler(getattr(signal, name), on_asked)
