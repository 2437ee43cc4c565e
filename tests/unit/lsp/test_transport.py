"""Every request is answered, whatever it looks like, and the server lives on."""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from pails.core.errors import (
    ConfigurationError,
    HistoryError,
    InvalidRequestError,
    ModelUnavailableError,
    NotFoundError,
    StorageError,
)
from pails.core.rpc import ErrorCode
from pails.lsp import actions
from pails.lsp.client import Client
from pails.lsp.framing import FrameParser
from pails.lsp.methods import PAI_METHODS, REVIEW_COMMANDS, REWIND_COMMANDS
from pails.lsp.protocol.methods import CLIENT_TO_SERVER, COMMANDS
from pails.lsp.server import Server
from pails.lsp.transport import PailsProtocol


class Connection:
    """A server in this process; messages go in as bytes and come out as JSON."""

    def __init__(self, server: LanguageServer | None = None) -> None:
        self.server = server or LanguageServer("test", "1", protocol_cls=PailsProtocol)
        self.wire: PailsProtocol = self.server.protocol  # type: ignore[assignment]
        self.wire.set_writer(self)
        self.out: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        [body] = FrameParser().feed(data)
        self.out.append(json.loads(body))

    def close(self) -> None:
        raise AssertionError("only the server's `serve` closes the stream")

    def send(self, **message: Any) -> None:
        self.wire.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    def initialize(self) -> None:
        self.send(id="init", method="initialize", params={"processId": None, "capabilities": {}})

    def error(self, msg_id: Any) -> dict[str, Any]:
        [answer] = [message for message in self.out if message.get("id") == msg_id]
        return answer["error"]

    def result(self, msg_id: Any) -> Any:
        [answer] = [message for message in self.out if message.get("id") == msg_id]
        return answer["result"]


@pytest.fixture
def connection() -> Connection:
    connection = Connection()
    connection.initialize()
    return connection


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe\xfd", b"[" * 100_000, b'{"a": 1e}'])
async def test_what_is_no_json_is_answered(connection: Connection, body: bytes) -> None:
    connection.wire.receive(body)
    answer = connection.out[-1]
    assert answer["id"] is None
    assert answer["error"]["code"] == -32700


@pytest.mark.parametrize("body", [b"[]", b"1", b'"x"', b"null", b"{}", b'{"jsonrpc": "2.0"}'])
async def test_what_is_no_message_is_answered(connection: Connection, body: bytes) -> None:
    connection.wire.receive(body)
    assert connection.out[-1]["error"]["code"] == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("message", [{"id": [1], "method": "x"}, {"id": 5, "method": 7}])
async def test_ids_and_methods_have_types(connection: Connection, message: Any) -> None:
    connection.send(**message)
    assert connection.out[-1]["error"]["code"] == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("pair", ["[]", "{}"])
@pytest.mark.parametrize("method", ["pai/session/prompt", "workspace/executeCommand"])
async def test_what_is_nested_beyond_all_reason_is_the_fault_of_the_request(
    method: str, pair: str
) -> None:
    connection = make_server(FakeEdge())
    opening = '{"a":' if pair == "{}" else "["
    deep = opening * 900 + "1" + pair[1] * 900
    params = f'{{"command":"pails.fix","arguments":[{deep}]}}'
    connection.wire.receive(
        f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}'.encode()
    )
    await connection.settle()
    assert connection.error(1)["code"] == ErrorCode.INVALID_PARAMS
    assert "nested" in connection.error(1)["message"]
    connection.send(id=2, method="pai/status")
    assert await answered(connection, 2) == {"done": True}


async def test_an_answer_nested_beyond_all_reason_is_an_error(connection: Connection) -> None:
    asked = asyncio.create_task(connection.wire.ask("q1", "pai/question/ask", {}))
    await connection.settle()
    deep = "[" * 900 + "]" * 900
    connection.wire.receive(f'{{"jsonrpc":"2.0","id":"q1","result":{deep}}}'.encode())
    with pytest.raises(JsonRpcException, match="nested"):
        await asked


