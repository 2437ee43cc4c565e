"""A model server that follows a script and refuses what a strict provider would refuse.

It speaks the chat-completions protocol over real HTTP on loopback, in the loop of the test, so it
serves a client in the test as well as a Pails server in another process:

    async with ScriptedModel([Calls(("read_file", {"path": "a.py"})), Say("Done.")]) as server:
        ...  # give server.base_url (and server.model) to the thing under test
    assert server.requests[1]["messages"][-1]["role"] == "tool"

Each request takes the next step of the script:

    Say(text)                    a reply, streamed word by word
    Calls((name, args), ...)     tool calls, streamed in fragments; args is a dict, or a str that is
                                 sent as it is; ids are call_1, call_2, ... unless `ids` is given
    Raw(chunk, ...)              dicts become `data:` events, str and bytes go out as they are; ends
                                 with [DONE] unless done=False
    Status(429, body, headers)   a plain HTTP answer; body is text or something to send as JSON
    Drop(step, after=n)          the first n events of the step, then the connection is cut
    Silence(step, after=n)       the first n events, then nothing until the client hangs up
    Gate(step, after=n)          the first n events, then waits: `await gate.reached.wait()` in the
                                 test, do what must happen mid-stream, then `gate.open()`
    a function of the request    returns one of the above; an assertion that fails in it is kept in
                                 `unexpected` and answered with 500

`Silence` and `Gate` also have `left`, an event that is set when the client hung up while they
waited. `pause` of `Say` and `Calls` is seconds between two events (0: as fast as it goes).
Event 1 of a `Say` or `Calls` only opens the reply; reasoning, words or fragments follow.

What was asked is in `requests` (parsed), `bodies` (raw bytes) and `headers`; `received_at` and
`answered_at` are monotonic seconds; `await server.wait_for_requests(n)` waits for the nth request.

A request that a strict provider would not take is answered with 400 and takes no step; why is in
`refused`. A request after the end of the script gets a 500; see `unexpected`. On leaving the block
either raises AssertionError; a test that wanted them empties the lists: `server.refused.clear()`.
Reasoning that was issued must come back with its message (`reasoning="required"`), must not
(`"refused"`), or does not matter (`"ignored"`).
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Json = dict[str, Any]

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Say:
    """A reply in words. `usage` is (input, output, cached) tokens, None leaves it out."""

    text: str
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    finish: str | None = "stop"
    usage: tuple[int, int, int] | None = (100, 10, 0)
    pause: float = 0.0


class Calls:
    """A reply that calls tools, with `text` before the calls."""

    def __init__(
        self,
        *calls: tuple[str, Json | str],
        text: str = "",
        ids: Sequence[str] | None = None,
        reasoning: str = "",
        reasoning_field: str = "reasoning_content",
        finish: str | None = "tool_calls",
        usage: tuple[int, int, int] | None = (100, 10, 0),
        pause: float = 0.0,
    ) -> None:
        self.calls = [
            (name, args if isinstance(args, str) else json.dumps(args, ensure_ascii=False))
            for name, args in calls
        ]
        self.ids = ids
        self.say = Say(text, reasoning, reasoning_field, finish, usage, pause)


class Raw:
    """Whatever is given, for streams that no sane server sends."""

    def __init__(self, *chunks: Json | str | bytes, done: bool = True, pause: float = 0.0) -> None:
        self.chunks = chunks
        self.done = done
        self.pause = pause


@dataclass(frozen=True)
class Status:
    """An answer without a stream."""

    code: int
    body: object = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Drop:
    """Cuts the connection (reset) behind `after` events."""

    step: "Reply" = field(default_factory=lambda: Say("one two three four five six"))
    after: int = 0


class Gate:
    """Stops behind `after` events until `open()`, or until the client hangs up."""

    def __init__(self, step: "Reply | None" = None, after: int = 2) -> None:
        self.step: Reply = step or Say("one two three four five six")
        self.after = after
        self.reached = asyncio.Event()
        self.left = asyncio.Event()
        self.opened = asyncio.Event()

    def open(self) -> None:
        self.opened.set()


class Silence(Gate):
    """A gate that nobody opens. `after=0` sends the head of the answer only."""

    def __init__(self, step: "Reply | None" = None, after: int = 0) -> None:
        super().__init__(step, after)


Reply = Say | Calls | Raw
Step = Reply | Status | Drop | Gate
Script = Step | Callable[[Json], Step]


class ScriptedModel:
    """The server; see the top of this module."""

    def __init__(
        self,
        script: Iterable[Script] = (),
        *,
        models: Sequence[str] = ("scripted",),
        api_key: str | None = None,
        reasoning: Literal["required", "refused", "ignored"] = "required",
    ) -> None:
        self.script = list(script)
        self.models = list(models)
        self.api_key = api_key
        self.reasoning = reasoning
        self.base_url = ""
        self.requests: list[Json] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.refused: list[str] = []
        self.unexpected: list[str] = []
        self.received_at: list[float] = []
        self.answered_at: list[float] = []
        self._issued: dict[str, tuple[str, str]] = {}
        self._calls_made = 0
        self._arrived = asyncio.Condition()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def model(self) -> str:
        return self.models[0]

    async def __aenter__(self) -> "ScriptedModel":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.close()
        for task, writer in self._connections.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        if kind is None:
            assert not self.refused, f"requests that no strict server takes: {self.refused}"
            assert not self.unexpected, f"requests beyond the script: {self.unexpected}"

    async def wait_for_requests(self, count: int) -> None:
        """Return when `count` requests have come in since the start."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    # -- connections ----------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._connections[task] = writer
        try:
            # Cancelled only by `__aexit__`; a callback of asyncio would report that as an error.
            with contextlib.suppress(*_ENDS, asyncio.CancelledError):
                while True:
                    await self._exchange(_Exchange(reader, writer), await _read_request(reader))
        finally:
            del self._connections[task]
            writer.transport.abort()

    async def _exchange(self, out: "_Exchange", request: "_Request") -> None:
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return await out.error(401, "Incorrect API key provided.")
        if request.line.startswith("GET /v1/models"):
            data = [{"id": name, "object": "model"} for name in self.models]
            return await out.answer(Status(200, {"object": "list", "data": data}))
        if not request.line.startswith("POST /v1/chat/completions"):
            return await out.error(404, f"no such path: {request.line}")
        await self._record(request)
        problem = find_problem(request.body) or self._find_reasoning_problem(self.requests[-1])
        if problem:
            self.refused.append(problem)
            return await out.error(400, problem)
        if not self.script:
            self.unexpected.append(
                f"request {len(self.requests)}: {_last_words(self.requests[-1])}"
            )
            return await out.error(500, "the script of this test has no further step")
        try:
            step = self._next_step()
        except AssertionError as error:
            self.unexpected.append(f"request {len(self.requests)}: {error}")
            return await out.error(500, f"the test does not like this request: {error}")
        await self._play(out, step)
        self.answered_at.append(time.monotonic())

    def _next_step(self) -> Step:
        step = self.script.pop(0)
        return step(self.requests[-1]) if callable(step) else step

    async def _record(self, request: "_Request") -> None:
        self.received_at.append(time.monotonic())
        self.bodies.append(request.body)
        self.headers.append(request.headers)
        try:
            parsed = json.loads(request.body)
        except ValueError:
            parsed = {}
        async with self._arrived:
            self.requests.append(parsed)
            self._arrived.notify_all()

    # -- answers --------------------------------------------------------------------------------

    async def _play(self, out: "_Exchange", step: Step) -> None:
        if isinstance(step, Status):
            return await out.answer(step)
        reply = step.step if isinstance(step, Drop | Gate) else step
        await out.start_stream()
        count = 0
        async for event in self._events(reply):
            if isinstance(step, Drop | Gate) and count == step.after:
                await _interrupt(out, step)
            await out.chunk(event)
            count += 1
        if isinstance(step, Drop | Gate) and count <= step.after:
            await _interrupt(out, step)
        await out.end_stream()

    async def _events(self, reply: Reply) -> AsyncIterator[bytes]:
        """The bytes of a reply, one server-sent event at a time."""
        if isinstance(reply, Raw):
            for chunk in reply.chunks:
                yield chunk if isinstance(chunk, bytes) else _encode_raw(chunk)
                await asyncio.sleep(reply.pause)
            if reply.done:
                yield DONE
            return
        say = reply.say if isinstance(reply, Calls) else reply
        calls = self._with_ids(reply) if isinstance(reply, Calls) else []
        self._remember(say, calls)
        for event in _chunks(say, calls, self.model):
            yield b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"
            await asyncio.sleep(say.pause)
        yield DONE

    def _with_ids(self, reply: Calls) -> list[tuple[str, str, str]]:
        ids = reply.ids or [f"call_{self._calls_made + n + 1}" for n in range(len(reply.calls))]
        self._calls_made += len(reply.calls)
        return [(id_, name, args) for id_, (name, args) in zip(ids, reply.calls, strict=True)]

    def _remember(self, say: Say, calls: Iterable[tuple[str, str, str]]) -> None:
        if say.reasoning:
            key = _fingerprint(say.text, [name for _, name, _ in calls])
            self._issued[key] = (say.reasoning_field, say.reasoning)

    def _find_reasoning_problem(self, body: Json) -> str | None:
        for index, message in enumerate(body["messages"]):
            if message["role"] != "assistant" or self.reasoning == "ignored":
                continue
            if self.reasoning == "refused":
                if "reasoning_content" in message or "reasoning" in message:
                    return f"messages[{index}]: reasoning_content is not permitted here"
                continue
            names = [call["function"]["name"] for call in message.get("tool_calls", [])]
            issued = self._issued.get(_fingerprint(message.get("content") or "", names))
            if issued and message.get(issued[0]) != issued[1]:
                return f"messages[{index}]: the {issued[0]} of this reply must be passed back"
        return None


