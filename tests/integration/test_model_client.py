"""The model client against a real server on loopback that follows a script."""

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pails.config import Config
from pails.core.errors import (
    ConfigurationError,
    HistoryError,
    ModelRefusedError,
    ModelUnavailableError,
    PailsError,
    RateLimitedError,
)
from pails.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from pails.core.ports import ModelRequest, Reply, ReplyDelta, ReplyRestarted
from pails.model.client import ChatModel
from pails.model.discovery import chat_models, discover_local, list_models, probe, with_model
from pails.model.endpoint import Endpoint
from pails.model.http import MOST_BYTES
from pails.model.retry import RetryPolicy
from tests.support.scripted_model import (
    Calls,
    Drop,
    Gate,
    Raw,
    Say,
    ScriptedModel,
    Silence,
    Status,
)

HELLO = (UserMessage("hi"),)
TOOLS = (ToolSpec("read_file", "Reads.", {"type": "object", "properties": {}}),)


def request(*messages: Message) -> ModelRequest:
    return ModelRequest("You are Pails.", messages or HELLO, TOOLS)


def make_model(endpoint: Endpoint, **options: object) -> ChatModel:
    """A model as configured by default, but for the options."""
    return ChatModel(endpoint, **{"idle_timeout": Config().idle_timeout_seconds} | options)


def chunk(finish: str | None = None, **delta: object) -> dict:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


