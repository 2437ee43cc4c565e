"""How much a pipe takes without making its writer wait."""

import select
from collections.abc import Callable
from typing import BinaryIO

PIPE_BYTES: int = getattr(select, "PIPE_BUF", 0)
"""What a pipe that polls as writable takes without blocking; Windows does not say."""


def room_in(stream: BinaryIO) -> Callable[[], bool]:
    """Asks whether `PIPE_BYTES` can be written without blocking; no where that is unknown."""
    try:
        descriptor = stream.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
    except (AttributeError, OSError, ValueError):  # Windows has no poll, a stream perhaps no file
        return lambda: False
    return lambda: poll.poll(0) == [(descriptor, select.POLLOUT)]
