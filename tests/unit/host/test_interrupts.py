"""A Ctrl-C must not wait for something else to happen."""

import subprocess
import sys

import pytest

# The signal comes to another thread, so that the loop's waiting is not broken off by itself: the
# same as when it comes in the instant before the loop waits.
PROGRAM = """
import asyncio, contextlib, signal, threading, time
from pails.host.interrupts import wake_on_signals

def strike():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(60)

async def main():
    with {around}:
        threading.Thread(target=strike, daemon=True).start()
        await asyncio.Event().wait()

asyncio.run(main())
"""


def run(around: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    program = PROGRAM.format(around=around)
    argv = [sys.executable, "-c", program]
    return subprocess.run(argv, capture_output=True, timeout=seconds, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals come in another way there")
def test_a_signal_wakes_a_loop_that_waits() -> None:
    assert b"KeyboardInterrupt" in run("wake_on_signals()", 30).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="shows that the test above can fail")
def test_without_it_the_signal_lies_there() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run("contextlib.nullcontext()", 3)
