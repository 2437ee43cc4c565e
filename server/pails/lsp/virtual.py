"""Texts that a person wants to see and that are in no file: shown as documents, or else named.

A client that knows `workspace/textDocumentContent` opens them by a URI of ours and asks for their
text. Others get a private file. Where no document can be shown a message names that file.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from pails.core.errors import NotFoundError
from pails.lsp import uris
from pails.lsp.client import Client
from pails.lsp.methods import CONTENT_SCHEMES

BEFORE, CHANGES = CONTENT_SCHEMES
KeepText = Callable[[str, str], Awaitable[Path]]
"""Writes a text to a private file of ours, whose name ends with the given one; its path."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a URI of ours means: the changes that wait in a file, or its text before a turn."""

    scheme: str
    path: Path
    session_id: str = ""
    turn_id: str = ""

    @property
    def uri(self) -> str:
        """The path comes last in it, so that an editor knows the language."""
        path = uris.from_path(self.path).removeprefix("file:")
        suffix = ".diff" if self.scheme == CHANGES else ""
        query = f"?{quote(self.session_id)}/{quote(self.turn_id)}" if self.turn_id else ""
        return f"{self.scheme}:{path}{suffix}{query}"

    @property
    def name(self) -> str:
        return self.path.name + (".diff" if self.scheme == CHANGES else "")


def parse(uri: str) -> Content:
    """What a URI means, also as an editor has spelled it anew; raises `NotFoundError`."""
    parts = urlsplit(uri) if uris.is_uri(uri) else None
    scheme = parts.scheme.lower() if parts else ""
    if parts is None or scheme not in CONTENT_SCHEMES:
        raise NotFoundError(f"{uri} is no document of Pails.")
    path = uris.to_path(f"file://{parts.netloc}{parts.path}")
    session_id, _, turn_id = unquote(parts.query).partition("/")
    if path is None:
        raise NotFoundError(f"{uri} names no file.")
    if scheme == CHANGES:
        path = path.with_name(path.name.removesuffix(".diff"))
    return Content(scheme, path, session_id, turn_id)


class Viewer:
    """Shows texts to the person."""

    def __init__(self, client: Client, keep: KeepText) -> None:
        self._client = client
        self._keep = keep

    async def show(self, content: Content, text: str) -> None:
        """Show a text in the editor, or say where it is. Raises `StorageError`."""
        client = self._client
        if client.knows_text_documents and await client.show_document(content.uri, take_focus=True):
            return
        path = await self._keep(content.name, text)
        if not await client.show_document(uris.from_path(path), take_focus=True):
            client.show(
                types.MessageType.Info,
                f"Pails: this editor does not open {content.name} from here. It is in {path}",
            )
