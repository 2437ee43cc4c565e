"""The one voice to the editor: notifications and requests, and what the client can do."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.lsp import uris

log = logging.getLogger(__name__)

SHOW_SECONDS = 5.0
"""How long a client may take to show a document; then it counts as not shown."""

Payload = Any
"""Parameters or a result: an lsprotocol type for methods of LSP, plain JSON data for ours."""


class Wire(Protocol):
    """How messages leave; see `transport.PailsProtocol`."""

    def notify(self, method: str, params: Payload = None) -> None: ...

    def notify_json(self, method: str, params: bytes) -> None: ...

    async def ask(self, msg_id: str, method: str, params: Payload) -> Payload: ...


class Client:
    """The client at the other end, known once it has sent `initialize`.

    `options` is `initializationOptions.pai`; None is a client that knows plain LSP only.
    """

    def __init__(self, wire: Wire, params: types.InitializeParams) -> None:
        self._wire = wire
        self._ids = count(1)
        self._folders = {
            uris.canonical(uri): path
            for uri in _folder_uris(params)
            if (path := uris.to_path(uri)) is not None
        }
        self.capabilities = params.capabilities
        self.options = _pai_options(params.initialization_options)

    @property
    def folders(self) -> Sequence[Path]:
        """The workspace folders, in the client's order."""
        return tuple(self._folders.values())

    def change_folders(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        for folder in event.removed:
            self._folders.pop(uris.canonical(folder.uri), None)
        for folder in event.added:
            if (path := uris.to_path(folder.uri)) is not None:
                self._folders[uris.canonical(folder.uri)] = path

    def notify(self, method: str, params: Payload = None) -> None:
        self._wire.notify(method, params)

    def notify_json(self, method: str, params: bytes) -> None:
        """A notification whose parameters are JSON text already."""
        self._wire.notify_json(method, params)

    async def request(self, method: str, params: Payload = None) -> Payload:
        """The client's result. Raises `JsonRpcException` for an error or a lost connection.

        When the caller is cancelled, the client is told that nobody waits any more.
        """
        return await self._wire.ask(f"pails-{next(self._ids)}", method, params)

    async def show_document(self, uri: str, *, take_focus: bool) -> bool:
        """Show a document; False when the client cannot, would not, or does not answer."""
        if not self.can_show_documents:
            return False
        params = types.ShowDocumentParams(uri, take_focus=take_focus)
        try:
            async with asyncio.timeout(SHOW_SECONDS):
                result = await self.request(types.WINDOW_SHOW_DOCUMENT, params)
        except (JsonRpcException, TimeoutError) as error:
            log.warning("the client did not show %s: %s", uri, error or "no answer")
            return False
        return isinstance(result, types.ShowDocumentResult) and result.success

    def show(self, level: types.MessageType, text: str) -> None:
        """Show a message to the person."""
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(level, text))

    @property
    def can_show_progress(self) -> bool:
        window = self.capabilities.window
        return bool(window and window.work_done_progress)

    @property
    def can_show_documents(self) -> bool:
        window = self.capabilities.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def can_refresh_lenses(self) -> bool:
        workspace = self.capabilities.workspace
        return bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)

    @property
    def knows_text_documents(self) -> bool:
        """Whether it opens URIs of other schemes and asks us for their text."""
        workspace = self.capabilities.workspace
        return bool(workspace and workspace.text_document_content)

    @property
    def can_apply_edits(self) -> bool:
        workspace = self.capabilities.workspace
        return bool(workspace and workspace.apply_edit)

    @property
    def knows_versioned_edits(self) -> bool:
        workspace = self.capabilities.workspace
        return bool(
            workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes
        )

    def knows_operation(self, kind: types.ResourceOperationKind) -> bool:
        """Whether an edit of its workspace may create, rename or delete files."""
        workspace = self.capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        known = edit.resource_operations if edit and edit.document_changes else None
        return kind in (known or ())


def _folder_uris(params: types.InitializeParams) -> list[str]:
    if params.workspace_folders:
        return [folder.uri for folder in params.workspace_folders]
    if params.root_uri:
        return [params.root_uri]
    return [uris.from_path(Path(params.root_path))] if params.root_path else []


def _pai_options(options: object) -> Mapping[str, object] | None:
    """None unless there is a `pai` object."""
    pai = cast("dict[str, object]", options).get("pai") if isinstance(options, dict) else None
    return cast("dict[str, object]", pai) if isinstance(pai, dict) else None
