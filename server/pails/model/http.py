"""HTTP to a model's server: the client's settings, and how long silence may last."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar, cast

import httpx

from pails import __version__
from pails.core.errors import ConfigurationError, ModelUnavailableError
from pails.model.endpoint import Endpoint

T = TypeVar("T")


async def open_client(endpoint: Endpoint, connect_timeout: float) -> httpx.AsyncClient:
    """A client for this endpoint; `connect_timeout` is in seconds.

    Raises `ConfigurationError` for an unusable key or proxy.
    """
    if endpoint.api_key and not endpoint.api_key.isascii():
        raise ConfigurationError(
            f"The key from {endpoint.origin or 'the settings'} holds characters that no key can: "
            "set it again."
        )
    if endpoint.is_local:
        return _new_client(endpoint, connect_timeout)
    try:
        # In a thread, because reading the certificates takes some 50 ms.
        return await asyncio.to_thread(_new_client, endpoint, connect_timeout)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(
            f"The proxy that the environment names cannot be used: {error} "
            "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY."
        ) from error


def _new_client(endpoint: Endpoint, connect_timeout: float) -> httpx.AsyncClient:
    headers = {"User-Agent": f"pails/{__version__}", "Accept-Encoding": "identity"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    return httpx.AsyncClient(
        headers=headers,
        # Silence is watched by `SilenceWatch`, with a clock that knows of suspended machines.
        timeout=httpx.Timeout(None, connect=connect_timeout),
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
    looked up on `clock` every `tick` seconds.
    """

    def __init__(self, clock: Callable[[], float] = awake_or_not, tick: float = 5.0) -> None:
        self._clock = clock
        self._tick = tick

    async def wait(self, awaitable: Awaitable[T], limit: float) -> T:
        """The awaitable's result; `ModelUnavailableError` when it takes over `limit` seconds."""
        loop = asyncio.get_running_loop()
        deadline = self._clock() + limit
        scope = asyncio.timeout(None)

        def look() -> None:
            nonlocal timer
            left = deadline - self._clock()
            if left <= 0:
                scope.reschedule(loop.time())
            else:
                timer = loop.call_later(min(left, self._tick), look)

        timer = loop.call_later(min(limit, self._tick), look)
        try:
            async with scope:
                return await awaitable
        except TimeoutError as error:
            raise ModelUnavailableError(
                f"The model server has sent nothing for {limit:g} seconds."
            ) from error
        finally:
            timer.cancel()


def chunks_of(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The bytes of a body as they arrive; typed as what it is, so that it can be closed."""
    return cast("AsyncGenerator[bytes]", response.aiter_bytes())


async def next_chunk(body: AsyncIterator[bytes]) -> bytes | None:
    """The next bytes of a body, None at its end."""
    return await anext(body, None)
