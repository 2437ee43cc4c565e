"""A small JSON-RPC client over a pair of byte streams, framed as in LSP."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from pails.core.rpc import ErrorCode


class RpcError(Exception):
    """The other side answered a request with an error; `str(error)` is its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class MethodNotFound(Exception):
    """Raised by a request handler for a method that it does not know."""


class ConnectionEnded(Exception):
    """The other side closed the stream or sent something that is no frame."""


Json = dict[str, Any]
OnNotification = Callable[[str, Json], None]
OnRequest = Callable[[str, Json], Awaitable[Json | None]]


class RpcClient:
    """Sends requests and notifications; `run` reads what comes back until the stream ends.

    Notifications are handled at once and in order. Each request of the other side is handled in a
    task of its own, because an answer may have to wait for a person.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_notification: OnNotification,
        on_request: OnRequest,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._on_notification = on_notification
        self._on_request = on_request
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Json | None]] = {}
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._ended = False

    async def run(self) -> None:
        """Read until the other side ends the stream. What a notification handler raises ends it."""
        try:
            while (message := await read_message(self._reader)) is not None:
                self._dispatch(message)
        finally:
            self._ended = True
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ConnectionEnded("the server ended"))
            answering = tuple(self._answering.values())
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)

    async def request(self, method: str, params: Json | None = None) -> Json:
        """The result, {} where it is null.

        Raises `RpcError`, or `ConnectionEnded` when no answer can come any more.
        """
        if self._ended:
            raise ConnectionEnded("the server ended")
        self._last_id += 1
        identifier = self._last_id
        future = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = future
        self._send({"id": identifier, **_call(method, params)})
        try:
            return await future or {}
        finally:
            del self._waiting[identifier]

    def notify(self, method: str, params: Json | None = None) -> None:
        self._send(_call(method, params))

    def _send(self, message: Json) -> None:
        self._writer.write(frame({"jsonrpc": "2.0", **message}))

    def _dispatch(self, message: Json) -> None:
        method, identifier = message.get("method"), message.get("id")
        params: Json = message.get("params") or {}
        if method is None:
            self._settle(message)
        elif identifier is not None:
            self._answering[identifier] = task = asyncio.create_task(
                self._answer(identifier, method, params)
            )
            task.add_done_callback(lambda task: self._answered(identifier, task))
        elif method == "$/cancelRequest":
            if task := self._answering.get(params.get("id", -1)):
                task.cancel()
        else:
            self._on_notification(method, params)

    def _settle(self, message: Json) -> None:
        future = self._waiting.get(message.get("id", -1))
        if future is None or future.done():
            return
        if error := message.get("error"):
            future.set_exception(RpcError(error["code"], error["message"]))
        else:
            future.set_result(message.get("result"))

    async def _answer(self, identifier: int | str, method: str, params: Json) -> None:
        try:
            result = await self._on_request(method, params)
        except MethodNotFound:
            text = f"this client does not answer {method}"
            self._refuse(identifier, ErrorCode.METHOD_NOT_FOUND, text)
        except Exception as error:  # noqa: BLE001 - the border of a request: it must be answered
            text = f"{type(error).__name__}: {error}"
            self._refuse(identifier, ErrorCode.INTERNAL_ERROR, text)
        else:
            self._send({"id": identifier, "result": result})

    def _answered(self, identifier: int | str, task: asyncio.Task[None]) -> None:
        del self._answering[identifier]
        # Here and not in the task: one that is cancelled before its first step never runs.
        if task.cancelled() and not self._ended:
            self._refuse(identifier, ErrorCode.REQUEST_CANCELLED, "no longer wanted")

    def _refuse(self, identifier: int | str, code: ErrorCode, text: str) -> None:
        self._send({"id": identifier, "error": {"code": code, "message": text}})


def _call(method: str, params: Json | None) -> Json:
    """JSON-RPC knows an absent `params`, not a null one."""
    return {"method": method} if params is None else {"method": method, "params": params}


def frame(message: Json) -> bytes:
    """A message as it travels."""
    body = json.dumps(message, ensure_ascii=False).encode("utf-8")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def read_message(reader: asyncio.StreamReader) -> Json | None:
    """The next message, None at the end of the stream; `ConnectionEnded` on anything else."""
    length = b""
    while (line := await reader.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = value.strip()
        elif name.lower() != b"content-type":
            raise ConnectionEnded("the server wrote something that is no message")
    if not line:
        return None
    try:
        return json.loads(await reader.readexactly(int(length)))
    except asyncio.IncompleteReadError:
        return None
    except ValueError as error:
        raise ConnectionEnded("the server wrote a broken message") from error
