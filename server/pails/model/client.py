"""A model behind the chat-completions protocol: one request in, a stream of a reply out.

    stream ─ attempt ─ attempt ─ …          until one is whole, or the policy says to stop
             └─ POST → check status → events → chunks → ReplyAssembler → Reply

An attempt counts as a whole or not at all: when it breaks, what it streamed is void, and no call
of it is ever returned.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import httpx

from pails.core.errors import (
    ConfigurationError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
)
from pails.core.messages import AssistantMessage, check_sendable
from pails.core.ports import ModelRequest, Reply, ReplyDelta, ReplyRestarted
from pails.model.assembly import ReplyAssembler
from pails.model.encoding import Dialect, RequestEncoder
from pails.model.endpoint import Endpoint
from pails.model.failures import response_failure, stream_failure, transport_failure
from pails.model.http import (
    MOST_BYTES,
    SilenceWatch,
    awake_or_not,
    chunks_of,
    next_chunk,
    open_client,
    read_complaint,
    read_whole,
    too_much,
)
from pails.model.json_values import Json, as_dict, parse
from pails.model.retry import RetryPolicy
from pails.model.sse import EventDecoder, EventTooLongError, ServerEvent
from pails.telemetry import mask

Item = ReplyDelta | ReplyRestarted | Reply

_LINGER = 2.0
"""Seconds to wait for what may follow a reply that is whole: usage, [DONE], the end."""

_LOCAL_PATIENCE = 5
"""How many idle times a model on this machine may read a prompt before its first word."""

_FAILED_REASONS = ("error", "network_error", "insufficient_system_resource")


class ChatModel:
    """Implements `core.ports.Model`. Keeps its connections; `aclose` ends them.

    `idle_timeout` is how many seconds a server may send nothing at all. `sleep` and `clock` are
    there to be replaced where nobody wants to wait.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        idle_timeout: float,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = awake_or_not,
    ) -> None:
        if not endpoint.model:
            raise ConfigurationError(
                f"No model is named for {endpoint.base_url}: set model (PAILS_MODEL)."
            )
        self._endpoint = endpoint
        self._retry = retry or RetryPolicy()
        self._idle_timeout = idle_timeout
        self._first_timeout = idle_timeout * (_LOCAL_PATIENCE if endpoint.is_local else 1)
        self._sleep = sleep
        self._watch = SilenceWatch(clock)
        self._dialect = Dialect()
        self._encoder = RequestEncoder()
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._endpoint.model

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Item]:
        """The reply in pieces and, last, as a whole. Raises `ModelError`, `ConfigurationError`."""
        check_sendable(request.messages)
        failures = 0
        while True:
            try:
                async with contextlib.aclosing(self._attempt(request)) as items:
                    async for item in items:
                        yield item
                return
            except ModelError as error:
                if self._learn(error):
                    continue
                failures += 1
                wait = self._retry.wait_after(failures, error)
                if wait is None:
                    raise _given_up(error, failures) from error.__cause__
                reason = f"{error} Trying again in {wait:.0f} s."
            yield ReplyRestarted(reason)
            await self._sleep(wait)

    def _learn(self, error: ModelError) -> bool:
        """Stop sending what the server has just refused by name; True when that was news."""
        old, text = self._dialect, str(error)
        if not isinstance(error, ModelRefusedError) or not _UNWANTED.search(text):
            return False
        if "stream_options" in text:
            self._dialect = replace(old, stream_options=False)
        elif "reasoning" in text:
            self._dialect = replace(old, reasoning=False)
        return self._dialect != old

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta | Reply]:
        assembler = ReplyAssembler(_call_ids(request))
        body = self._encoder.encode(request, self._endpoint.model, self._dialect)
        try:
            async with (
                self._post(body) as response,
                contextlib.aclosing(self._deltas(response, assembler)) as deltas,
            ):
                async for delta in deltas:
                    yield delta
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise transport_failure(self._endpoint, error) from error
        yield self._checked(assembler)

    @contextlib.asynccontextmanager
    async def _post(self, body: bytes) -> AsyncGenerator[httpx.Response]:
        """The response to a request, when it is one that can hold a reply."""
        client = await self._connected()
        url = f"{self._endpoint.base_url}/chat/completions"
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        sending = client.send(
            client.build_request("POST", url, content=body, headers=headers), stream=True
        )
        response = await self._watch.wait(sending, self._first_timeout)
        async with contextlib.aclosing(response):
            if response.status_code != 200:
                status = response.status_code
                text = await self._watch.wait(read_complaint(response), self._first_timeout)
                raise response_failure(self._endpoint, status, text, response.headers)
            if response.headers.get("content-type", "").startswith("text/html"):
                raise ModelRefusedError(
                    f"{self._endpoint.base_url} answered with a web page, so it is no address of "
                    "a model server: set base_url (PAILS_BASE_URL)."
                )
            yield response

    async def _connected(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                self._client = await open_client(self._endpoint)
            return self._client

    async def _deltas(
        self, response: httpx.Response, assembler: ReplyAssembler
    ) -> AsyncGenerator[ReplyDelta]:
        """Feeds the assembler; yields what there is to show."""
        async with contextlib.aclosing(self._events(response, assembler)) as events:
            async for event in events:
                if event.data == "[DONE]":
                    assembler.is_whole = True
                elif delta := assembler.add(self._read_chunk(event)):
                    yield delta

    async def _events(
        self, response: httpx.Response, assembler: ReplyAssembler
    ) -> AsyncGenerator[ServerEvent]:
        """The events of a response, up to its end.

        When the reply is whole, the rest is read only for the usage and so that the connection can
        be used again; then neither silence nor a broken connection is a failure.
        """
        if response.headers.get("content-type", "").startswith("application/json"):
            # Not streamed: the whole reply, or an error, as one object.
            body = await self._watch.wait(read_whole(response), self._first_timeout)
            yield ServerEvent("", body.decode("utf-8", "replace"))
            return
        decoder = EventDecoder(MOST_BYTES)
        idle = self._first_timeout
        async with contextlib.aclosing(chunks_of(response)) as body:
            while True:
                try:
                    limit = _LINGER if assembler.is_whole else idle
                    data = await self._watch.wait(next_chunk(body), limit)
                    idle = self._idle_timeout
                except (httpx.HTTPError, ModelUnavailableError):
                    if not assembler.is_whole:
                        raise
                    data = None
                try:
                    arrived = decoder.end() if data is None else decoder.feed(data)
                except EventTooLongError as error:
                    raise too_much(response) from error
                for event in arrived:
                    yield event
                if data is None:
                    return

    def _read_chunk(self, event: ServerEvent) -> Json:
        """The chunk in an event; raises the error that the server sent in place of one."""
        try:
            chunk = as_dict(parse(event.data))
        except ValueError as error:
            raise ModelUnavailableError(
                f"The model server at {self._endpoint.base_url} sent what is not JSON: "
                f"{mask(event.data[:2000], self._endpoint.api_key)[:80]!r}."
            ) from error
        if chunk.get("error") or chunk.get("object") == "error" or event.name == "error":
            raise stream_failure(self._endpoint, chunk)
        return chunk

    def _checked(self, assembler: ReplyAssembler) -> Reply:
        """The reply, if it is one: whole, and saying something."""
        who = f"The model server at {self._endpoint.base_url}"
        reason = assembler.finish_reason
        if not assembler.is_whole:
            raise ModelUnavailableError(f"{who} ended the stream in the middle of the reply.")
        if reason in _FAILED_REASONS:
            raise ModelUnavailableError(f"{who} stopped in the middle of the reply ({reason}).")
        reply = assembler.reply()
        is_empty = not reply.message.text.strip() and not reply.message.tool_calls
        if reason == "content_filter" and (is_empty or reply.message.tool_calls):
            raise ModelRefusedError(f"{who} withheld the reply (content filter): ask differently.")
        if is_empty and reply.truncated:
            raise ModelRefusedError(
                f"{who} reached its token limit before the reply had a word: raise the limit "
                "there, or ask for less at once."
            )
        if is_empty:
            raise ModelUnavailableError(f"The model {self.name!r} sent an empty reply.")
        return reply


_UNWANTED = re.compile(
    r"not (?:permitted|allowed|supported|recogni[sz]ed|expected)|un(?:supported|expected|known"
    r"|recogni[sz]ed)|extra (?:inputs?|fields?)|additional propert|should not|cannot be",
    re.IGNORECASE,
)


def _given_up(error: ModelError, attempts: int) -> ModelError:
    if attempts > 1:
        error.args = (f"{error} Gave up after {attempts} attempts.",)
    return error


def _call_ids(request: ModelRequest) -> set[str]:
    replies = (message for message in request.messages if isinstance(message, AssistantMessage))
    return {call.id for reply in replies for call in reply.tool_calls}
