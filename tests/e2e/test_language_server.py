"""The server through pytest-lsp's client: what an editor's own LSP library makes of Pails.

The other tests speak to the server in plain JSON. Here every message passes through the types of
the specification on both sides, with Neovim's capabilities, and pytest-lsp checks that the server
sends nothing that these do not allow.

Not `pytest_lsp.fixture`: its environment is fixed on import, ours names the model's port.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound
from pygls.protocol import default_converter
from pygls.workspace import PositionCodec, TextDocument
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

from pails.lsp.display import HOW_TO_REVIEW
from tests.support.lsp_client import server_environment
from tests.support.scripted_model import Calls, Gate, Say, Script, ScriptedModel
from tests.support.workbench import environment

pytestmark = pytest.mark.e2e

CALC = "GREETING = '你好 😀'; SIGN = '-'\n\n\ndef add(a, b):\n    return a - b\n"
FIXED = CALC.replace("a - b", "a + b")
BROKEN = CALC.replace("a - b", "(a + b")
PAI = {"pai": {"events": True, "approvals": True, "questions": True}}


def converter() -> Converter:
    """pygls's, which takes every code action that has a command for a bare command."""
    ours = default_converter()

    def action(value: Any, _: Any) -> types.Command | types.CodeAction:
        is_command = isinstance(value.get("command"), str)
        return ours.structure(value, types.Command if is_command else types.CodeAction)

    ours.register_structure_hook(types.Command | types.CodeAction, action)
    return ours


class StrictProtocol(LanguageClientProtocol):
    """Wakes who waits after each message, and keeps in mind what nobody handles."""

    _server: "Editor"

    def _get_handler(self, feature_name: str) -> Any:
        try:
            return super()._get_handler(feature_name)
        except JsonRpcMethodNotFound:
            self._server.unexpected.append(f"unhandled: {feature_name}")
            raise

    def _handle_notification(self, method_name: str, params: Any) -> None:
        super()._handle_notification(method_name, params)
        self._server.news.set()

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        super()._handle_request(msg_id, method_name, params)
        self._server.news.set()


