"""The child's side of `host/worker.py`: reads requests, answers them, ends with its parent.

It must start quickly, so it imports nothing heavy.
"""

import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

try:
    import resource
except ImportError:  # not on Windows
    resource = None

_LENGTH = struct.Struct(">I")

Handler = Callable[[dict[str, Any]], dict[str, Any]]


def serve(handle: Handler, memory: int, seconds: int) -> None:
    """Answer each request by `handle(request)` until standard input ends.

    `memory` is the most address space in bytes. A request that takes longer than `seconds` kills
    the process even inside native code: nobody else would if the parent were dead by then.
    """
    answers = _own_output()
    _limit(memory)
    _send(answers, {"ready": True})
    while (request := _receive(sys.stdin.buffer)) is not None:
        _alarm(seconds)
        answer = handle(request)
        _alarm(0)
        _send(answers, answer)


def _own_output() -> BinaryIO:
    """Standard output, out of the reach of anything that prints."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "wb")


def _limit(memory: int) -> None:
    if resource is None:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # a stricter limit is set already, or the system has none
            continue


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _receive(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    request: dict[str, Any] = json.loads(_text(stream, _LENGTH.unpack(head)[0]))
    if "texts" in request:
        request["texts"] = [_text(stream, size) for size in request["texts"]]
    return request


def _text(stream: BinaryIO, size: int) -> str:
    return stream.read(size).decode("utf-8", "surrogatepass")


def _send(stream: BinaryIO, answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()