class Naps:
    """Stands in for sleeping; remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
async def connect(naps: Naps) -> AsyncIterator[Callable[..., ChatModel]]:
    """Makes models that talk to a scripted server, never sleep, and are closed at the end."""
    models: list[ChatModel] = []

    def open_model(server: ScriptedModel, **options: object) -> ChatModel:
        endpoint = Endpoint("scripted", server.base_url, "sk-secret-0123456789", "PAILS_API_KEY")
        options = {"sleep": naps, "retry": RetryPolicy(jitter=0.0)} | options
        models.append(make_model(endpoint, **options))
        return models[-1]

    yield open_model
    for model in models:
        await model.aclose()


async def collect(model: ChatModel, ask: ModelRequest) -> list[ReplyDelta | ReplyRestarted | Reply]:
    return [item async for item in model.stream(ask)]


async def ask(model: ChatModel, *messages: Message) -> Reply:
    reply = (await collect(model, request(*messages)))[-1]
    assert isinstance(reply, Reply)
    return reply


# -- a reply that comes well ---------------------------------------------------------------------


async def test_text_streams_word_by_word_and_ends_in_the_whole_reply(connect):
    async with ScriptedModel([Say("你好 big world", "let me think", usage=(7, 3, 5))]) as server:
        items = await collect(connect(server), request())
    deltas = [item for item in items if isinstance(item, ReplyDelta)]
    assert [delta.text for delta in deltas if delta.text] == ["你好 ", "big ", "world"]
    assert "".join(delta.reasoning for delta in deltas) == "let me think"
    assert items[-1] == Reply(
        AssistantMessage("你好 big world", (), "let me think", "reasoning_content"), Usage(7, 3, 5)
    )
    assert server.headers[0]["authorization"] == "Bearer sk-secret-0123456789"


async def test_a_whole_conversation_is_one_a_strict_server_takes(connect):
    """Calls, results and reasoning go back so that each body begins with the one before."""
    async with ScriptedModel(
        [
            Calls(("read_file", {"path": "a"}), ("read_file", {"path": "b"}), reasoning="two"),
            Calls(("read_file", ""), text="And one more.", ids=["call_1"], reasoning="again"),
            Say("Done.", "finished"),
            Say("Welcome."),
        ]
    ) as server:
        model = connect(server)
        messages: list[Message] = [UserMessage("read")]
        for _ in range(3):
            reply = (await ask(model, *messages)).message
            messages += [reply, *(ToolMessage(call.id, "x") for call in reply.tool_calls)]
        await ask(model, *messages, UserMessage("thanks"))
    for shorter, longer in zip(server.bodies, server.bodies[1:], strict=False):
        assert longer.startswith(shorter.removesuffix(b"]}"))
    replies = [message for message in messages if isinstance(message, AssistantMessage)]
    assert [call.arguments for call in replies[0].tool_calls] == ['{"path": "a"}', '{"path": "b"}']
    assert replies[1].tool_calls[0].arguments == "{}"
    assert len({call.id for reply in replies for call in reply.tool_calls}) == 3


async def test_calls_that_share_an_index_and_an_id_become_two(connect):
    def call(path: str) -> dict:
        function = {"name": "read_file", "arguments": json.dumps({"path": path})}
        return chunk(tool_calls=[{"index": 0, "id": "c1", "function": function}])

    script = [Raw(call("a"), call("b"), chunk("stop")), Say("ok")]
    async with ScriptedModel(script) as server:
        model = connect(server)
        reply = (await ask(model)).message
        first, second = reply.tool_calls
        assert first.id != second.id
        results = (ToolMessage(first.id, "A"), ToolMessage(second.id, "B"))
        await ask(model, *HELLO, reply, *results)


@pytest.mark.parametrize("arguments", ["null", "5", '"x"', "[1]", '{"path":"a"'])
async def test_bad_arguments_are_kept_for_the_tool_layer_and_sent_back_valid(connect, arguments):
    async with ScriptedModel([Calls(("read_file", arguments)), Say("sorry")]) as server:
        model = connect(server)
        reply = (await ask(model)).message
        assert reply.tool_calls[0].arguments == arguments
        await ask(model, *HELLO, reply, ToolMessage("call_1", "no object", is_error=True))
    sent = server.requests[1]["messages"][-2]["tool_calls"][0]
    assert sent["function"]["arguments"] == "{}"


async def test_odd_framing_gives_the_same_reply(connect):
    """Comments, blank and null data, CRLF, events cut anywhere and several in one chunk."""
    clean = [chunk(role="assistant", content=""), chunk(content="héllo 😀"), chunk("stop")]
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}" for event in clean]
    text = "\r\n\r\n".join([": ping", "data:", "data: null", *lines, ": ping", "data: [DONE]", ""])
    stream = text.encode()
    for size in (1, 7, len(stream)):
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        async with ScriptedModel([Raw(*pieces, done=False)]) as server:
            assert (await ask(connect(server))).message == AssistantMessage("héllo 😀")


async def test_the_end_is_told_by_finish_reason_or_done(connect, naps):
    script = [
        Raw(chunk(content="a"), chunk("stop"), done=False),
        Raw(chunk(content="b"), done=True),
        Drop(Raw(chunk(content="c"), chunk("stop"), done=False), after=2),
    ]
    async with ScriptedModel(script) as server:
        model = connect(server)
        assert [(await ask(model)).message.text for _ in range(3)] == ["a", "b", "c"]
    assert naps.seconds == []


async def test_usage_is_unknown_where_the_server_does_not_say(connect):
    async with ScriptedModel([Say("x", usage=None)]) as server:
        assert (await ask(connect(server))).usage is None


async def test_a_server_that_does_not_stream_is_understood(connect):
    message = {"role": "assistant", "content": "whole"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}}
    pretty = Status(200, json.dumps(body, indent=2), {"Content-Type": "application/json"})
    async with ScriptedModel([Status(200, body), pretty]) as server:
        model = connect(server)
        assert [(await ask(model)).message.text for _ in range(2)] == ["whole", "whole"]


async def test_a_reply_cut_at_the_token_limit_is_marked(connect):
    async with ScriptedModel([Calls(("write", '{"a": 1}'), finish="length")]) as server:
        assert (await ask(connect(server))).truncated


async def test_one_connection_serves_all_requests(connect):
    ports: set[int] = set()
    async with ScriptedModel([Say("a"), Say("b"), Status(500), Say("c")]) as server:
        serve = server._exchange

        async def spy(out, received):
            ports.add(out.writer.get_extra_info("peername")[1])
            await serve(out, received)

        server._exchange = spy
        model = connect(server)
        for _ in range(3):
            await ask(model)
    assert len(ports) == 1


# -- what servers do not take --------------------------------------------------------------------


async def test_reasoning_is_left_out_for_a_server_that_refuses_it(connect, naps):
    talk = (*HELLO, AssistantMessage("a", (), "hm", "reasoning_content"), UserMessage("b"))
    async with ScriptedModel([Say("c"), Say("d")], reasoning="refused") as server:
        model = connect(server)
        assert (await ask(model, *talk)).message.text == "c"
        assert (await ask(model, *talk)).message.text == "d"
        assert len(server.refused) == 1
        server.refused.clear()
    assert naps.seconds == []


async def test_reasoning_goes_on_being_sent_where_it_is_demanded(connect):
    demand = Status(400, {"error": {"message": "reasoning_content must be passed back"}})
    talk = (*HELLO, AssistantMessage("a", (), "hm", "reasoning_content"), UserMessage("b"))
    async with ScriptedModel([demand, Say("c")]) as server:
        model = connect(server)
        with pytest.raises(ModelRefusedError):
            await ask(model, *talk)
        await ask(model, *talk)
    assert server.requests[1]["messages"][2]["reasoning_content"] == "hm"


async def test_stream_options_are_left_out_for_a_server_that_refuses_them(connect):
    def strict(body: dict) -> Status | Say:
        if "stream_options" in body:
            return Status(422, {"detail": "stream_options: Extra inputs are not permitted"})
        return Say("ok")

    async with ScriptedModel([strict, strict, strict]) as server:
        model = connect(server)
        await ask(model)
        await ask(model)
    assert len(server.requests) == 3


async def test_a_history_that_is_not_sendable_is_not_sent(connect):
    open_call = AssistantMessage("", (ToolCall("c1", "read_file", "{}"),))
    async with ScriptedModel() as server:
        with pytest.raises(HistoryError):
            await ask(connect(server), *HELLO, open_call, UserMessage("again"))
    assert server.requests == []


# -- broken attempts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        Drop(Say("one two three four five six seven eight nine ten"), after=10),
        Drop(Calls(("read_file", {"path": "a long path to cut"})), after=4),
        Drop(Calls(("read_file", {"path": "a"}), finish=None, usage=None), after=5),
        Drop(Say("never", reasoning="only thinking was seen"), after=4),
        Raw(chunk(content="no terminal event"), done=False),
        Raw(chunk(content="half"), {"error": {"message": "overloaded"}}),
        Raw(chunk(content="half"), {"error": {"message": "overloaded"}}, done=False),
        Raw(chunk(content="half"), '{"error": "bare"}\n'),
        Raw(chunk(content="half"), 'event: error\ndata: {"message": "named"}\n\n'),
        Raw(chunk(content="half"), "data: {not json\n\n"),
        Raw(chunk(content="half"), chunk("error")),
        Say("", reasoning="thought, and said nothing"),
        Say("\n\n "),
    ],
    ids=lambda step: type(getattr(step, "step", step)).__name__,
)
async def test_a_broken_attempt_is_void_as_a_whole_and_tried_again(connect, naps, broken):
    async with ScriptedModel([broken, Calls(("read_file", {"path": "b"}))]) as server:
        items = await collect(connect(server), request())
    restarts = [item for item in items if isinstance(item, ReplyRestarted)]
    assert len(restarts) == 1
    assert "Trying again in 1 s" in restarts[0].reason
    assert sum(isinstance(item, Reply) for item in items) == 1
    reply = items[-1]
    assert isinstance(reply, Reply)
    assert reply.message.text == ""
    assert [call.arguments for call in reply.message.tool_calls] == ['{"path": "b"}']
    assert naps.seconds == [1.0]


async def test_tries_end_and_the_error_says_so(connect, naps):
    async with ScriptedModel([Drop(after=3)] * 4) as server:
        with pytest.raises(ModelUnavailableError, match="Gave up after 4 attempts"):
            await ask(connect(server))
    assert naps.seconds == [1.0, 2.0, 4.0]


async def test_an_empty_reply_is_an_error_in_the_end(connect):
    async with ScriptedModel([Say("")] * 4) as server:
        with pytest.raises(ModelUnavailableError, match="empty reply"):
            await ask(connect(server))


async def test_thinking_that_used_up_the_tokens_is_no_reason_to_try_again(connect, naps):
    async with ScriptedModel([Say("", reasoning="long", finish="length")]) as server:
        with pytest.raises(ModelRefusedError, match="token limit"):
            await ask(connect(server))
    assert naps.seconds == []


async def test_what_a_content_filter_withheld_is_an_error(connect):
    async with ScriptedModel([Say("", finish="content_filter")]) as server:
        with pytest.raises(ModelRefusedError, match="content filter"):
            await ask(connect(server))


# -- refusals and rate limits --------------------------------------------------------------------


def error(message: str, **fields: object) -> dict:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    "answer",
    [
        Status(429, error("You exceeded your current quota", code="insufficient_quota")),
        Status(400, error("API key not valid. Please pass a valid API key.")),
        Status(401, error("Incorrect API key provided: sk-secret-0123456789.")),
        Status(403, error("Invalid API key")),
        Status(404, error("model not found")),
        Status(302, "", {"Location": "http://127.0.0.1:9/"}),
        Status(200, "<html>log in</html>", {"Content-Type": "text/html"}),
        Status(200, error("bad request", type="invalid_request_error")),
        Raw(error("no credit", code="insufficient_quota")),
    ],
)
async def test_permanent_failures_are_asked_once(connect, naps, answer):
    async with ScriptedModel([answer]) as server:
        with pytest.raises(ModelRefusedError) as caught:
            await ask(connect(server))
    assert len(server.requests) == 1
    assert naps.seconds == []
    assert "sk-secret" not in str(caught.value)


async def test_a_short_wait_is_waited_and_shown(connect, naps):
    in_ten = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)
    script = [
        Status(429, "", {"Retry-After": "2"}),
        Status(429, "", {"Retry-After": in_ten}),
        Status(429, error("slow down")),
        Say("at last"),
    ]
    async with ScriptedModel(script) as server:
        items = await collect(connect(server), request())
    assert [type(item) for item in items[:3]] == [ReplyRestarted] * 3
    assert naps.seconds[0] == 2.0
    assert 5.0 < naps.seconds[1] <= 10.0
    assert naps.seconds[2] == 4.0


async def test_a_long_wait_stops_and_names_the_time(connect, naps):
    async with ScriptedModel([Status(429, "", {"Retry-After": "11180"})]) as server:
        with pytest.raises(RateLimitedError, match=r"3 h 6 min, until \d{4}-") as caught:
            await ask(connect(server))
    assert caught.value.retry_after == 11180.0
    assert naps.seconds == []


async def test_server_errors_are_tried_again(connect, naps):
    async with ScriptedModel([Status(500), Status(503, "busy"), Status(529), Say("ok")]) as server:
        assert (await ask(connect(server))).message.text == "ok"
    assert naps.seconds == [1.0, 2.0, 4.0]


async def test_a_wait_can_be_cancelled(connect):
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.sleep(seconds)

    async with ScriptedModel([Status(429, "", {"Retry-After": "50"})]) as server:
        asking = asyncio.create_task(ask(connect(server, sleep=sleep)))
        await waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert len(server.requests) == 1


# -- silence, cancelling, connections ------------------------------------------------------------


async def test_silence_in_the_middle_is_a_failure(connect):
    silences = [Silence(after=3), Silence(after=1)]
    async with ScriptedModel([*silences, Say("ok")]) as server:
        items = await collect(connect(server, idle_timeout=0.05), request())
        for silence in silences:
            await silence.left.wait()
    restarts = [item.reason for item in items if isinstance(item, ReplyRestarted)]
    assert len(restarts) == 2
    assert "sent nothing for 0.05 seconds" in restarts[0]


async def test_comments_are_a_sign_of_life(connect):
    """Waiting is measured between bytes, on a clock that the test moves."""
    now = 0.0

    def work(body: dict) -> Raw:
        return Raw(*[": working\n\n"] * 4, chunk(content="ok"), chunk("stop"), pause=0.01)

    def clock() -> float:
        nonlocal now
        now += 100.0
        return now

    async with ScriptedModel([work]) as server:
        model = connect(server, idle_timeout=350.0, clock=clock)
        assert (await ask(model)).message.text == "ok"


@pytest.mark.parametrize("where", ["chunk", "error"])
async def test_json_nested_too_deep_is_an_error_of_the_server(connect, where: str):
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    step = Status(500, deep) if where == "error" else Raw(f"data: {deep}\n\n")
    async with ScriptedModel([step]) as server:
        with pytest.raises(ModelUnavailableError):
            await ask(connect(server, retry=RetryPolicy(delays=())))


TOO_LONG = "x" * (MOST_BYTES + 1)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (Raw(f"data: {TOO_LONG}\n\n"), "more than 8 MB"),
        (Raw(f"data: {TOO_LONG}"), "more than 8 MB"),
        (Status(200, TOO_LONG, {"Content-Type": "application/json"}), "more than 8 MB"),
        (Status(200, "zip", {"Content-Encoding": "gzip, gzip"}), "compressed (gzip, gzip)"),
        (Status(400, "x" * 9_000_000), "refused the request (400)"),
        (Status(400, "zip", {"Content-Encoding": "gzip"}), "refused the request (400)"),
    ],
    ids=["event", "line", "object", "compressed", "error", "compressed error"],
)
async def test_what_cannot_be_a_reply_is_not_read_to_its_end(connect, naps, step, says: str):
    async with ScriptedModel([step]) as server:
        with pytest.raises(ModelRefusedError, match=re.escape(says)) as caught:
            await ask(connect(server))
    assert naps.seconds == []
    assert len(str(caught.value)) < 1000


async def test_cancelling_in_mid_stream_hangs_up(connect):
    gate = Gate(Say("one two three"), after=3)
    async with ScriptedModel([gate, Say("next")]) as server:
        model = connect(server)
        seen: list[str] = []

        async def read() -> None:
            async for item in model.stream(request()):
                if isinstance(item, ReplyDelta):
                    seen.append(item.text)

        reading = asyncio.create_task(read())
        await gate.reached.wait()
        while len(seen) < 2:
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await gate.left.wait()
        assert seen == ["one ", "two "]
        assert (await ask(model)).message.text == "next"


async def test_a_reader_that_leaves_hangs_up(connect):
    gate = Gate(Say("one two three"), after=3)
    async with ScriptedModel([gate]) as server:
        async with contextlib.aclosing(connect(server).stream(request())) as items:
            async for _ in items:
                break
        await gate.left.wait()


async def test_two_requests_at_once_do_not_mix(connect):
    first = Gate(Say("aa bb"), after=2)
    async with ScriptedModel([first, Say("cc")]) as server:
        model = connect(server)
        slow = asyncio.create_task(ask(model))
        await first.reached.wait()
        assert (await ask(model)).message.text == "cc"
        first.open()
        assert (await slow).message.text == "aa bb"


@pytest.mark.parametrize(
    ("base_url", "kind", "says"),
    [
        ("http://127.0.0.1:{free}/v1", ModelUnavailableError, "Start it, or set base_url"),
        ("http://no-such-host.invalid/v1", ModelUnavailableError, "cannot be found"),
        ("127.0.0.1:8000/v1", ConfigurationError, "PAILS_BASE_URL"),
        ("ftp://127.0.0.1/v1", ConfigurationError, "PAILS_BASE_URL"),
        ("http://127.0.0.1:port/v1", ConfigurationError, "PAILS_BASE_URL"),
    ],
)
async def test_no_server(base_url, kind, says, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    endpoint = Endpoint("m", base_url.format(free=free_port()))
    model = make_model(endpoint, retry=RetryPolicy(delays=()))
    with pytest.raises(kind, match=says):
        await ask(model)
    assert says in await probe(endpoint)
    await model.aclose()


async def test_a_key_that_no_header_can_carry():
    model = make_model(Endpoint("m", "http://127.0.0.1:9/v1", "schlüssel", "PAILS_API_KEY"))
    with pytest.raises(ConfigurationError, match="PAILS_API_KEY"):
        await ask(model)


async def test_a_proxy_that_cannot_be_used_is_named(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks9://127.0.0.1:1")
    model = make_model(Endpoint("m", "https://host.invalid/v1"))
    with pytest.raises(ConfigurationError, match="ALL_PROXY"):
        await ask(model)


async def test_this_machine_is_asked_without_a_proxy(connect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    async with ScriptedModel([Say("direct")]) as server:
        assert (await ask(connect(server))).message.text == "direct"


async def test_a_model_without_a_name_is_refused_at_once():
    with pytest.raises(ConfigurationError, match="PAILS_MODEL"):
        make_model(Endpoint("", "http://127.0.0.1:9/v1"))


# -- finding servers and models ------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        return probe_socket.getsockname()[1]


def port_of(server: ScriptedModel) -> int:
    return int(server.base_url.rsplit(":", 1)[1].removesuffix("/v1"))


async def test_local_servers_are_found_in_order_and_others_left_out():
    async with (
        ScriptedModel(models=["nomic-embed-text", "qwen"]) as first,
        ScriptedModel(models=["llama"]) as second,
        ScriptedModel(models=["m"], api_key="wants-one") as closed,
        mute_server() as mute,
    ):
        ports = {
            "Absent": free_port(),
            "One": port_of(first),
            "Closed": port_of(closed),
            "Two": port_of(second),
        }
        assert await discover_local(timeout=5.0, ports=ports) == [
            Endpoint("qwen", first.base_url, "", f"One on port {port_of(first)}"),
            Endpoint("llama", second.base_url, "", f"Two on port {port_of(second)}"),
        ]
        assert await discover_local(timeout=0.05, ports={"Mute": mute}) == []


@contextlib.asynccontextmanager
async def mute_server() -> AsyncIterator[int]:
    """Accepts connections and never answers."""
    writers: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for writer in writers:
        writer.transport.abort()
    await server.wait_closed()


async def test_models_are_listed_and_the_first_is_taken():
    async with ScriptedModel(models=["bge-m3", "b", "a"]) as server:
        endpoint = Endpoint("", server.base_url)
        assert await list_models(endpoint) == ["bge-m3", "b", "a"]
        assert (await with_model(endpoint)).model == "b"
        assert (await with_model(Endpoint("mine", "http://127.0.0.1:9/v1"))).model == "mine"
        assert chat_models(["text-embedding-3", "whisper-1", "gpt-5"]) == ["gpt-5"]


async def test_names_that_no_request_or_screen_could_hold_are_left_out():
    names = ["\ud800", "a\x00b", "a\nb", "\x1b[31m", "\u202eb", "模型-1", "qwen3:8b"]
    async with ScriptedModel(models=names) as server:
        assert await list_models(Endpoint("", server.base_url)) == ["模型-1", "qwen3:8b"]


async def test_a_list_of_models_that_has_no_end_is_refused():
    async with ScriptedModel(models=["x" * MOST_BYTES]) as server:
        assert "more than 8 MB" in await probe(Endpoint("", server.base_url))


async def test_a_server_without_a_model_says_what_to_do():
    async with ScriptedModel(models=[]) as server:
        endpoint = Endpoint("", server.base_url)
        with pytest.raises(ConfigurationError, match="PAILS_MODEL"):
            await with_model(endpoint)
        assert "load one" in await probe(endpoint)


async def test_probing_tells_what_is_wrong():
    async with ScriptedModel(api_key="right-key-0123") as server:
        good = Endpoint("scripted", server.base_url, "right-key-0123", "PAILS_API_KEY")
        wrong_key = Endpoint("scripted", server.base_url, "wrong-key-0123", "PAILS_API_KEY")
        wrong_path = Endpoint(
            "scripted", server.base_url.removesuffix("/v1"), "right-key-0123", "PAILS_API_KEY"
        )
        assert await probe(good) == ""
        assert "PAILS_API_KEY" in await probe(wrong_key)
        assert "wrong-key" not in await probe(wrong_key)
        assert "usually ends in /v1" in await probe(wrong_path)


# -- the scripted server itself ------------------------------------------------------------------


async def test_the_scripted_server_tells_of_requests_beyond_its_script(connect):
    model_options = {"retry": RetryPolicy(delays=())}
    with pytest.raises(AssertionError, match="beyond the script"):
        async with ScriptedModel() as server:
            with pytest.raises(PailsError):
                await ask(connect(server, **model_options))