async def test_unknown_methods(connection: Connection) -> None:
    connection.send(id=1, method="pai/unknown", params={"a": 1})
    connection.send(id=2, method="textDocument/hover", params=[])
    connection.send(method="$/unknown")
    assert connection.error(1)["code"] == ErrorCode.METHOD_NOT_FOUND
    assert "pai/unknown" in connection.error(1)["message"]


@pytest.mark.parametrize(
    "params",
    [None, {}, [], "x", {"textDocument": 1}, {"textDocument": {"uri": "file:///x"}, "range": {}}],
)
async def test_malformed_parameters_of_lsp_methods_get_a_readable_answer(
    connection: Connection, params: Any
) -> None:
    connection.server.feature("textDocument/codeAction")(lambda _: [])
    connection.send(id=1, method="textDocument/codeAction", params=params)
    error = connection.error(1)
    assert error["code"] == ErrorCode.INVALID_PARAMS
    assert error["message"].startswith("Invalid parameters for textDocument/codeAction: ")
    assert "Traceback" not in error["message"] and "ClassValidationError" not in error["message"]


async def test_malformed_notifications_are_logged_only(
    connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    before = len(connection.out)
    connection.send(method="textDocument/didOpen", params={"textDocument": {}})
    connection.send(method="$/cancelRequest", params={})
    assert len(connection.out) == before
    assert "ignored notification textDocument/didOpen" in caplog.text


async def test_nothing_before_initialize_and_initialize_once() -> None:
    connection = Connection()
    connection.send(id=1, method="pai/status")
    connection.send(method="initialized", params={})
    connection.send(id=2, method="initialize", params={"capabilities": 7})
    connection.initialize()
    connection.send(id=3, method="initialize", params={"processId": None, "capabilities": {}})
    assert connection.error(1)["code"] == ErrorCode.SERVER_NOT_INITIALIZED
    assert connection.error(2)["code"] == ErrorCode.INVALID_PARAMS
    assert connection.result("init")["capabilities"]
    assert connection.error(3)["code"] == ErrorCode.INVALID_REQUEST


async def test_a_root_that_is_no_uri_does_not_end_the_start() -> None:
    connection = Connection()
    params = {"processId": None, "rootUri": "http://[", "capabilities": {}}
    connection.send(id=1, method="initialize", params=params)
    assert connection.result(1)["capabilities"]


async def test_an_initialize_that_failed_can_be_tried_again() -> None:
    connection = Connection()
    failures = [ValueError("not today")]

    def initialize(_: types.InitializeParams) -> None:
        if failures:
            raise failures.pop()

    connection.server.feature(types.INITIALIZE)(initialize)
    connection.initialize()
    assert "not today" in connection.error("init")["message"]
    connection.send(id=1, method="pai/status")
    assert connection.error(1)["code"] == ErrorCode.SERVER_NOT_INITIALIZED
    connection.send(id=2, method="initialize", params={"processId": None, "capabilities": {}})
    assert connection.result(2)["capabilities"]


@pytest.mark.parametrize("msg_id", [[1], {"a": 1}, None, 1.5, True, "theirs"])
async def test_answers_and_cancellations_for_any_id_do_no_harm(
    connection: Connection, msg_id: Any
) -> None:
    hold = asyncio.Event()

    async def wait(_: Any) -> str:
        await hold.wait()
        return "waited"

    connection.server.feature("pai/status")(wait)
    connection.send(id="theirs", method="pai/status")
    connection.send(id=msg_id, result="an answer")
    connection.send(id=msg_id, error={"code": 1, "message": "an error"})
    if msg_id != "theirs":
        connection.send(method="$/cancelRequest", params={"id": msg_id})
    hold.set()
    await connection.settle()
    assert connection.result("theirs") == "waited"


async def test_pai_parameters_arrive_as_plain_data(connection: Connection) -> None:
    received: list[Any] = []

    def receive(params: Any) -> None:
        received.append(params)

    connection.server.feature("pai/x")(receive)
    sent = {"a": [{"b": None}], "class": {"jsonrpc": "2.0", "id": 1}}
    connection.send(id=1, method="pai/x", params=sent)
    connection.send(id=2, method="pai/x")
    assert received == [sent, None]


@pytest.mark.parametrize(
    ("failure", "code", "says"),
    [
        (NotFoundError("no session 'x'"), ErrorCode.NOT_FOUND, "no session 'x'"),
        (InvalidRequestError("not so"), ErrorCode.REQUEST_FAILED, "not so"),
        (ConfigurationError("set a model"), ErrorCode.CONFIGURATION, "set a model"),
        (ModelUnavailableError("no answer"), ErrorCode.EXTERNAL_FAILURE, "no answer"),
        (StorageError("disk full"), ErrorCode.EXTERNAL_FAILURE, "disk full"),
        (JsonRpcException("mine", 77), 77, "mine"),
        (HistoryError("calls without a result"), ErrorCode.INTERNAL_ERROR, "the server goes on"),
        (KeyError("bug"), ErrorCode.INTERNAL_ERROR, "the server goes on"),
    ],
)
async def test_failures_of_handlers(
    connection: Connection, failure: Exception, code: int, says: str
) -> None:
    async def later(_: Any) -> None:
        raise failure

    def now(_: Any) -> None:
        raise failure

    connection.server.feature("pai/later")(later)
    connection.server.feature("pai/now")(now)
    connection.send(id=1, method="pai/later")
    connection.send(id=2, method="pai/now")
    await connection.settle()
    for msg_id in (1, 2):
        assert connection.error(msg_id)["code"] == code
        assert says in connection.error(msg_id)["message"]
    messages = [message for message in connection.out if "method" in message]
    assert messages == [], "errors are no window messages"


# -- cancelling and shutting down -------------------------------------------------------------


async def test_requests_cancelled_while_queued_never_run(connection: Connection) -> None:
    ran: list[int] = []

    async def handle(params: Any) -> int:
        ran.append(params["n"])
        return params["n"]

    connection.server.feature("pai/x")(handle)
    for number in range(50):
        connection.send(id=number, method="pai/x", params={"n": number})
    for number in range(1, 50):
        connection.send(method="$/cancelRequest", params={"id": number})
    await connection.settle()
    assert ran == [0]
    assert connection.result(0) == 0
    assert connection.error(49)["code"] == ErrorCode.REQUEST_CANCELLED


async def test_a_client_can_cancel_its_own_requests_only(connection: Connection) -> None:
    asking = asyncio.create_task(connection.wire.ask("pails-1", "pai/question/ask", {}))
    await connection.settle()
    connection.send(method="$/cancelRequest", params={"id": "pails-1"})
    connection.send(method="$/cancelRequest", params={"id": "unknown"})
    connection.send(id="pails-1", result={"answer": "still"})
    assert await asking == {"answer": "still"}


async def test_answers_still_arrive_after_shutdown(connection: Connection) -> None:
    asking = asyncio.create_task(connection.wire.ask("pails-1", "pai/question/ask", {}))
    await connection.settle()
    connection.send(id=1, method="shutdown")
    await connection.settle()
    assert connection.result(1) is None
    connection.send(id="pails-1", result={"answer": "yes"})
    async with asyncio.timeout(10):
        assert await asking == {"answer": "yes"}
    connection.send(id=2, method="pai/status")
    assert connection.error(2)["code"] == ErrorCode.INVALID_REQUEST


async def test_a_withdrawn_question_is_taken_off_the_screen(connection: Connection) -> None:
    asking = asyncio.create_task(connection.wire.ask("pails-1", "pai/question/ask", {}))
    await connection.settle()
    asking.cancel()
    await connection.settle()
    assert connection.out[-1] == {
        "jsonrpc": "2.0",
        "method": "$/cancelRequest",
        "params": {"id": "pails-1"},
    }
    connection.send(id="pails-1", result={"answer": "too late"})
    connection.send(id="nobody asked", result=None)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ({"code": -32601, "message": "unknown here"}, "unknown here"),
        ({"code": "x"}, "answered with an error"),
        ("broken", "answered with an error"),
    ],
)
async def test_error_answers_of_the_client(connection: Connection, error: Any, says: str) -> None:
    asking = asyncio.create_task(connection.wire.ask("pails-1", "pai/question/ask", {}))
    await connection.settle()
    connection.send(id="pails-1", error=error)
    with pytest.raises(JsonRpcException, match=says):
        await asking


