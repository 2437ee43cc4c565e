"""Message frames, cut anywhere, over streams that may break."""

import asyncio
import os
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.lsp.framing import FrameParser, FrameWriter, start_reading


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


@given(
    bodies=st.lists(st.binary(max_size=30), max_size=5),
    cuts=st.lists(st.integers(1, 20), min_size=1),
)
def test_the_pieces_do_not_matter(bodies: list[bytes], cuts: list[int]) -> None:
    stream, parser, found = b"".join(map(frame, bodies)), FrameParser(), []
    while stream:
        size = cuts[len(stream) % len(cuts)]
        found += parser.feed(stream[:size])
        stream = stream[size:]
    assert found == bodies


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"content-type: x\r\ncontent-length:2\r\n\r\n",
        b"Content-Length: 2\n\n",
    ],
)
def test_headers_are_read_leniently(header: bytes) -> None:
    assert FrameParser().feed(header + b"{}" + frame(b"[]")) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "junk",
    [b"hello\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: 999999999999\r\n\r\n"],
)
def test_a_header_without_a_usable_length_is_skipped(
    junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert FrameParser().feed(junk + frame(b"{}")) == [b"{}"]
    assert "skipped" in caplog.text


@pytest.mark.parametrize(
    "junk",
    [
        b"Content-Length: x\r\n\r\n{}",  # no length, so the body is taken for a header
        b"Content-Length: 1\r\n\r\n{}",  # a length in characters, say
    ],
)
def test_a_frame_cut_wrong_costs_itself_only(junk: bytes) -> None:
    assert FrameParser().feed(junk + frame(b"[1]") + frame(b"[2]"))[-2:] == [b"[1]", b"[2]"]


async def test_reading_ends_with_the_stream() -> None:
    reading, writing = os.pipe()
    received, ended = [], asyncio.Event()
    with os.fdopen(reading, "rb") as stream:
        start_reading(stream, received.append, ended.set)
        os.write(writing, frame("中😀".encode()) + b"Content-Length: 99\r\n\r\ncut off")
        os.close(writing)
        await asyncio.wait_for(ended.wait(), 10)
    assert received == ["中😀".encode()]


async def test_a_client_that_does_not_read_does_not_stop_the_loop() -> None:
    reading, writing = os.pipe()
    broken = threading.Event()
    big = b"x" * 300_000  # more than a pipe holds
    with os.fdopen(writing, "wb") as stream:
        writer = FrameWriter(stream, broken.set)
        writer.write(big)
        writer.write(b"end")  # returns although nobody reads
        with os.fdopen(reading, "rb") as reader:
            assert await asyncio.to_thread(reader.read, len(big) + 3) == big + b"end"
        writer.write(b"after the reader is gone")
        await asyncio.to_thread(broken.wait, 10)
        assert broken.is_set()
        writer.close()


async def test_what_fits_is_there_at_once() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(writing, "wb") as stream, os.fdopen(reading, "rb", buffering=0) as reader:
        writer = FrameWriter(stream, lambda: None)
        writer.write(b"a small event")
        assert reader.read(100) == b"a small event"
        writer.close()


async def test_a_terminal_that_nobody_reads_does_not_stop_the_loop() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "wb") as stream, os.fdopen(ours, "rb", buffering=0) as reader:
        writer = FrameWriter(stream, lambda: None)
        for _ in range(20):
            writer.write(b"x" * 4000)  # returns, though a terminal takes less
        taken = 0
        while taken < 20 * 4000:
            taken += len(await asyncio.to_thread(reader.read, 4096))
        writer.close()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
async def test_the_order_is_kept_whoever_writes(kind: str) -> None:
    """Small pieces are written by the caller and large ones by the thread; a slow reader comes."""
    ours, theirs = descriptors(kind)
    pieces = [b"%d;" % number * (1 + number * 37 % 3000) for number in range(300)]
    with os.fdopen(ours, "wb") as stream, os.fdopen(theirs, "rb") as reader:
        writer = FrameWriter(stream, lambda: None)
        for piece in pieces[:200]:  # nobody reads yet, so most of it must wait
            writer.write(piece)
        expected = b"".join(pieces)
        reading = asyncio.create_task(asyncio.to_thread(reader.read, len(expected)))
        for piece in pieces[200:]:
            writer.write(piece)
            await asyncio.sleep(0)
        assert await reading == expected
        writer.close()


def descriptors(kind: str) -> tuple[int, int]:
    """The two ends of a connection: where to write, and where to read."""
    if kind == "pipe":
        reading, writing = os.pipe()
        return writing, reading
    one, other = socket.socketpair()
    return one.detach(), other.detach()


async def test_non_blocking_descriptors_are_waited_for() -> None:
    """A client may have made its end, and so ours, non-blocking."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    received, arrived, ended = bytearray(), asyncio.Event(), asyncio.Event()

    def receive(body: bytes) -> None:
        received.extend(body)
        arrived.set()

    body = b"y" * 300_000
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb") as stdout:
        start_reading(stdin, receive, ended.set)
        writer = FrameWriter(stdout, lambda: None)
        writer.write(frame(body))
        await asyncio.wait_for(arrived.wait(), 10)
        writer.close()
        stdout.close()
        await asyncio.wait_for(ended.wait(), 10)
    assert received == body
