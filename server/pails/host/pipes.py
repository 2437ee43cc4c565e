"""How much a pipe takes without making its writer wait."""

import os
import select
import stat
from collections.abc import Callable
from typing import BinaryIO

PIPE_BYTES: int = getattr(select, "PIPE_BUF", 0)
"""What a pipe that polls as writable takes without blocking; Windows does not say."""


def room_in(stream: BinaryIO) -> Callable[[], bool]:
    """Asks whether `PIPE_BYTES` can be written without blocking; False where that is unknown.

    A terminal may take one byte and then block, so only pipes and sockets are asked.
    """
    try:
        descriptor = stream.fileno()
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return lambda: False
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
    except (AttributeError, OSError, ValueError):  # Windows has no poll, a stream perhaps no file
        return lambda: False
    return lambda: poll.poll(0) == [(descriptor, select.POLLOUT)]
