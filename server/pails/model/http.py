"""HTTP to a model's server: the client's settings, how long silence may last, how much is read."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar, cast

import httpx

from pails import __version__
from pails.core.errors import ConfigurationError, ModelRefusedError, ModelUnavailableError
from pails.model.endpoint import Endpoint

_CONNECT_TIMEOUT = 10.0
"""Seconds that a server may take to accept a connection."""

MOST_BYTES = 8 << 20
"""The longest body that is read whole, and the longest event; no real one comes near it."""

T = TypeVar("T")


async def open_client(endpoint: Endpoint) -> httpx.AsyncClient:
    """A client for this endpoint; raises `ConfigurationError` for an unusable key or proxy."""
    if endpoint.api_key and not endpoint.api_key.isascii():
        raise ConfigurationError(
            f"The key from {endpoint.origin or 'the settings'} holds characters that no key can: "
            "set it again."
        )
    if endpoint.is_local:
        return _new_client(endpoint)
    try:
        # In a thread, because reading the certificates takes some 50 ms.
        return await asyncio.to_thread(_new_client, endpoint)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(
            f"The proxy that the environment names cannot be used: {error} "
            "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY."
        ) from error


def _new_client(endpoint: Endpoint) -> httpx.AsyncClient:
    headers = {"User-Agent": f"pails/{__version__}", "Accept-Encoding": "identity"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    return httpx.AsyncClient(
        headers=headers,
        # Silence is watched by `SilenceWatch`, with a clock that knows of suspended machines.
        timeout=httpx.Timeout(None, connect=_CONNECT_TIMEOUT),
        # A tool may run for a minute between two requests; a new connection costs round trips.
        limits=httpx.Limits(keepalive_expiry=90.0),
        # No proxy leads to this machine, and certificates are loaded for nothing.
        trust_env=not endpoint.is_local,
        verify=not endpoint.is_local or endpoint.base_url.startswith("https:"),
    )


def awake_or_not() -> float:
    """Seconds on a clock that goes on while the machine sleeps and that nobody sets."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class SilenceWatch:
    """Waits for a server, but not for ever.

    Timers of the event loop stand still while the machine sleeps, so the time that has passed is
    looked up on `clock` every `tick` seconds. One timer serves all that wait: an `asyncio.timeout`
    around each piece of a reply would cost as much as reading it.
    """

    def __init__(self, clock: Callable[[], float] = awake_or_not, tick: float = 5.0) -> None:
        self._clock = clock
        self._tick = tick
        self._timer: asyncio.TimerHandle | None = None
        self._deadlines: dict[asyncio.Task[Any], float] = {}
        self._expired: set[asyncio.Task[Any]] = set()

    async def wait(self, awaitable: Awaitable[T], limit: float) -> T:
        """The awaitable's result; `ModelUnavailableError` when it takes over `limit` seconds."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        cancelled_before = task.cancelling()
        self._deadlines[task] = self._clock() + limit
        self._look_within(limit)
        try:
            return await awaitable
        except asyncio.CancelledError as error:
            # Somebody else may have cancelled at the same moment: that goes on.
            if task in self._expired and task.cancelling() == cancelled_before + 1:
                text = f"The model server has sent nothing for {limit:g} seconds."
                raise ModelUnavailableError(text) from error
            raise
        finally:
            del self._deadlines[task]
            if task in self._expired:
                self._expired.remove(task)
                task.uncancel()

    def _look_within(self, seconds: float) -> None:
        """Have `_look` called in so many seconds or earlier, and in any case after a tick."""
        loop = asyncio.get_running_loop()
        when = loop.time() + min(seconds, self._tick)
        if self._timer is None or self._timer.when() > when:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._clock()
        for task, deadline in self._deadlines.items():
            if deadline <= now and task not in self._expired:
                self._expired.add(task)
                task.cancel()
        waiting = self._deadlines.keys() - self._expired
        if waiting:
            self._look_within(min(self._deadlines[task] for task in waiting) - now)


def chunks_of(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The bytes of a body as they arrive; typed as what it is, so that it can be closed.

    Raises `ModelRefusedError` for a compressed body, which Pails asks for not to get: a small one
    may unpack to any size.
    """
    encoding = response.headers.get("content-encoding", "").strip()
    if encoding.lower() not in ("", "identity"):
        raise ModelRefusedError(
            f"{_origin(response)} sends its replies compressed ({encoding[:100]}), which Pails "
            "asks not to: switch compression off there, or in the proxy on the way."
        )
    return cast("AsyncGenerator[bytes]", response.aiter_raw())


async def read_whole(response: httpx.Response) -> bytes:
    """The body. Raises `ModelRefusedError` for a compressed one or one over `MOST_BYTES`."""
    body = bytearray()
    async with contextlib.aclosing(chunks_of(response)) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > MOST_BYTES:
                raise too_much(response)
    return bytes(body)


async def read_complaint(response: httpx.Response) -> str:
    """The body of an error, empty where it cannot be read: its status says enough."""
    try:
        body = await read_whole(response)
    except ModelRefusedError:
        return ""
    return body.decode("utf-8", "replace")


def too_much(response: httpx.Response) -> ModelRefusedError:
    """What to raise for a body, or an event of one, that exceeds `MOST_BYTES`."""
    return ModelRefusedError(
        f"{_origin(response)} sent more than {MOST_BYTES >> 20} MB in one piece, which no model's "
        "reply is: check base_url (PAILS_BASE_URL)."
    )


def _origin(response: httpx.Response) -> str:
    url = response.url
    return f"The model server at {url.scheme}://{url.netloc.decode()}"  # without any key in it


async def next_chunk(body: AsyncIterator[bytes]) -> bytes | None:
    """The next bytes of a body, None at its end."""
    return await anext(body, None)
