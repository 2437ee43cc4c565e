"""The terminal of a command-line client: lines that a person types, and output without a reader."""

import asyncio
import os
import sys
import threading
from contextlib import suppress
from typing import TextIO

from pails.host.files import reason

try:
    import termios
except ImportError:  # Windows has none; there, what was typed too early is not thrown away
    termios = None


class TerminalLines:
    """Reads a terminal line by line without blocking the event loop.

    The reading thread is a daemon: a person who never answers must not keep the program from
    ending. A line that was asked for and no longer awaited goes to whoever asks next.
    """

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self._reading = False

    def discard_typed(self) -> None:
        """Forget what was typed so far, so that it cannot answer a question not yet seen."""
        if termios is not None:
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        while not self._typed.empty():
            self._typed.get_nowait()

    async def next_line(self) -> str | None:
        """The next line without its end; None when the person closed the input."""
        if not self._reading:
            self._reading = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        return await self._typed.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # Not sys.stdin: its lock, held by a daemon thread, would abort the interpreter at exit.
        # A terminal in line mode hands out one line a read.
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # the terminal is gone
            data = b""
        line = data.decode(self._encoding, "replace").rstrip("\r\n") if data else None
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._arrived, line)

    def _arrived(self, line: str | None) -> None:
        self._reading = False
        self._typed.put_nowait(line)


def fill_closed_streams() -> None:
    """Give the null device to standard streams that whoever started us had closed.

    Python has None for them, and the next file or pipe would be opened in their place.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _connect_to_nowhere(number)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def end_output(error: OSError) -> None:
    """The output could not be written: say why where that is of use, and write nothing any more.

    A reader that has gone, as in `| head`, is no failure to speak of. What is still in the buffers
    goes nowhere, so that exiting is silent.
    """
    if not isinstance(error, BrokenPipeError):
        with suppress(OSError):
            sys.stderr.write(f"pails: {reason(error)}\n")
            sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        _connect_to_nowhere(stream.fileno())


def _connect_to_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
