"""Keeps the stream that the client reads out of everybody else's reach."""

import os
from typing import BinaryIO


def protect_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Move standard input and output aside and return them, for the protocol alone.

    From then on descriptor 0 is empty and descriptor 1 goes where 2 goes, for this process and
    for its children: a stray `print` cannot break the stream, a child cannot read from it. Call
    it once, first thing in the process.
    """
    standard_error = _standard_error()  # first: a free descriptor 2 would be the next one taken
    protocol_in = os.fdopen(os.dup(0), "rb")  # `os.dup` makes descriptors no child inherits
    protocol_out = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(standard_error, 1)
    return protocol_in, protocol_out


def _standard_error() -> int:
    """Descriptor 2, opened on the null device when whoever started us had closed it."""
    try:
        os.fstat(2)
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        if nothing != 2:
            os.dup2(nothing, 2)
            os.close(nothing)
    return 2