async def test_malformed_answers_of_the_client_are_errors(connection: Connection) -> None:
    params = types.ApplyWorkspaceEditParams(types.WorkspaceEdit(changes={}))
    asking = asyncio.create_task(connection.wire.ask("pails-1", "workspace/applyEdit", params))
    await connection.settle()
    connection.send(id="pails-1", result={"failureReason": "no word on whether it was applied"})
    with pytest.raises(JsonRpcException, match="Invalid parameters"):
        await asking


async def test_nobody_waits_for_a_client_that_is_gone(connection: Connection) -> None:
    asking = asyncio.create_task(connection.wire.ask("pails-1", "pai/question/ask", {}))
    await connection.settle()
    connection.wire.lose_client()
    with pytest.raises(JsonRpcException, match="client is gone"):
        await asking


# -- the server in front of the loading -------------------------------------------------------


class FakeEdge:
    """What is loaded later, in a test of the part that is there at once."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []
        self.closed = 0

    async def call(self, method: str, params: object) -> object:
        self.calls.append((method, params))
        return {"done": True}

    async def execute(self, command: str, arguments: Any) -> object:
        self.calls.append((command, arguments))
        return {"turnId": "t"}

    async def cancel_progress(self, token: int | str) -> None:
        self.calls.append(("cancel", token))

    async def close(self) -> None:
        self.closed += 1


def make_server(edge: FakeEdge, load: Callable[[], object] = lambda: None) -> Connection:
    async def connect(_client: Client, _documents: object) -> FakeEdge:
        return edge

    def load_all() -> Callable[..., Awaitable[FakeEdge]]:
        load()
        return connect

    connection = Connection(Server(load_all))  # type: ignore[arg-type]
    connection.initialize()
    return connection


async def answered(connection: Connection, msg_id: Any) -> Any:
    async with asyncio.timeout(10):
        while not any(message.get("id") == msg_id for message in connection.out):
            await asyncio.sleep(0.001)
    return connection.result(msg_id)


async def test_requests_wait_for_the_loading() -> None:
    edge = FakeEdge()
    connection = make_server(edge)
    connection.send(id=1, method="pai/status", params={"a": 1})
    connection.send(
        id=2, method="workspace/executeCommand", params={"command": "pails.fix", "arguments": ["u"]}
    )
    connection.send(id=3, method="workspace/executeCommand", params={"command": "other"})
    assert await answered(connection, 1) == {"done": True}
    assert await answered(connection, 2) == {"turnId": "t"}
    assert connection.error(3)["code"] == ErrorCode.INVALID_PARAMS
    assert edge.calls == [("pai/status", {"a": 1}), ("pails.fix", ("u",))]


async def test_a_request_cancelled_while_loading_does_not_stop_the_loading() -> None:
    edge, may_load = FakeEdge(), threading.Event()
    connection = make_server(edge, may_load.wait)
    connection.send(id=1, method="pai/status")
    await connection.settle()
    connection.send(method="$/cancelRequest", params={"id": 1})
    connection.send(id=2, method="pai/status")
    await connection.settle()
    assert connection.error(1)["code"] == ErrorCode.REQUEST_CANCELLED
    may_load.set()
    assert await answered(connection, 2) == {"done": True}
    assert len(edge.calls) == 1


async def test_a_failed_loading_is_said_and_the_server_still_ends_cleanly() -> None:
    def fail() -> None:
        raise ConfigurationError("the state folder cannot be written")

    connection = make_server(FakeEdge(), fail)
    connection.send(id=1, method="pai/status")
    async with asyncio.timeout(10):
        while not any(message.get("id") == 1 for message in connection.out):
            await asyncio.sleep(0.001)
    assert connection.error(1)["code"] == ErrorCode.CONFIGURATION
    connection.send(id=2, method="shutdown")
    assert await answered(connection, 2) is None


async def test_shutdown_closes_once_and_answers_when_it_has() -> None:
    edge = FakeEdge()
    connection = make_server(edge)
    connection.send(method="initialized", params={})
    connection.send(id=1, method="shutdown")
    assert await answered(connection, 1) is None
    assert edge.closed == 1


@pytest.mark.parametrize("error", [StorageError("the folder is gone"), ValueError("a bug")])
async def test_a_failure_is_told_once_when_the_server_ends(
    caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """A traceback is for bugs only: what a person can mend is one line."""

    def fail() -> None:
        raise error

    class FailsToClose(FakeEdge):
        async def close(self) -> None:
            raise error

    for connection in (make_server(FakeEdge(), fail), make_server(FailsToClose())):
        caplog.clear()
        connection.send(method="initialized", params={})
        connection.send(id=1, method="shutdown")
        assert await answered(connection, 1) is None
        [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert str(error) in record.getMessage()
        assert bool(record.exc_info) == isinstance(error, ValueError)


async def test_bodies_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    connection = make_server(FakeEdge())
    connection.send(id=1, method="pai/unknown", params={"secret": "sk-123"})
    connection.send(id=2, method="textDocument/hover", params={"secret": "sk-123"})
    connection.wire.notify("pai/event", {"secret": "sk-123"})
    assert connection.out
    assert "sk-123" not in caplog.text


async def test_what_is_offered() -> None:
    capabilities = make_server(FakeEdge()).result("init")["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["openClose"] is True
    assert capabilities["textDocumentSync"]["change"] == 2
    assert "pails.explain" in capabilities["executeCommandProvider"]["commands"]
    assert "quickfix" in capabilities["codeActionProvider"]["codeActionKinds"]


def test_the_method_names_are_those_of_the_protocol() -> None:
    assert tuple(method.name for method in CLIENT_TO_SERVER) == PAI_METHODS
    assert tuple(command.name for command in COMMANDS) == (
        *actions.COMMANDS,
        *REVIEW_COMMANDS,
        *REWIND_COMMANDS,
    )


@pytest.mark.parametrize("result", [{1, 2}, {"seconds": float("nan")}, [float("-inf")]])
async def test_a_result_that_is_no_json_is_an_error_which_says_that_the_work_was_done(
    connection: Connection, result: object
) -> None:
    connection.server.command("no-json")(lambda: result)
    connection.server.feature("pai/no-json")(lambda _: result)
    connection.initialize()
    await connection.settle()
    connection.send(id=1, method="workspace/executeCommand", params={"command": "no-json"})
    connection.send(id=2, method="pai/no-json")
    await connection.settle()
    for msg_id in (1, 2):
        error = connection.error(msg_id)
        assert error["code"] == ErrorCode.INTERNAL_ERROR
        assert "was carried out" in error["message"]


async def test_numbers_that_json_does_not_have_are_never_sent(connection: Connection) -> None:
    with pytest.raises(ValueError, match="JSON"):
        connection.wire.notify("pai/x", {"seconds": float("inf")})
    assert [message for message in connection.out if message.get("method") == "pai/x"] == []
