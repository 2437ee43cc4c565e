"""A strict client of the real server over stdio, with an editor's idea of its documents.

    async with start_client(tmp_path, options=PAI, model=server) as client:
        session = await client.new_session()
        client.approve = lambda request: {"choice": "allowOnce"}
        events = await client.prompt_and_wait(session, "Fix calc.py")

The server runs with a HOME, XDG folders and a temporary folder of its own below `tmp_path`; the
workspace is `tmp_path/workspace`. It is shut down by protocol. Leaving the block fails when the
server sent what nobody handled, left a process alive or a temporary file behind, did not end, or
wrote a traceback.

Parameters and results are plain JSON data. `client.events` are the `pai/event` parameters in the
order in which they came; `client.requests` and `client.notifications` are (method, params).
"""

import asyncio
import contextlib
import os
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cattrs import Converter
from lsprotocol.types import ResponseError, ResponseErrorMessage
from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcMethodNotFound
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCProtocol,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
)

Json = dict[str, Any]
Answer = Callable[[Json], Any]

PAI: Json = {"events": True, "approvals": True, "questions": True, "save": True}
"""What a client that can do everything says in `initializationOptions.pai`."""

CAPABILITIES: Json = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}
WAIT_SECONDS = 30.0
"""After this a test has failed; nothing is measured by it."""

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""By position encoding, the codec and the bytes of one unit."""


@dataclass
class OpenDocument:
    """A document as the editor shows it. Lines end at \\n, \\r\\n or \\r.

    Positions count in the `encoding` that was negotiated.
    """

    uri: str
    text: str
    version: int = 1
    encoding: str = "utf-16"

    def offset(self, position: Json) -> int:
        lines = self._lines()
        if position["line"] >= len(lines):
            return len(self.text)
        before = "".join(lines[: position["line"]])
        line = lines[position["line"]].rstrip("\r\n")
        codec, unit_bytes = _UNITS[self.encoding]
        units = line.encode(codec)[: unit_bytes * position["character"]]
        return len(before) + len(units.decode(codec))

    def position(self, offset: int) -> Json:
        lines = OpenDocument(self.uri, self.text[:offset])._lines()
        codec, unit_bytes = _UNITS[self.encoding]
        units = len(lines[-1].encode(codec)) // unit_bytes
        return {"line": len(lines) - 1, "character": units}

    def replace(self, edits: list[Json]) -> None:
        """Apply the edits of a workspace edit, all of which mean the text before."""
        spans = [
            (self.offset(e["range"]["start"]), self.offset(e["range"]["end"]), e["newText"])
            for e in edits
        ]
        for start, end, text in sorted(spans, reverse=True):
            self.text = self.text[:start] + text + self.text[end:]
        self.version += 1

    def _lines(self) -> list[str]:
        lines, start, index = list[str](), 0, 0
        while index < len(self.text):
            index += 1
            if self.text[index - 1] == "\n" or (
                self.text[index - 1] == "\r" and self.text[index : index + 1] != "\n"
            ):
                lines.append(self.text[start:index])
                start = index
        return [*lines, self.text[start:]]


class PlainWire(JsonRPCProtocol):
    """Messages with plain JSON data in them."""

    def structure_message(self, data: Json) -> Any:
        if "jsonrpc" not in data:
            return data
        version = data["jsonrpc"]
        if "method" in data:
            method, params = data["method"], data.get("params")
            if "id" in data:
                return JsonRPCRequestMessage(data["id"], method, version, params)
            return JsonRPCNotification(method, version, params)
        if "error" in data:
            error = data["error"]
            failure = ResponseError(error["code"], error["message"], error.get("data"))
            return ResponseErrorMessage(id=data["id"], error=failure)
        return JsonRPCResponseMessage(data["id"], version, data["result"])

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        """Noted on arrival: one that is withdrawn at once never gets to its handler."""
        cast(LspClient, self._server).requests.append((method_name, params))
        super()._handle_request(msg_id, method_name, params)

    def _handle_notification(self, method_name: str, params: Any) -> None:
        """As a real client does, let go of a request that the server withdraws."""
        if method_name == "$/cancelRequest":
            self._handle_cancel_notification(params["id"])
            cast(LspClient, self._server).notifications.append((method_name, params))
        else:
            super()._handle_notification(method_name, params)

    def _get_handler(self, feature_name: str) -> Any:
        try:
            return super()._get_handler(feature_name)
        except JsonRpcMethodNotFound:
            cast(LspClient, self._server).unexpected.append(f"unhandled: {feature_name}")
            raise


class LspClient(JsonRPCClient):
    """See the module."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(PlainWire, Converter)
        self.workspace = workspace
        self.documents: dict[str, OpenDocument] = {}
        self.events: list[Json] = []
        self.requests: list[tuple[str, Json]] = []
        self.notifications: list[tuple[str, Json]] = []
        self.diagnostics: dict[str, list[Json]] = {}
        self.unexpected: list[str] = []
        self.stderr = b""
        self.initialized: Json = {}
        self.approve: Answer | None = None
        """Answers `pai/approval/request`: a result, or None; may be a coroutine function."""
        self.answer: Answer | None = None
        """Answers `pai/question/ask`."""
        self.choose: Answer | None = None
        """Answers `window/showMessageRequest`: the title of an action, or None."""
        self.show: Answer = lambda _: {"success": True}
        """Answers `window/showDocument`."""
        self.refuse_edits = ""
        """With a reason, `workspace/applyEdit` is answered with `applied: false`."""
        self.change_before_answer = True
        """Whether the `didChange` of an applied edit goes out before the answer or behind it."""
        self._news = asyncio.Condition()
        self._background: set[asyncio.Task[Any]] = set()
        self._register()

    # -- what a test does ----------------------------------------------------------------------

    async def request(self, method: str, params: Any = None) -> Any:
        """The result; raises `JsonRpcException` for an error response."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.protocol.send_request_async(method, params)

    def notify(self, method: str, params: Any = None) -> None:
        self.protocol.notify(method, params)

    def send_raw(self, body: bytes) -> None:
        """Send any bytes as one message."""
        stdin = self.process.stdin
        assert stdin is not None
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def new_session(self, **params: Any) -> str:
        """A session in the workspace; returns its id."""
        info = await self.request("pai/session/new", {"workspace": str(self.workspace), **params})
        return info["sessionId"]

    async def prompt_and_wait(self, session_id: str, text: str, **params: Any) -> list[Json]:
        """Prompt, and return all events of the turn, up to `turnEnded`."""
        receipt = await self.request(
            "pai/session/prompt", {"sessionId": session_id, "text": text, **params}
        )
        return await self.wait_for_turn(session_id, receipt["turnId"])

    async def wait_for_turn(self, session_id: str, turn_id: str) -> list[Json]:
        def of_turn() -> list[Json]:
            return [
                sent["event"]
                for sent in self.events
                if sent["sessionId"] == session_id and sent["event"].get("turnId") == turn_id
            ]

        await self.wait_until(lambda: any(e["kind"] == "turnEnded" for e in of_turn()))
        events = of_turn()  # the snapshot from after it may have been told already
        end = next(n for n, event in enumerate(events) if event["kind"] == "turnEnded")
        return events[: end + 1]

    async def wait_for_event(self, kind: str) -> Json:
        """The first event of this kind, come or coming."""

        def found() -> list[Json]:
            return [sent["event"] for sent in self.events if sent["event"]["kind"] == kind]

        await self.wait_until(lambda: bool(found()))
        return found()[0]

    async def wait_for(self, method: str) -> Json:
        """The first request or notification of this method, come or coming."""

        def found() -> list[Json]:
            messages = [*self.requests, *self.notifications]
            return [params for name, params in messages if name == method]

        await self.wait_until(lambda: bool(found()))
        return found()[0]

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until this holds; it is looked at after each message of the server."""
        async with asyncio.timeout(WAIT_SECONDS), self._news:
            await self._news.wait_for(holds)

    def open_document(
        self, path: Path, text: str | None = None, *, uri: str = "", language: str = "python"
    ) -> OpenDocument:
        """Open a file, with its text on disk or another one (then it is dirty)."""
        uri = uri or path.as_uri()
        text = path.read_bytes().decode() if text is None else text
        encoding = self.initialized["capabilities"].get("positionEncoding", "utf-16")
        document = self.documents[uri] = OpenDocument(uri, text, encoding=encoding)
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return document

    def change_document(self, document: OpenDocument, start: int, end: int, text: str) -> None:
        """Type: replace `text[start:end]` of the document."""
        place = {"start": document.position(start), "end": document.position(end)}
        document.text = document.text[:start] + text + document.text[end:]
        document.version += 1
        self._tell_change(document, [{"range": place, "text": text}])

    def close_document(self, document: OpenDocument) -> None:
        del self.documents[document.uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    # -- what the server asks for --------------------------------------------------------------

    def _register(self) -> None:
        for method in ("window/showMessage", "window/logMessage", "$/progress"):
            self._on_notification(method)
        self._on_notification("pai/event", self.events.append)
        self._on_notification("pai/approval/resolved")
        self._on_notification("pai/editor/changedOnDisk")
        self._on_notification("textDocument/publishDiagnostics", self._keep_diagnostics)
        self._on_request("window/workDoneProgress/create", lambda _: None)
        self._on_request("window/showDocument", lambda params: self._ask("show", params))
        self._on_request("workspace/codeLens/refresh", lambda _: None)
        self._on_request("workspace/applyEdit", self._apply_edit)
        self._on_request("pai/editor/save", self._save)
        self._on_request("pai/approval/request", lambda params: self._ask("approve", params))
        self._on_request("pai/question/ask", lambda params: self._ask("answer", params))
        self._on_request("window/showMessageRequest", self._choose)

    def _on_notification(self, method: str, handle: Answer = lambda _: None) -> None:
        def receive(params: Json) -> None:
            self.notifications.append((method, params))
            handle(params)
            self._tell_news()

        self.feature(method)(receive)

    def _on_request(self, method: str, handle: Answer) -> None:
        async def receive(params: Json) -> Any:
            self._tell_news()
            result = handle(params)
            return await result if isinstance(result, Awaitable) else result

        self.feature(method)(receive)

    def _tell_news(self) -> None:
        async def tell() -> None:
            async with self._news:
                self._news.notify_all()

        task = asyncio.ensure_future(tell())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _keep_diagnostics(self, params: Json) -> None:
        self.diagnostics[params["uri"]] = params["diagnostics"]

    def _ask(self, what: str, params: Json) -> Any:
        """What the test's function says; without one the request is a surprise."""
        function: Answer | None = getattr(self, what)
        if function is None:
            self.unexpected.append(f"the test does not {what}: {params}")
            return None
        return function(params)

    async def _choose(self, params: Json) -> Any:
        chosen = self._ask("choose", params)
        title = await chosen if isinstance(chosen, Awaitable) else chosen
        if title is None:
            return None
        assert title in [action["title"] for action in params["actions"]], params
        return {"title": title}

    def _apply_edit(self, params: Json) -> Json:
        """Apply an edit as an editor does: all of it or nothing, only to the version it means."""
        if self.refuse_edits:
            return {"applied": False, "failureReason": self.refuse_edits}
        edit = params["edit"]
        parts = [
            (part["textDocument"]["uri"], part["textDocument"]["version"], part["edits"])
            for part in edit.get("documentChanges", [])
        ] or [(uri, None, edits) for uri, edits in edit["changes"].items()]
        for uri, version, _ in parts:
            if version not in (None, self.documents[uri].version):
                return {"applied": False, "failureReason": "the document is newer"}
        for uri, _, edits in parts:
            document = self.documents[uri]
            document.replace(edits)
            change = [{"text": document.text}]
            if self.change_before_answer:
                self._tell_change(document, change)
            else:
                asyncio.get_running_loop().call_later(0.05, self._tell_change, document, change)
        return {"applied": True}

    def _tell_change(self, document: OpenDocument, changes: list[Json]) -> None:
        identifier = {"uri": document.uri, "version": document.version}
        self.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )

    def _save(self, params: Json) -> Json:
        document = self.documents[params["uri"]]
        path = Path(document.uri.removeprefix("file://"))
        path.write_bytes(document.text.encode())
        return {"saved": True}

    # -- the process ---------------------------------------------------------------------------

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._server is not None
        return self._server

    async def keep_stderr(self) -> None:
        stream = self.process.stderr
        assert stream is not None
        while data := await stream.read(65536):
            self.stderr += data

    async def _server_exit(self) -> None:
        """Nobody answers any more; neither do we."""
        await self.process.wait()
        for future in list(self.protocol._request_futures.values()):
            if isinstance(future, asyncio.Task):
                future.cancel()
            elif not future.done():
                future.set_exception(ConnectionError("the server has ended"))
        self._stop_event.set()

    def report_server_error(self, error: Exception, source: Any) -> None:
        if source.__name__ != "FeatureRequestError":  # those are in the error response
            self.unexpected.append(f"{source.__name__}: {error}")

    async def ended(self) -> int:
        """Wait for the process; its exit code."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.process.wait()


def server_environment(root: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """An environment in which the server sees nothing of this machine's configuration."""
    home, temporary = root / "home", root / "tmp"
    for folder in (home, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
        **extra,
    }


