"""The JSON-RPC client against a real process that speaks the same framing."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pails.cli.client import (
    ConnectionEnded,
    MethodNotFound,
    RpcClient,
    RpcError,
    frame,
    read_message,
)
from pails.host.client_process import ServerProcess, start_server

SERVER = r"""
import json, sys

def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, value = line.split(b":")
        length = int(value) if name == b"Content-Length" else length
    return json.loads(sys.stdin.buffer.read(length)) if length else None

def write(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    head = b"Content-Type: application/vscode-jsonrpc\r\ncontent-length: %d\r\n\r\n" % len(body)
    sys.stdout.buffer.write(head + body)
    sys.stdout.buffer.flush()

while (message := read()) is not None:
    method, id_, params = message.get("method"), message.get("id"), message.get("params")
    if method == "echo":
        write(id=id_, result=params)
    elif method == "fail":
        write(id=id_, error={"code": -31001, "message": "no such thing"})
    elif method == "null":
        assert "params" not in message
        write(id=id_, result=None)
    elif method == "ask":  # asks back and returns the answer as it came
        write(id="s-1", method=params["method"], params={"n": 7})
        asked = id_
    elif method == "askAndCancel":
        write(id="s-2", method="slow", params={})
        write(method="$/cancelRequest", params={"id": "s-2"})
        asked = id_
    elif method == "tell":
        write(method="told", params=params)
    elif method == "noise":
        print("Traceback: this is no message", flush=True)
    elif method == "die":
        sys.stderr.write("x" * 100_000 + "the last words")
        sys.exit(3)
    elif method is None:
        write(id=asked, result={"answer": message.get("result"), "error": message.get("error")})
"""


class Peer:
    """The client under test and what it was told."""

    def __init__(self, server: ServerProcess) -> None:
        self.told: list[tuple[str, Any]] = []
        self.server = server
        self.client = RpcClient(server.reader, server.writer, self.on_notification, self.on_request)
        self.reading = asyncio.create_task(self.client.run())

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))

    async def on_request(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "double":
            return {"n": params["n"] * 2}
        if method == "slow":
            await asyncio.Event().wait()
        if method == "broken":
            raise ZeroDivisionError("by zero")
        raise MethodNotFound


@asynccontextmanager
async def peer() -> AsyncIterator[Peer]:
    server = await start_server([sys.executable, "-c", SERVER], dict(os.environ), Path.cwd())
    running = Peer(server)
    try:
        yield running
    finally:
        await server.stop()
        await asyncio.gather(running.reading, return_exceptions=True)


async def test_requests_are_answered_whatever_the_text():
    async with peer() as running:
        text = "漢字 😀 " + "x" * 200_000
        first, second = await asyncio.gather(
            running.client.request("echo", {"text": text}), running.client.request("echo", {"n": 2})
        )
        assert first == {"text": text}
        assert second == {"n": 2}
        assert await running.client.request("null") == {}


async def test_an_error_is_raised_with_its_code():
    async with peer() as running:
        with pytest.raises(RpcError, match="no such thing") as caught:
            await running.client.request("fail")
        assert caught.value.code == -31001


async def test_notifications_arrive_in_order():
    async with peer() as running:
        for number in range(20):
            running.client.notify("tell", {"n": number})
        await running.client.request("echo", {"n": 0})
        assert running.told == [("told", {"n": number}) for number in range(20)]


async def test_requests_of_the_server_are_answered():
    async with peer() as running:
        answer = await running.client.request("ask", {"method": "double"})
        assert answer == {"answer": {"n": 14}, "error": None}


@pytest.mark.parametrize(("method", "code"), [("unknown", -32601), ("broken", -32603)])
async def test_every_request_of_the_server_gets_an_answer(method: str, code: int):
    async with peer() as running:
        answer = await running.client.request("ask", {"method": method})
        assert answer["error"]["code"] == code


async def test_a_request_that_the_server_takes_back_is_answered_as_cancelled():
    async with peer() as running:
        answer = await running.client.request("askAndCancel")
        assert answer["error"]["code"] == -32800


async def test_a_request_taken_back_before_it_was_looked_at_is_answered_too():
    """Both messages arrive at once, so the handler's task is cancelled before its first step."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    other, other_writer = await asyncio.open_connection(sock=theirs)

    async def never(method: str, params: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    client = RpcClient(reader, writer, lambda method, params: None, never)
    request = frame({"id": 5, "method": "slow"})
    other_writer.write(request + frame({"method": "$/cancelRequest", "params": {"id": 5}}))
    await other_writer.drain()
    reading = asyncio.create_task(client.run())
    answer = await read_message(other)
    other_writer.close()
    await reading
    writer.close()
    assert answer is not None
    assert (answer["id"], answer["error"]["code"]) == (5, -32800)


async def test_a_server_that_dies_fails_the_waiting_request_and_leaves_its_last_words():
    async with peer() as running:
        with pytest.raises(ConnectionEnded):
            await running.client.request("die")
        with pytest.raises(ConnectionEnded):
            await running.client.request("echo", {})
        assert await running.server.stop() == 3
        assert running.server.last_words.endswith("the last words")


async def test_what_is_no_message_ends_the_connection():
    async with peer() as running:
        with pytest.raises(ConnectionEnded):
            await running.client.request("noise")


async def test_a_stream_that_ends_within_a_message_is_at_its_end():
    reader = asyncio.StreamReader()
    reader.feed_data(frame({"id": 1})[:-1])
    reader.feed_eof()
    assert await read_message(reader) is None


async def test_a_server_that_ignores_everything_is_ended_by_force():
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)"
    stubborn = f"{script}\nwhile True: signal.pause()"
    server = await start_server([sys.executable, "-c", stubborn], dict(os.environ), Path.cwd())
    assert await server.reader.readline() == b"up\n"
    assert await server.stop(grace_seconds=0.1) == -9
