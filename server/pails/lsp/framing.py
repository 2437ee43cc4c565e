"""Messages as bytes: `Content-Length` frames over two streams, each with a thread of its own.

Reading and writing block, so neither happens on the event loop: a client that does not read its
pipe must not stop the server. Both threads are daemons over unbuffered streams, since a lock held
by a blocked daemon would abort the interpreter at exit.
"""

import asyncio
import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import BinaryIO, Protocol, cast

from pails.host.pipes import PIPE_BYTES, room_in

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 1 << 30
# Not only at the start of a line: behind a frame that was cut wrong, the next header follows on
# what is left of its body, and everything after it must be understood again.
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_READ_BYTES = 1 << 16
_NOTHING_YET_SECONDS = 0.005


class RawStream(Protocol):
    """What we need of an unbuffered stream. `read` gives b"" at the end."""

    def read(self, size: int, /) -> bytes | None: ...

    def write(self, data: memoryview, /) -> int | None: ...


class FrameParser:
    """Cuts a stream of bytes into message bodies, wherever the pieces were cut."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are complete now. Headers without a length are skipped."""
        self._buffer += data
        bodies: list[bytes] = []
        while (body := self._next()) is not None:
            bodies.append(body)
        return bodies

    def _next(self) -> bytes | None:
        while self._length is None:
            end = _HEADER_END.search(self._buffer)
            if end is None:
                return None
            lengths = _LENGTH.findall(bytes(self._buffer[: end.start()]))
            del self._buffer[: end.end()]
            if lengths and int(lengths[-1]) <= MAX_BODY_BYTES:
                self._length = int(lengths[-1])
            else:
                log.warning("skipped a message header without a usable Content-Length")
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body


def start_reading(
    stream: BinaryIO, receive: Callable[[bytes], object], at_end: Callable[[], object]
) -> None:
    """Call `receive` on this event loop with each body, then `at_end` once."""
    loop = asyncio.get_running_loop()
    raw = _unbuffered(stream)

    def tell(callback: Callable[..., object], *values: bytes) -> None:
        # A message may still arrive when the loop is closed; nobody waits for it.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(callback, *values)

    def read() -> None:
        parser = FrameParser()
        try:
            while (data := raw.read(_READ_BYTES)) != b"":
                if data is None:  # somebody made the descriptor non-blocking
                    time.sleep(_NOTHING_YET_SECONDS)
                    continue
                for body in parser.feed(data):
                    tell(receive, body)
        except OSError as error:
            log.info("the client's stream broke: %s", error)
        tell(at_end)

    threading.Thread(target=read, name="lsp reader", daemon=True).start()


class FrameWriter:
    """Writes bytes in order without blocking the caller; `broken` is called once, in its thread.

    `write` is for one thread alone; what it is given after `close` is dropped.

    What surely fits into the pipe is written at once, for waking a thread costs more than all the
    rest of sending an event. Anything else goes to the thread, and so does what follows until the
    thread has written it.
    """

    def __init__(self, stream: BinaryIO, broken: Callable[[], object]) -> None:
        self._raw = _unbuffered(stream)
        self._has_room = room_in(stream)
        self._broken = broken
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._queued = self._written = 0
        self._closed = False
        self._thread = threading.Thread(target=self._write_all, name="lsp writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        if self._queued == self._written and len(data) <= PIPE_BYTES and self._has_room():
            data = self._write_now(data)
        if data:
            self._queued += 1
            self._queue.put(data)

    def close(self, timeout_seconds: float = 1.0) -> None:
        """Wait for what was written so far, as long as the client reads it."""
        self._queue.put(None)
        self._thread.join(timeout_seconds)

    def _write_now(self, data: bytes) -> bytes:
        """What is left of the bytes; all of them on an error, which the thread meets again."""
        try:
            return data[self._raw.write(memoryview(data)) or 0 :]
        except (OSError, ValueError):
            return data

    def _write_all(self) -> None:
        try:
            while pieces := self._take():
                view = memoryview(b"".join(pieces))
                while view:
                    written = self._raw.write(view)
                    if written is None:  # non-blocking, and the pipe is full
                        time.sleep(_NOTHING_YET_SECONDS)
                    view = view[written or 0 :]
                self._written += len(pieces)
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            log.info("the client no longer reads: %s", error)
            self._broken()

    def _take(self) -> list[bytes]:
        """All that waits: a burst of events costs one write. Empty at the end."""
        pieces: list[bytes] = []
        while not self._closed and (self._queue.qsize() or not pieces):
            piece = self._queue.get()
            if piece is None:
                self._closed = True
            else:
                pieces.append(piece)
        return pieces


def _unbuffered(stream: BinaryIO) -> RawStream:
    return cast(RawStream, getattr(stream, "raw", stream))
