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
from pails.host.paths import is_within
from pails.lsp import uris
from pails.lsp.client import Client
from pails.lsp.coding import decode, encode
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.problems import PublishedProblems
from pails.lsp.protocol.asking import EditorChangedOnDiskParams, EditorSaveResult
from pails.lsp.protocol.sessions import PaiCapabilities

log = logging.getLogger(__name__)

APPLIED = EditOutcome("applied")
CHANGED_MEANWHILE = EditOutcome("refused", "the document changed meanwhile")
NOT_TOLD = EditOutcome("refused", "the editor has not sent its text since the edit before this one")
FOLLOW_SECONDS = 5.0
"""How long after its answer a client may take to send the `didChange` of our edit.

Neovim stands still for three seconds when it prints a message in visual mode.
"""

_POLL_SECONDS = 0.01


class ClientEditor:
    """Reads the open documents and edits them through the client, so that undo works there."""

    def __init__(self, client: Client, documents: OpenDocuments, can: PaiCapabilities) -> None:
        self._client = client
        self._documents = documents
        self._can = can
        self._problems = PublishedProblems(client, documents)
        self._owed: dict[str, OpenDocument] = {}
        """By URI, the documents to which an edit was applied and that did not change then. As long
        as they have not, what their text is now is not known."""

    def buffer(self, path: Path) -> Buffer | None:
        """The open document at this path, as the client last told it."""
        document = self._documents.at(path)
        return None if document is None else _buffer(path, document)

    def open_buffers(self) -> Sequence[Buffer]:
        """All open documents that are files, by their real paths."""
        return [_buffer(path, document) for path, document in self._documents.files()]

    @property
    def can_save(self) -> bool:
        """Whether the client can be asked to save."""
        return self._can.save

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
        if self._owed.get(document.uri) is document:
            return NOT_TOLD
        if not self._client.can_apply_edits:
            return EditOutcome("refused", "this client cannot edit open documents")
        edit = self._workspace_edit(document, changes)
        changed = self._version_after(document)
        try:
            outcome = await self._apply_edit(edit, label)
            if outcome is APPLIED and not await _came(changed):
                log.warning("the client applied an edit and sent no change; its word is taken")
                self._owed[document.uri] = document
            return outcome
        finally:
            changed.cancel()

    async def relocate(self, path: Path, target: Path | None, label: str) -> EditOutcome | None:
        """Let the client move a file or folder, or delete it (no `target`), and its documents.

        None when it cannot. When this returns, a client that has closed the documents said so.
        """
        kind = types.ResourceOperationKind.Delete
        if target is not None:
            kind = types.ResourceOperationKind.Rename
        if not self._client.can_apply_edits or not self._client.knows_operation(kind):
            return None
        document = self._documents.at(path)
        uri = document.uri if document else uris.from_path(path)
        if target is None:
            operation = types.DeleteFile(uri)
        else:
            operation = types.RenameFile(uri, uris.from_path(target))
        outcome = await self._apply_edit(types.WorkspaceEdit(document_changes=[operation]), label)
        if outcome is APPLIED:
            await self._closed(path)
        return outcome

    async def save(self, path: Path) -> bool:
        """Ask the client to save the open document; False when it cannot or did not."""
        document = self._documents.at(path)
        if document is None or not self._can.save:
            return False
        try:
            answer = await self._client.request("pai/editor/save", {"uri": document.uri})
            return decode(EditorSaveResult, answer).saved
        except (JsonRpcException, ValidationError) as error:
            log.warning("the client did not save %s: %s", path, error)
            return False

    def publish(self, path: Path, text: str | None, problems: Sequence[Problem]) -> None:
        """Show the syntax errors of `text`, unless the document has another text by now."""
        self._problems.publish(path, text, problems)

    def changed_on_disk(self, paths: Sequence[Path]) -> None:
        """Tell the client, or the person, that these open files have another text on the disk."""
        found = (self._documents.at(path) for path in paths)
        open_uris = [document.uri for document in found if document is not None]
        if not open_uris:
            return
        if self._can.reload:
            params = EditorChangedOnDiskParams(uris=open_uris)
            self._client.notify("pai/editor/changedOnDisk", encode(params))
            return
        names = ", ".join(uris.name(uri) for uri in open_uris)
        verb = "has" if len(open_uris) == 1 else "have"
        self._client.show(
            types.MessageType.Info,
            f"{names} {verb} changed on the disk. The editor may still show the old text: reload "
            "it before you go on typing there.",
        )

    async def _closed(self, path: Path) -> None:
        """Wait a while until no document at or below the path is open."""
        ends = asyncio.get_running_loop().time() + FOLLOW_SECONDS
        while any(is_within(open_path, path) for open_path, _ in self._documents.files()):
            if asyncio.get_running_loop().time() > ends:
                log.warning("the client still has open what it moved or deleted: %s", path)
                return
            await asyncio.sleep(_POLL_SECONDS)

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


def _buffer(path: Path, document: OpenDocument) -> Buffer:
    return Buffer(path, document.uri, document.shown, document.version, document.settled_at)


async def _came(changed: asyncio.Future[None]) -> bool:
    """Whether it comes in time."""
    done, _ = await asyncio.wait({changed}, timeout=FOLLOW_SECONDS)
    return bool(done)
