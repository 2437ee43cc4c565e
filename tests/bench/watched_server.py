"""The real server with a look-out: how long its event loop answers nothing.

    PAILS_BENCH_LAGS=FILE python watched_server.py

A thread asks the loop for a sign of life each half millisecond. At the end FILE has a line for each
sign that took longer than that: when it was asked for (monotonic seconds), and the milliseconds.
"""

import asyncio
import os
import sys
import threading
import time
from pathlib import Path

from pails.entry import main

_EVERY = 0.0005


def watch(loop: asyncio.AbstractEventLoop, lags: list[tuple[float, float]]) -> None:
    alive = threading.Event()
    while not loop.is_running():
        time.sleep(_EVERY)
    while True:
        asked = time.monotonic()
        alive.clear()
        try:
            loop.call_soon_threadsafe(alive.set)
        except RuntimeError:  # the loop is closed
            return
        alive.wait(10)
        waited = time.monotonic() - asked
        if waited > _EVERY:
            lags.append((asked, waited * 1000))
        time.sleep(_EVERY)


class WatchedPolicy(asyncio.DefaultEventLoopPolicy):
    """Watches each loop that it makes."""

    def __init__(self) -> None:
        super().__init__()
        self.lags: list[tuple[float, float]] = []

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        threading.Thread(target=watch, args=(loop, self.lags), daemon=True).start()
        return loop


if __name__ == "__main__":
    policy = WatchedPolicy()
    asyncio.set_event_loop_policy(policy)
    code = main()
    lines = "".join(f"{asked:.6f} {waited:.3f}\n" for asked, waited in policy.lags)
    Path(os.environ["PAILS_BENCH_LAGS"]).write_text(lines)
    sys.exit(code)
