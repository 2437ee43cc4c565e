"""The client's buffers as the tools see them; implements `core.ports.Editor`."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pydantic import ValidationError
from pygls.exceptions import JsonRpcException

from pails.core.events import Problem
from pails.core.ports import Buffer, EditOutcome, TextChange
from pails.core.text import join_surrogates
from pails.lsp.client import Client
from pails.lsp.coding import decode
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.problems import PublishedProblems
from pails.lsp.protocol import EditorSaveResult, PaiCapabilities

log = logging.getLogger(__name__)

APPLIED = EditOutcome("applied")
CHANGED_MEANWHILE = EditOutcome("refused", "the document changed meanwhile")
FOLLOW_SECONDS = 1.0
"""How long after its answer a client may take to send the `didChange` of our edit."""


class ClientEditor:
    """Reads the open documents and edits them through the client, so that undo works there."""

    def __init__(self, client: Client, documents: OpenDocuments, can: PaiCapabilities) -> None:
        self._client = client
        self._documents = documents
        self._can_save = can.save
        self._problems = PublishedProblems(client, documents)

    def buffer(self, path: Path) -> Buffer | None:
        """The open document at this path, as the client last told it."""
        document = self._documents.at(path)
        if document is None:
            return None
        return Buffer(path, document.uri, join_surrogates(document.text), document.version)

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        """Apply to that version of the document.

        When this returns, `buffer` gives the text with the edit in it: some clients send the
        change before their answer, some behind it.
        """
        document = self._documents.get(buffer.uri)
        if document is None:
            return EditOutcome("refused", "the document was closed meanwhile")
        if document.version != buffer.version:
            return CHANGED_MEANWHILE
        if not self._client.can_apply_edits:
            return EditOutcome("refused", "this client cannot edit open documents")
        edit = self._workspace_edit(document, changes)
        changed = self._version_after(document)
        try:
            outcome = await self._apply_edit(edit, label)
            if outcome is APPLIED:
                await _wait_a_while(changed)
            return outcome
        finally:
            changed.cancel()

    async def save(self, path: Path) -> bool:
        """Ask the client to save the open document; False when it cannot or did not."""
        document = self._documents.at(path)
        if document is None or not self._can_save:
            return False
        try:
            answer = await self._client.request("pai/editor/save", {"uri": document.uri})
            return decode(EditorSaveResult, answer).saved
        except (JsonRpcException, ValidationError) as error:
            log.warning("the client did not save %s: %s", path, error)
            return False

    def publish(self, path: Path, problems: Sequence[Problem]) -> None:
        """Show these syntax errors of an agent's write; an empty list clears them."""
        self._problems.publish(path, problems)

    def _workspace_edit(
        self, document: OpenDocument, changes: Sequence[TextChange]
    ) -> types.WorkspaceEdit:
        edits = document.edits(changes)
        if not self._client.knows_versioned_edits:
            return types.WorkspaceEdit(changes={document.uri: edits})
        identifier = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)])

    async def _apply_edit(self, edit: types.WorkspaceEdit, label: str) -> EditOutcome:
        params = types.ApplyWorkspaceEditParams(edit, label)
        try:
            answer = await self._client.request(types.WORKSPACE_APPLY_EDIT, params)
        except JsonRpcException as error:
            return EditOutcome("unknown", f"the editor answered with an error ({error})")
        if not isinstance(answer, types.ApplyWorkspaceEditResult):
            return EditOutcome("unknown", "the editor did not say")
        if answer.applied:
            return APPLIED
        reason = answer.failure_reason or "it gave no reason; perhaps the document changed"
        return EditOutcome("refused", f"the editor refused the edit ({reason})")

    def _version_after(self, document: OpenDocument) -> asyncio.Future[None]:
        """Done when the client has sent another version of the document."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look(current: OpenDocument) -> None:
            newer = current.uri == document.uri and current.version != document.version
            if newer and not future.done():
                future.set_result(None)

        stop = self._documents.listen(look)
        future.add_done_callback(lambda _: stop())
        return future


async def _wait_a_while(changed: asyncio.Future[None]) -> None:
    done, _ = await asyncio.wait({changed}, timeout=FOLLOW_SECONDS)
    if not done:
        log.warning("the client applied an edit and sent no change; its word is taken")