class Editor(LanguageClient):
    """An editor with open documents and a person who chooses the first action of a request."""

    def __init__(self) -> None:
        super().__init__(converter_factory=converter, protocol_cls=StrictProtocol)
        self.unexpected: list[str] = []
        self.news = asyncio.Event()
        self.documents: dict[str, TextDocument] = {}
        self.asked: list[types.ShowMessageRequestParams] = []
        self.events: list[Any] = []
        self.approvals: list[Any] = []
        register_lsp_features(self)
        self._on(types.WORKSPACE_APPLY_EDIT, self._apply_edit)
        self._on(types.WINDOW_SHOW_MESSAGE_REQUEST, self._choose)

    def follow_events(self) -> None:
        """Be a client that renders events and shows approvals itself."""
        self._on("pai/event", self.events.append)
        self._on("pai/approval/request", self._allow)
        self._on("pai/approval/resolved", lambda _: None)

    def report_server_error(self, error: Exception, source: Any) -> None:
        self.unexpected.append(f"{source.__name__}: {error}")
        super().report_server_error(error, source)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until this holds; it is looked at after each message of the server."""
        async with asyncio.timeout(30):
            while not holds():
                self.news.clear()
                await self.news.wait()

    async def open_session(self, workspace: Path, options: object) -> types.InitializeResult:
        """`initialize` and `initialized`, as Neovim."""
        return await self.initialize_session(
            types.InitializeParams(
                client_capabilities("neovim@v0.11.0"),
                root_uri=workspace.as_uri(),
                workspace_folders=[types.WorkspaceFolder(workspace.as_uri(), workspace.name)],
                initialization_options=options,
            )
        )

    def open_file(self, path: Path, encoding: types.PositionEncodingKind | str | None) -> str:
        """Open a file as it is on disk; returns its URI."""
        uri, text = path.as_uri(), path.read_bytes().decode()
        self.documents[uri] = TextDocument(
            uri, text, 1, "python", position_codec=PositionCodec(encoding)
        )
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    async def run_action(self, uri: str, title: str, line: int) -> Any:
        """Open the menu on this line, take the action of this title, run its command."""
        place = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
        context = types.CodeActionContext([])
        offered = await self.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        )
        assert offered
        [action] = [entry for entry in offered if entry.title == title]
        assert isinstance(action, types.CodeAction) and action.command
        command = action.command
        return await self.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, command.arguments)
        )

    @property
    def progress_values(self) -> list[Any]:
        """What `$/progress` said about the one turn of the test."""
        [values] = self.progress_reports.values()
        return values

    def has_ended(self) -> bool:
        return any(
            isinstance(value, types.WorkDoneProgressEnd)
            for values in self.progress_reports.values()
            for value in values
        )

    def _on(self, method: str, handle: Callable[[Any], Any]) -> None:
        def receive(params: Any) -> Any:  # a function of its own: pygls writes attributes into it
            return handle(params)

        self.feature(method)(receive)

    def _apply_edit(self, params: types.ApplyWorkspaceEditParams) -> Any:
        assert params.edit.changes, "Neovim has not said that it knows documentChanges"
        for uri, edits in params.edit.changes.items():
            document = self.documents[uri]
            changes = [
                types.TextDocumentContentChangePartial(edit.range, edit.new_text) for edit in edits
            ]
            assert len(changes) == 1, "several edits would have to be sorted first"
            document.apply_change(changes[0])
            document.version = (document.version or 0) + 1
            identifier = types.VersionedTextDocumentIdentifier(document.version, uri)
            self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
        return types.ApplyWorkspaceEditResult(applied=True)

    def _choose(self, params: types.ShowMessageRequestParams) -> Any:
        self.asked.append(params)
        return params.actions[0] if params.actions else None

    def _allow(self, params: Any) -> Any:
        self.approvals.append(params)
        return {"choice": "allowOnce", "feedback": ""}


@asynccontextmanager
async def started(root: Path, *script: Script) -> AsyncIterator[tuple[Editor, ScriptedModel]]:
    """A client of a new server whose model follows the script; ended by protocol."""
    workspace = root / "workspace"
    workspace.mkdir()
    (workspace / "calc.py").write_bytes(CALC.encode())
    async with ScriptedModel(script) as model:
        config = ClientServerConfig(
            [sys.executable, "-P", "-m", "pails"],
            client_factory=Editor,
            server_env=server_environment(root, environment(root, model)),
        )
        client = await config.start()
        assert isinstance(client, Editor)
        server = client._server
        assert server
        try:
            yield client, model
            async with asyncio.timeout(30):
                await client.shutdown_session()
            assert server.returncode == 0
        finally:
            if server.returncode is None:
                server.kill()
            await server.wait()
            await client.stop()
    assert not client.unexpected, client.unexpected


def edit(old: str, new: str) -> Calls:
    return Calls(("edit_file", {"path": "calc.py", "old": old, "new": new}))


async def test_the_whole_loop_of_a_client_that_says_nothing_about_itself(tmp_path: Path):
    slip_is_shown = Gate(edit("(a + b", "a + b"))
    async with started(
        tmp_path,
        edit("a - b", "(a + b"),
        slip_is_shown,
        Calls(("run_command", {"command": ["echo", "checked"]})),
        Say("add() adds now."),
    ) as (editor, model):
        answer = await editor.open_session(tmp_path / "workspace", None)
        uri = editor.open_file(
            tmp_path / "workspace" / "calc.py", answer.capabilities.position_encoding
        )
        await editor.run_action(uri, "Pails: fix", 4)

        await slip_is_shown.reached.wait()
        await editor.until(lambda: editor.diagnostics.get(uri))
        assert editor.documents[uri].source == BROKEN
        [slip] = editor.diagnostics[uri]
        assert slip.severity is types.DiagnosticSeverity.Error
        assert slip.range.start.line == 4

        slip_is_shown.open()
        await editor.until(editor.has_ended)
        assert editor.documents[uri].source == FIXED
        assert not editor.diagnostics[uri]
        [asked] = editor.asked
        assert "echo checked" in asked.message
        assert [action.title for action in asked.actions or ()][::2] == ["Allow once", "Reject"]
        assert "checked" in model.requests[3]["messages"][-1]["content"]

        begin, *reports, end = editor.progress_values
        assert isinstance(begin, types.WorkDoneProgressBegin) and begin.cancellable
        assert any("calc.py" in report.message for report in reports)
        assert "Edited: calc.py." in end.message
        await editor.until(lambda: editor.messages)
        [told] = [message.message.splitlines() for message in editor.messages]
        assert told[-2:] == ["add() adds now.", HOW_TO_REVIEW]
        assert editor.events == []


async def test_a_client_that_follows_events_gets_all_of_them_in_order(tmp_path: Path):
    async with started(
        tmp_path,
        edit("a - b", "a + b"),
        Calls(("run_command", {"command": ["echo", "checked"]})),
        Say("add() adds now."),
    ) as (editor, _):
        editor.follow_events()
        workspace = tmp_path / "workspace"
        await editor.open_session(workspace, PAI)
        request = editor.protocol.send_request_async
        session = await request("pai/session/new", {"workspace": str(workspace)})
        receipt = await request(
            "pai/session/prompt", {"sessionId": session.sessionId, "text": "Fix add()."}
        )
        await editor.until(lambda: any(sent.event.kind == "turnEnded" for sent in editor.events))

        assert (workspace / "calc.py").read_bytes() == FIXED.encode()
        [approval] = [params for params in editor.approvals if params.tool == "run_command"]
        assert approval.turnId == receipt.turnId
        assert {sent.sessionId for sent in editor.events} == {session.sessionId}
        numbers = [sent.seq for sent in editor.events]
        assert numbers == sorted(numbers)
        kinds = [sent.event.kind for sent in editor.events]
        for once in ("turnStarted", "userMessageAdded", "fileChanged", "turnEnded"):
            assert kinds.count(once) == 1, once
        durable = [sent for sent in editor.events if not sent.event.kind.endswith("Delta")]
        assert len({sent.seq for sent in durable}) == len(durable), "a number for each event"
        said = [sent.event.text for sent in editor.events if sent.event.kind == "textDelta"]
        assert "".join(said) == "add() adds now."
        assert editor.messages == [], "such a client tells its person itself"
