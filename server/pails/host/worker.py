"""A child process that answers requests, may be killed at any time, and never outlives us.

For work in native code that could crash, hang or eat memory. Requests and answers are JSON
objects, each in a frame: four bytes of length, then UTF-8. They travel over pipes of their own.
Long texts of a request, a list named `texts`, follow behind its JSON: writing them as JSON would
hold up all threads. `host/serving.py` is the child's side.
"""

import asyncio
import json
import struct
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pails.core.errors import PailsError
from pails.host.children import kill_child

LENGTH = struct.Struct(">I")
_START_SECONDS = 10.0


class WorkerError(PailsError):
    """The child could not be started, or died before it answered."""


class Worker:
    """One child at most, started when first needed and again after each death.

    Requests are answered one after the other. A child that did not answer in time is killed, so
    no answer can ever be taken for that of another request.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = tuple(argv)
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._closed = False

    async def warm(self) -> None:
        """Start the child now. Raises `WorkerError` when it does not come up.

        Being closed meanwhile is no failure: nobody waits for the child any more.
        """
        async with self._turn:
            try:
                await self._ready()
            except WorkerError:
                if not self._closed:
                    raise

    async def request(self, payload: Mapping[str, object], timeout: float) -> dict[str, Any]:
        """The child's answer. `timeout` is in seconds and does not count waiting or starting.

        Raises TimeoutError when it took longer, `WorkerError` when the child died.
        """
        frame = _encode(payload)
        async with self._turn:
            served_before = self._process is not None
            try:
                return await self._answer(await self._ready(), frame, timeout)
            except WorkerError:
                if not served_before:
                    raise
            # It may have been killed while it was idle; only a new one's death is this request's.
            return await self._answer(await self._ready(), frame, timeout)

    async def aclose(self) -> None:
        """Kill the child and wait until it is gone. A request under way ends in `WorkerError`."""
        self._closed = True
        if self._process is not None:
            kill_child(self._process)
        async with self._turn:
            await self._stop()

    async def _ready(self) -> Process:
        if self._closed:
            raise WorkerError("The worker process was shut down.")
        if self._process and self._process.returncode is None:
            return self._process
        await self._stop()
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *self._argv, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise WorkerError(f"The worker process could not be started: {error}.") from error
        try:
            await self._answer(process, b"", _START_SECONDS)
        except TimeoutError:
            raise WorkerError("The worker process did not start in time.") from None
        return process

    async def _answer(self, process: Process, frame: bytes, timeout: float) -> dict[str, Any]:
        """Write a frame, read one. Whatever goes wrong, cancellation too, ends the child."""
        answered = False
        try:
            async with asyncio.timeout(timeout):
                answer = await _exchange(process, frame)
            answered = True
        except TimeoutError:
            raise
        except (EOFError, OSError, ValueError) as error:
            raise WorkerError("The worker process died before it answered.") from error
        finally:
            if not answered:
                await self._stop()
        return answer

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            kill_child(process)
            await process.communicate(b"")  # closes and drains its pipes, and reaps it


async def _exchange(process: Process, frame: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(frame)
    await process.stdin.drain()
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    answer: object = json.loads(await process.stdout.readexactly(length))
    if not isinstance(answer, dict):
        raise ValueError("an answer that is no object")
    return cast("dict[str, Any]", answer)


def _encode(payload: Mapping[str, object]) -> bytes:
    texts = [_bytes_of(text) for text in cast("Sequence[str]", payload.get("texts", ()))]
    sizes = {"texts": [len(text) for text in texts]} if texts else {}
    body = _bytes_of(json.dumps({**payload, **sizes}, ensure_ascii=False))
    return b"".join((LENGTH.pack(len(body)), body, *texts))


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
