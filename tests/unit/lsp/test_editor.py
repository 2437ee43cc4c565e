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
from pails.lsp import editor as editor_module
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocuments
from pails.lsp.editor import APPLIED, CHANGED_MEANWHILE, NOT_TOLD, ClientEditor
from pails.lsp.positions import Encoding
from pails.lsp.protocol.sessions import PaiCapabilities
from tests.unit.lsp.conftest import FakeWire

PATH = Path("/w/x.py")
URI = "file:///w/x.py"
APPLY = "workspace/applyEdit"
TEXT = "a😀b\nc\n"


@pytest.fixture
def documents() -> OpenDocuments:
    documents = OpenDocuments()
    documents.open(types.TextDocumentItem(URI, "python", 1, TEXT))
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


async def test_an_edit_of_a_text_that_is_owed_is_not_sent(
    editor: ClientEditor,
    documents: OpenDocuments,
    wire: FakeWire,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(editor_module, "FOLLOW_SECONDS", 0.05)
    wire.answers[APPLY] = lambda _: types.ApplyWorkspaceEditResult(applied=True)
    change = [TextChange(0, 1, "")]
    assert await editor.apply(the_buffer(editor), change, "its word is taken") == APPLIED
    assert await editor.apply(the_buffer(editor), change, "edit") == NOT_TOLD
    assert len(wire.of(APPLY)) == 1
    send_text(documents, "what it is now", 2)
    assert await editor.apply(the_buffer(editor), change, "edit") == APPLIED
    assert len(wire.of(APPLY)) == 2
    documents.close(URI)
    documents.open(types.TextDocumentItem(URI, "python", 2, "what it is now"))
    assert await editor.apply(the_buffer(editor), change, "opened again") == APPLIED


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


# -- moving and deleting ----------------------------------------------------------------------


def operations(*known: types.ResourceOperationKind) -> types.ClientCapabilities:
    edit = types.WorkspaceEditClientCapabilities(document_changes=True, resource_operations=known)
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edit)
    return types.ClientCapabilities(workspace=workspace)


RENAME, DELETE = types.ResourceOperationKind.Rename, types.ResourceOperationKind.Delete


@pytest.mark.parametrize("target", [Path("/w/a b%.py"), None])
async def test_the_client_moves_and_deletes_what_is_open(
    make_client: Callable[..., Client],
    documents: OpenDocuments,
    wire: FakeWire,
    target: Path | None,
) -> None:
    def apply(_: Any) -> Any:  # the document is closed behind the answer, as some clients do
        asyncio.get_running_loop().call_later(0.02, documents.close, URI)
        return types.ApplyWorkspaceEditResult(applied=True)

    wire.answers[APPLY] = apply
    client = make_client(operations(RENAME, DELETE))
    editor = ClientEditor(client, documents, PaiCapabilities(save=True))
    assert await editor.relocate(PATH, target, "Move x.py") == APPLIED
    assert editor.buffer(PATH) is None
    [params] = wire.of(APPLY)
    expected = types.RenameFile(URI, "file:///w/a%20b%25.py") if target else types.DeleteFile(URI)
    assert (params.edit.document_changes, params.label) == ([expected], "Move x.py")


@pytest.mark.parametrize(("known", "target"), [((DELETE,), Path("/w/y.py")), ((RENAME,), None)])
async def test_a_client_that_cannot_move_or_delete_is_not_asked(
    make_client: Callable[..., Client],
    documents: OpenDocuments,
    wire: FakeWire,
    known: tuple[types.ResourceOperationKind, ...],
    target: Path | None,
) -> None:
    client = make_client(operations(*known))
    editor = ClientEditor(client, documents, PaiCapabilities(save=True))
    assert await editor.relocate(PATH, target, "Move x.py") is None
    assert wire.asked == []


async def test_a_client_that_refuses_to_move_says_why(
    make_client: Callable[..., Client], documents: OpenDocuments, wire: FakeWire
) -> None:
    refusal = types.ApplyWorkspaceEditResult(applied=False, failure_reason="no")
    wire.answers[APPLY] = lambda _: refusal
    client = make_client(operations(RENAME))
    editor = ClientEditor(client, documents, PaiCapabilities(save=True))
    outcome = await editor.relocate(PATH, Path("/w/y.py"), "Move x.py")
    assert outcome == EditOutcome("refused", "the editor refused the edit (no)")


def test_buffers(editor: ClientEditor, documents: OpenDocuments) -> None:
    assert editor.buffer(Path("/w/other.py")) is None
    assert the_buffer(editor) == Buffer(PATH, URI, "a😀b\nc\n", 1)
    send_text(documents, "half \ud83d", 2)
    assert the_buffer(editor).text == "half \ufffd", "a file could not hold the half"


