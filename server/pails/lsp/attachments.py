"""What a prompt refers to, with its text taken from the open documents first."""

from pathlib import Path

from lsprotocol import types

from pails.core.errors import InvalidRequestError
from pails.core.ports import Attachment
from pails.core.text import join_surrogates
from pails.lsp import uris
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.protocol.base import Range
from pails.lsp.protocol.sessions import Attachment as SentAttachment


def from_wire(sent: SentAttachment, documents: OpenDocuments) -> Attachment:
    """An attachment as a client sent it.

    Raises `InvalidRequestError` for a selection in a document that is not open: only an editor
    that shows a text can have a part of it selected.
    """
    document = documents.get(sent.uri)
    path = path_or_name(sent.uri)
    if sent.kind == "diagnostics":
        return diagnostics(path, sent.range, sent.text or "")
    if sent.kind == "file" or sent.range is None:
        # The reader of the path prefers the open document; one without a file is only here.
        unsaved = document if uris.to_path(sent.uri) is None else None
        return Attachment("file", path, unsaved and join_surrogates(unsaved.text))
    if document is None:
        raise InvalidRequestError(
            f"{sent.uri} is not open, so nothing is selected in it. Open it, or attach the file."
        )
    return selection(document, lsp_range(sent.range))


def selection(document: OpenDocument, place: types.Range) -> Attachment:
    """The selected text. A selection that ends before the first character of a line ends above."""
    start, end = document.span(place)
    first, _ = document.lines.position(start, document.encoding)
    last, character = document.lines.position(end, document.encoding)
    if character == 0 and last > first:
        last -= 1
    text = join_surrogates(document.text[start:end])
    return Attachment("selection", path_or_name(document.uri), text, first + 1, last + 1)


def diagnostics(path: Path, place: Range | None, text: str) -> Attachment:
    """What a checker said about a place."""
    if place is None:
        return Attachment("diagnostics", path, text)
    return Attachment("diagnostics", path, text, place.start.line + 1, place.end.line + 1)


def lsp_range(place: Range) -> types.Range:
    return types.Range(
        types.Position(place.start.line, place.start.character),
        types.Position(place.end.line, place.end.character),
    )


def path_or_name(uri: str) -> Path:
    """The path of a document; for one without a file, its name."""
    return uris.to_path(uri) or Path(uris.name(uri))
