"""Notices when the editor is gone, even when it had no time to say so."""

import os
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
