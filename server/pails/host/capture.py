"""The output of one command: as it comes out of the pipe, and what is kept of it."""

import asyncio
from pathlib import Path
from typing import cast

from pails.host.output import LineReader
from pails.host.output_window import OutputWindow
from pails.host.spill import SpillFile

_BUFFER_BYTES = 1024 * 1024


class OutputPipe(asyncio.SubprocessProtocol):
    """What the event loop tells about the child: its bytes, the end of them, and its exit.

    `Process.wait` of asyncio waits for the pipe too, which a background process may hold open.
    """

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self._arrived = asyncio.Event()
        self._buffer = bytearray()
        self._closed = False
        self._reading: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        child = cast("asyncio.SubprocessTransport", transport)
        self._reading = cast("asyncio.ReadTransport", child.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._buffer += data
        self._arrived.set()
        if len(self._buffer) > _BUFFER_BYTES and self._reading:
            self._reading.pause_reading()  # a flood waits in the pipe, not in our memory

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._closed = True
        self._arrived.set()

    def process_exited(self) -> None:
        self.exited.set()

    async def take(self) -> bytes:
        """What has arrived since the last call; empty at the end of the output."""
        await self._arrived.wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        if not self._closed:
            self._arrived.clear()
        if self._reading:
            self._reading.resume_reading()
        return data


class Collector:
    """Joins the steps that an output goes through. Touches the disk: used in threads."""

    def __init__(self, spill: Path | None) -> None:
        self._lines = LineReader()
        self._window = OutputWindow()
        self._spill = SpillFile(spill)

    def feed(self, data: bytes) -> str:
        return self._keep(self._lines.feed(data))

    def flush(self) -> str:
        """What the last line without a newline says."""
        return self._keep(self._lines.finish())

    def finish(self) -> tuple[str, int, Path | None, bool]:
        """The text to show, the bytes left out of it, where all of it is, whether that is all."""
        output, dropped = self._window.fold()
        return output, dropped, self._spill.close(keep=dropped > 0), self._spill.complete

    def discard(self) -> None:
        self._spill.close(keep=False)

    def _keep(self, text: str) -> str:
        self._window.add(text)
        self._spill.write(text)
        return text
