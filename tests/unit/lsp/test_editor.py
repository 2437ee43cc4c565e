"""Edits go to the version they were made for, or nothing happens; problems follow the text."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.events import Problem, SourcePosition
from pails.core.ports import Buffer, EditOutcome, TextChange
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocuments
from pails.lsp.editor import APPLIED, CHANGED_MEANWHILE, ClientEditor
from pails.lsp.positions import Encoding
from pails.lsp.protocol import PaiCapabilities
from tests.unit.lsp.conftest import FakeWire

PATH = Path("/w/x.py")
URI = "file:///w/x.py"
APPLY = "workspace/applyEdit"


@pytest.fixture
def documents() -> OpenDocuments:
    documents = OpenDocuments()
    documents.open(types.TextDocumentItem(URI, "python", 1, "a😀b\nc\n"))
    return documents


@pytest.fixture
def editor(client: Client, documents: OpenDocuments) -> ClientEditor:
    return ClientEditor(client, documents, PaiCapabilities(save=True))


def send_text(documents: OpenDocuments, text: str, version: int) -> None:
    whole = types.TextDocumentContentChangeWholeDocument(text)
    identifier = types.VersionedTextDocumentIdentifier(version, URI)
    documents.change(types.DidChangeTextDocumentParams(identifier, [whole]))


def the_buffer(editor: ClientEditor) -> Buffer:
    buffer = editor.buffer(PATH)
    assert buffer is not None
    return buffer


async def test_an_edit_is_versioned_and_counts_in_the_client_encoding(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    def apply(params: types.ApplyWorkspaceEditParams) -> Any:
        send_text(documents, "a😀B\nc\n", 2)
        return types.ApplyWorkspaceEditResult(applied=True)

    wire.answers[APPLY] = apply
    assert await editor.apply(the_buffer(editor), [TextChange(2, 3, "B")], "Pails: edit") == APPLIED
    [params] = wire.of(APPLY)
    [change] = params.edit.document_changes
    assert (change.text_document.uri, change.text_document.version) == (URI, 1)
    assert change.edits == [
        types.TextEdit(types.Range(types.Position(0, 3), types.Position(0, 4)), "B")
    ]
    assert the_buffer(editor).text == "a😀B\nc\n"


async def test_a_change_that_comes_behind_the_answer_is_waited_for(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    def apply(_: Any) -> Any:
        asyncio.get_running_loop().call_later(0.02, send_text, documents, "new", 2)
        return types.ApplyWorkspaceEditResult(applied=True)

    wire.answers[APPLY] = apply
    assert await editor.apply(the_buffer(editor), [TextChange(0, 6, "new")], "edit") == APPLIED
    assert the_buffer(editor).text == "new"


async def test_a_client_without_versions_gets_plain_changes(
    make_client: Callable[..., Client], documents: OpenDocuments, wire: FakeWire
) -> None:
    workspace = types.WorkspaceClientCapabilities(apply_edit=True)
    client = make_client(types.ClientCapabilities(workspace=workspace))
    editor = ClientEditor(client, documents, PaiCapabilities(save=False))
    wire.answers[APPLY] = lambda _: types.ApplyWorkspaceEditResult(applied=False)
    await editor.apply(the_buffer(editor), [TextChange(0, 1, "")], "edit")
    [params] = wire.of(APPLY)
    assert params.edit.document_changes is None
    assert list(params.edit.changes) == [URI]


async def test_an_edit_of_an_older_version_is_not_even_sent(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    wire.answers[APPLY] = lambda _: types.ApplyWorkspaceEditResult(applied=True)
    buffer = the_buffer(editor)
    send_text(documents, "typed meanwhile", 2)
    assert await editor.apply(buffer, [TextChange(0, 1, "")], "edit") == CHANGED_MEANWHILE
    documents.close(URI)
    outcome = await editor.apply(buffer, [TextChange(0, 1, "")], "edit")
    assert (outcome.status, "closed" in outcome.reason) == ("refused", True)
    assert wire.of(APPLY) == []


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (
            types.ApplyWorkspaceEditResult(applied=False, failure_reason="read-only"),
            "refused",
            "read-only",
        ),
        (types.ApplyWorkspaceEditResult(applied=False), "refused", "no reason"),
        (JsonRpcException("not supported"), "unknown", "not supported"),
        (None, "unknown", "did not say"),
    ],
)
async def test_what_was_not_applied_is_said(
    editor: ClientEditor, wire: FakeWire, answer: Any, status: str, reason: str
) -> None:
    wire.answers[APPLY] = lambda _: answer
    outcome = await editor.apply(the_buffer(editor), [TextChange(0, 1, "")], "edit")
    assert outcome.status == status
    assert reason in outcome.reason


async def test_a_client_that_cannot_edit_is_not_asked(
    make_client: Callable[..., Client], documents: OpenDocuments, wire: FakeWire
) -> None:
    editor = ClientEditor(
        make_client(types.ClientCapabilities()), documents, PaiCapabilities(save=False)
    )
    outcome = await editor.apply(the_buffer(editor), [TextChange(0, 1, "")], "edit")
    assert outcome == EditOutcome("refused", "this client cannot edit open documents")
    assert wire.asked == []


@pytest.mark.parametrize(
    ("answer", "saved"),
    [
        ({"saved": True}, True),
        ({"saved": False}, False),
        (None, False),
        ([], False),
        (JsonRpcException("no"), False),
    ],
)
async def test_saving(editor: ClientEditor, wire: FakeWire, answer: Any, saved: bool) -> None:
    wire.answers["pai/editor/save"] = lambda _: answer
    assert await editor.save(PATH) is saved
    assert wire.of("pai/editor/save") == [{"uri": URI}]


async def test_a_closed_document_is_not_saved(editor: ClientEditor, wire: FakeWire) -> None:
    assert await editor.save(Path("/w/other.py")) is False
    assert wire.asked == []


def test_buffers(editor: ClientEditor, documents: OpenDocuments) -> None:
    assert editor.buffer(Path("/w/other.py")) is None
    assert the_buffer(editor) == Buffer(PATH, URI, "a😀b\nc\n", 1)
    send_text(documents, "half \ud83d", 2)
    assert the_buffer(editor).text == "half \ufffd", "a file could not hold the half"


# -- problems ---------------------------------------------------------------------------------


def problem(line: int, start: int, end: int, source_line: str) -> Problem:
    return Problem(SourcePosition(line, start), SourcePosition(line, end), "bad", source_line)


def published(wire: FakeWire) -> list[types.PublishDiagnosticsParams]:
    return wire.of("textDocument/publishDiagnostics")


def test_problems_are_shown_where_the_editor_counts_them(
    editor: ClientEditor, wire: FakeWire
) -> None:
    editor.publish(PATH, [problem(1, 3, 4, "a😀b")])
    [params] = published(wire)
    assert (params.uri, params.version) == (URI, 1)
    [diagnostic] = params.diagnostics
    assert diagnostic.range == types.Range(types.Position(0, 3), types.Position(0, 4))
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    assert diagnostic.source == "pails"


def test_problems_of_a_closed_file_use_the_line_that_came_along(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    documents.encoding = Encoding.UTF8
    editor.publish(Path("/w/y z.py"), [problem(5, 2, 3, "中x")])
    [params] = published(wire)
    assert params.uri == "file:///w/y%20z.py"
    assert params.version is None
    assert params.diagnostics[0].range == types.Range(types.Position(4, 3), types.Position(4, 4))


def test_problems_are_cleared_once(editor: ClientEditor, wire: FakeWire) -> None:
    editor.publish(PATH, [])
    assert published(wire) == [], "there was nothing to clear"
    editor.publish(PATH, [problem(2, 1, 2, "c")])
    editor.publish(PATH, [])
    assert [len(params.diagnostics) for params in published(wire)] == [1, 0]


def test_a_problem_goes_when_its_line_is_touched_and_stays_when_another_is(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    editor.publish(PATH, [problem(1, 1, 2, "a😀b"), problem(2, 1, 2, "c")])
    send_text(documents, "a😀b\nc\nmore", 2)
    assert len(published(wire)) == 1, "no line of a problem has changed"
    send_text(documents, "a😀b\ncc\nmore", 3)
    assert [d.range.start.line for d in published(wire)[-1].diagnostics] == [0]
    send_text(documents, "new\na😀b\ncc", 4)
    assert published(wire)[-1].diagnostics == []