# -- what a strict provider refuses --------------------------------------------------------------


def find_problem(raw: bytes) -> str | None:
    """Why a strict provider would refuse this request body; None when it would not."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
    except ValueError as error:
        return f"the body is not JSON: {error}"
    if not isinstance(body, dict) or not isinstance(body.get("model"), str) or not body["model"]:
        return "model: a name is required"
    if body.get("stream") is not True:
        return "stream: this server only streams"
    try:
        _check_tools(body.get("tools"))
        _check_messages(body.get("messages"))
    except _Refused as refusal:
        return str(refusal)
    return None


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    _require(isinstance(tools, list) and tools, "tools: must be a list and not empty")
    names = [tool.get("function", {}).get("name") for tool in tools]
    _require(len(set(names)) == len(names), f"tools: names used twice in {names}")
    for tool in tools:
        function = tool.get("function", {})
        _require(tool.get("type") == "function", "tools: type must be function")
        _require_name(function.get("name"), "tools")
        _require(
            function.get("parameters", {}).get("type") == "object",
            f"tools: parameters of {function['name']} must be of type object",
        )


def _check_messages(messages: Any) -> None:
    _require(isinstance(messages, list) and messages, "messages: must be a list and not empty")
    waiting: list[str] = []
    seen: set[str] = set()
    previous = "start"
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role")
        if role != "tool":
            _require(not waiting, f"{where}: tool calls {waiting} have no result")
        _require(role in _FOLLOWS.get(previous, ()), f"{where}: {role} cannot follow {previous}")
        if role == "tool":
            expected = waiting.pop(0) if waiting else "none"
            _require(
                message.get("tool_call_id") == expected,
                f"{where}: result for {message.get('tool_call_id')}, expected {expected}",
            )
        if role == "assistant":
            waiting = _check_assistant(message, where, seen)
        else:
            _require(isinstance(message.get("content"), str), f"{where}: content must be text")
        if role == "user":
            _require(message["content"].strip(), f"{where}: empty user message")
        previous = role
    _require(not waiting, f"messages: tool calls {waiting} have no result")
    _require(previous in ("user", "tool"), "messages: the last one must be of role user or tool")


_FOLLOWS: dict[str, tuple[str, ...]] = {
    "start": ("system", "user"),
    "system": ("user",),
    "user": ("user", "assistant"),
    "assistant": ("user", "tool"),
    "tool": ("tool", "user", "assistant"),
}


def _check_assistant(message: Json, where: str, seen: set[str]) -> list[str]:
    """The ids of the calls of this message, in order."""
    content, calls = message.get("content"), message.get("tool_calls", [])
    _require(content is None or isinstance(content, str), f"{where}: content must be text")
    _require("tool_calls" not in message or calls, f"{where}: tool_calls must not be empty")
    _require(calls or (content or "").strip(), f"{where}: empty assistant message")
    for call in calls:
        id_, function = call.get("id"), call.get("function", {})
        _require(isinstance(id_, str) and id_, f"{where}: a call has no id")
        _require(id_ not in seen, f"{where}: call id {id_} is used twice")
        _require(call.get("type") == "function", f"{where}: type of a call must be function")
        _require_name(function.get("name"), where)
        _require_arguments(function.get("arguments"), where)
        seen.add(id_)
    return [call["id"] for call in calls]


def _require_arguments(arguments: Any, where: str) -> None:
    _require(isinstance(arguments, str), f"{where}: arguments must be a string")
    try:
        parsed = json.loads(arguments, parse_constant=_no_constant)
    except ValueError:
        parsed = None
    _require(isinstance(parsed, dict), f"{where}: arguments are no JSON object: {arguments!r}")


def _require_name(name: Any, where: str) -> None:
    good = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    _require(good, f"{where}: {name!r} is not a function name")


def _require(condition: object, problem: str) -> None:
    if not condition:
        raise _Refused(problem)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class _Refused(Exception):
    """What is wrong with a request."""


# -- how a reply is cut into events --------------------------------------------------------------


def _chunks(say: Say, calls: Sequence[tuple[str, str, str]], model: str) -> Iterable[Json]:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"object": "chat.completion.chunk", "model": model, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for word in _words(say.reasoning):
        yield chunk({say.reasoning_field: word})
    for word in _words(say.text):
        yield chunk({"content": word})
    for index, (id_, name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        start = {"index": index, "id": id_, "type": "function", "function": function}
        yield chunk({"tool_calls": [start]})
        for at in range(0, len(arguments), 7):
            part = {"index": index, "function": {"arguments": arguments[at : at + 7]}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, say.finish)
    if say.usage:
        prompt, completion, cached = say.usage
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        yield {"object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage}


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _encode_raw(chunk: Json | str) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else f"data: {json.dumps(chunk)}\n\n".encode()


def _fingerprint(text: str, names: Iterable[str]) -> str:
    return json.dumps([text.strip(), list(names)])


def _last_words(body: Json) -> str:
    return json.dumps(body["messages"][-1], ensure_ascii=False)[:200]


# -- HTTP ----------------------------------------------------------------------------------------


class _HungUp(Exception):
    """The exchange is over because one side hung up."""


_ENDS = (ConnectionError, asyncio.IncompleteReadError, _HungUp)


@dataclass(frozen=True)
class _Request:
    line: str
    headers: dict[str, str]
    body: bytes


async def _read_request(reader: asyncio.StreamReader) -> _Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    pairs = (entry.split(":", 1) for entry in fields)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return _Request(line, headers, body)


@dataclass(frozen=True)
class _Exchange:
    """One answer on its way out."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self, status: Status) -> None:
        body = status.body if isinstance(status.body, str) else json.dumps(status.body)
        kind = "text/plain" if isinstance(status.body, str) else "application/json"
        headers = {"Content-Type": kind, "Content-Length": str(len(body.encode()))}
        lines = [f"{name}: {value}" for name, value in (headers | status.headers).items()]
        head = "\r\n".join([f"HTTP/1.1 {status.code} Scripted", *lines, "", ""])
        await self._write(head.encode() + body.encode())

    async def error(self, code: int, message: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "code": None}
        await self.answer(Status(code, {"error": error}))

    async def start_stream(self) -> None:
        await self._write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )

    async def chunk(self, data: bytes) -> None:
        if data:
            await self._write(b"%x\r\n%s\r\n" % (len(data), data))

    async def end_stream(self) -> None:
        await self._write(b"0\r\n\r\n")

    async def _write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


async def _interrupt(out: _Exchange, step: Drop | Gate) -> None:
    """Do at this place of the stream what the step is about."""
    if isinstance(step, Drop):
        # Closed, not aborted: what was written must arrive before the end does.
        out.writer.close()
        await out.writer.wait_closed()
        raise _HungUp
    step.reached.set()
    waiting = asyncio.ensure_future(step.opened.wait())
    hung_up = asyncio.ensure_future(out.reader.read(1))
    try:
        await asyncio.wait({waiting, hung_up}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        hung_up.cancel()
        await asyncio.gather(waiting, hung_up, return_exceptions=True)
    if not step.opened.is_set():
        step.left.set()
        raise _HungUp