def test_all_open_files_by_their_real_paths(client: Client) -> None:
    documents = OpenDocuments(lambda path: Path("/real") / path.name)
    editor = ClientEditor(client, documents, PaiCapabilities())
    for uri in (URI, "file:///w/a%20b.py", "untitled:Untitled-1", "vscode-notebook-cell:/w/n#1"):
        documents.open(types.TextDocumentItem(uri, "python", 1, TEXT))
    documents.close("file:///w/a%20b.py")
    assert editor.open_buffers() == [Buffer(Path("/real/x.py"), URI, TEXT, 1)]
    assert not editor.can_save


def test_a_document_is_settled_until_it_changes_and_again_when_saved(
    editor: ClientEditor, documents: OpenDocuments
) -> None:
    assert the_buffer(editor).settled_at is not None
    send_text(documents, "typed", 2)
    assert the_buffer(editor).settled_at is None
    documents.saved(URI)
    assert the_buffer(editor).settled_at is not None
    assert the_buffer(editor).version == 2


@pytest.mark.parametrize("reload", [True, False])
def test_files_that_changed_on_the_disk(
    client: Client, documents: OpenDocuments, wire: FakeWire, reload: bool
) -> None:
    editor = ClientEditor(client, documents, PaiCapabilities(reload=reload))
    editor.changed_on_disk([Path("/w/other.py")])
    assert wire.sent == [], "it is not open"
    editor.changed_on_disk([PATH])
    [(method, params)] = wire.sent
    if reload:
        assert (method, params) == ("pai/editor/changedOnDisk", {"uris": [URI]})
    else:
        assert method == "window/showMessage"
        assert params.message.startswith("x.py has changed on the disk.")


# -- problems ---------------------------------------------------------------------------------


def problem(line: int, start: int, end: int, source_line: str) -> Problem:
    return Problem(SourcePosition(line, start), SourcePosition(line, end), "bad", source_line)


def published(wire: FakeWire) -> list[types.PublishDiagnosticsParams]:
    return wire.of("textDocument/publishDiagnostics")


def test_problems_are_shown_where_the_editor_counts_them(
    editor: ClientEditor, wire: FakeWire
) -> None:
    editor.publish(PATH, TEXT, [problem(1, 3, 4, "a😀b")])
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
    editor.publish(Path("/w/y z.py"), "", [problem(5, 2, 3, "中x")])
    [params] = published(wire)
    assert params.uri == "file:///w/y%20z.py"
    assert params.version is None
    assert params.diagnostics[0].range == types.Range(types.Position(4, 3), types.Position(4, 4))


def test_problems_of_another_text_than_the_document_has_are_not_shown(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    """The person types on while the check runs."""
    send_text(documents, "typed meanwhile\n" + TEXT, 2)
    editor.publish(PATH, TEXT, [problem(2, 1, 2, "c")])
    assert published(wire) == []
    editor.publish(PATH, "typed meanwhile\n" + TEXT, [problem(3, 1, 2, "c")])
    editor.publish(PATH, TEXT, [problem(2, 1, 2, "c")])
    assert [len(params.diagnostics) for params in published(wire)] == [1, 0]


def test_problems_go_when_the_document_is_closed(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    editor.publish(PATH, TEXT, [problem(2, 1, 2, "c")])
    documents.close(URI)
    assert [len(params.diagnostics) for params in published(wire)] == [1, 0]
    documents.open(types.TextDocumentItem(URI, "python", 1, TEXT))
    documents.close(URI)
    assert len(published(wire)) == 2


def test_problems_are_cleared_once(editor: ClientEditor, wire: FakeWire) -> None:
    editor.publish(PATH, TEXT, [])
    assert published(wire) == [], "there was nothing to clear"
    editor.publish(PATH, TEXT, [problem(2, 1, 2, "c")])
    editor.publish(PATH, TEXT, [])
    assert [len(params.diagnostics) for params in published(wire)] == [1, 0]


def test_a_problem_goes_when_its_line_is_touched_and_stays_when_another_is(
    editor: ClientEditor, documents: OpenDocuments, wire: FakeWire
) -> None:
    editor.publish(PATH, TEXT, [problem(1, 1, 2, "a😀b"), problem(2, 1, 2, "c")])
    send_text(documents, "a😀b\nc\nmore", 2)
    assert len(published(wire)) == 1, "no line of a problem has changed"
    send_text(documents, "a😀b\ncc\nmore", 3)
    assert [d.range.start.line for d in published(wire)[-1].diagnostics] == [0]
    send_text(documents, "new\na😀b\ncc", 4)
    assert published(wire)[-1].diagnostics == []