def processes_with(mark: str) -> list[str]:
    """The command lines of living processes whose environment holds this mark (Linux only)."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append(f"{folder.name}: {command}")
    return found


@contextlib.asynccontextmanager
async def start_client(
    root: Path,
    *,
    options: Json | None = PAI,
    capabilities: Json = CAPABILITIES,
    environment: Mapping[str, str] | None = None,
    initialize: bool = True,
) -> AsyncIterator[LspClient]:
    """A client of a new server process; see the module. `options` None is a bare client."""
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    mark = f"PAILS_TEST_MARK={uuid.uuid4().hex}"
    env = server_environment(root, environment or {}) | dict([mark.split("=")])
    before = set(root.iterdir())
    client = LspClient(workspace)
    await client.start_io(sys.executable, "-m", "pails", env=env, cwd=root)
    stderr = asyncio.create_task(client.keep_stderr())
    try:
        if initialize:
            await _initialize(client, workspace, options, capabilities)
        yield client
        if client.process.returncode is None and initialize:
            await client.request("shutdown")
            client.notify("exit")
            assert await client.ended() == 0
    finally:
        if client.process.returncode is None:
            client.process.kill()
        await client.process.wait()
        await client.stop()
        await stderr
        sys.stderr.write(client.stderr.decode(errors="replace"))
    await _check_nothing_is_left(client, root, mark, before)


async def _initialize(
    client: LspClient, workspace: Path, options: Json | None, capabilities: Json
) -> None:
    client.initialized = await client.request(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": workspace.as_uri(),
            "workspaceFolders": [{"uri": workspace.as_uri(), "name": workspace.name}],
            "capabilities": capabilities,
            **({} if options is None else {"initializationOptions": {"pai": options}}),
        },
    )
    client.notify("initialized", {})


async def _check_nothing_is_left(
    client: LspClient, root: Path, mark: str, before: set[Path]
) -> None:
    assert not client.unexpected, client.unexpected
    assert b"Traceback" not in client.stderr
    left = processes_with(mark)
    for _ in range(50):  # a killed process may need a moment to be gone from the table
        if not left:
            break
        await asyncio.sleep(0.1)
        left = processes_with(mark)
    assert not left, left
    assert not list((root / "tmp").iterdir()), "temporary files are left"
    outside = set(root.iterdir()) - before
    assert not outside, f"written outside of HOME: {outside}"
