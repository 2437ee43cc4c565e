"""The end of the process."""

import os
import threading


def exit_within(seconds: float, code: int) -> None:
    """End the process by force, should its orderly end take longer than this.

    Python waits for its threads, and one that hangs in a dead network file system would keep a
    server alive whose editor is long gone.
    """
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()
