"""The editor's buffers, as the client tells of them: the truth about what is in the editor.

Everything here is synchronous and runs on the event loop, so that no handler ever sees a document
in the middle of a change. Documents are immutable: a change makes a new one.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from pails.core.errors import NotFoundError
from pails.core.text import join_surrogates
from pails.lsp import uris
from pails.lsp.positions import Encoding, LineIndex

if TYPE_CHECKING:  # making the classes of `core` would be felt in the answer to initialize
    from pails.core.ports import TextChange

log = logging.getLogger(__name__)

DocumentListener = Callable[["OpenDocument"], None]


@dataclass(frozen=True)
class OpenDocument:
    """One open document. `uri` is spelled as the client spells it; `path` None has no file."""

    uri: str
    version: int
    text: str
    encoding: Encoding
    settled_at: float | None = None
    """When it was opened or saved, in seconds since 1970; None when it has changed since."""

    @cached_property
    def path(self) -> Path | None:
        return uris.to_path(self.uri)

    @cached_property
    def shown(self) -> str:
        """The text as the rest of us sees it, which can always be encoded."""
        return join_surrogates(self.text)

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    def span(self, range: types.Range) -> tuple[int, int]:
        """Start and end of a range as offsets; one that is turned round is turned back."""
        start, end = (
            self.lines.offset(place.line, place.character, self.encoding)
            for place in (range.start, range.end)
        )
        return min(start, end), max(start, end)

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        first, last = (
            types.Position(*self.lines.position(offset, self.encoding)) for offset in (start, end)
        )
        return types.Range(first, last)

    def edits(self, changes: "Sequence[TextChange]") -> list[types.TextEdit]:
        """Changes of this text as LSP writes them."""
        return [
            types.TextEdit(self.range(change.start, change.end), change.replacement)
            for change in changes
        ]

    def changed(self, change: types.TextDocumentContentChangeEvent, version: int) -> "OpenDocument":
        """This document after one change of a `didChange`."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            text = change.text
        else:
            start, end = self.span(change.range)
            text = self.text[:start] + change.text + self.text[end:]
        return replace(self, text=_paired(text), version=version)


class OpenDocuments:
    """The open documents by URI and by path.

    `real_path` resolves links, so that a document is found by whichever path it is asked for; it
    gives None for what can be no file.
    """

    def __init__(self, real_path: Callable[[Path], Path | None] = lambda path: path) -> None:
        self.encoding = Encoding.UTF16
        self._real_path = real_path
        self._open: dict[str, OpenDocument] = {}
        self._names: dict[str, tuple[Path, Path]] = {}
        """By key, the path as the client names it and the real one."""
        self._keys: dict[Path, str] = {}
        self._listeners: list[DocumentListener] = []
        self._close_listeners: list[DocumentListener] = []

    def listen(
        self, listener: DocumentListener, closed: DocumentListener | None = None
    ) -> Callable[[], None]:
        """Call `listener` with each document that was opened or changed; returns how to stop.

        `closed` is called for good, with each document that was closed.
        """
        self._listeners.append(listener)
        if closed is not None:
            self._close_listeners.append(closed)
        return lambda: self._listeners.remove(listener)

    def open(self, item: types.TextDocumentItem) -> None:
        """A document was opened; opened twice, the later text counts."""
        text = _paired(item.text)
        document = OpenDocument(item.uri, item.version, text, self.encoding, time.time())
        key = uris.canonical(item.uri)
        if document.path is not None:
            self._names[key] = document.path, self._real_path(document.path) or document.path
            self._find_keys()
        self._keep(key, document)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the changes in order, each to the outcome of the one before."""
        key = uris.canonical(params.text_document.uri)
        document = self._open.get(key)
        if document is None:
            log.warning("change of a document that is not open: %s", params.text_document.uri)
            return
        version = params.text_document.version
        for change in params.content_changes:
            document = document.changed(change, version)
        self._keep(key, replace(document, version=version, settled_at=None))

    def saved(self, uri: str) -> None:
        """The client has written the document to the disk."""
        document = self.get(uri)
        if document is not None:
            self._open[uris.canonical(uri)] = replace(document, settled_at=time.time())

    def close(self, uri: str) -> None:
        key = uris.canonical(uri)
        document = self._open.pop(key, None)
        self._names.pop(key, None)
        self._find_keys()
        if document is not None:
            for listener in tuple(self._close_listeners):
                listener(document)

    def files(self) -> Iterator[tuple[Path, OpenDocument]]:
        """The open documents that are files, by their real paths."""
        return ((real, self._open[key]) for key, (_, real) in self._names.items())

    def get(self, uri: str) -> OpenDocument | None:
        return self._open.get(uris.canonical(uri))

    def at(self, path: Path) -> OpenDocument | None:
        """The open document of a file, by the path the client uses or by the real one.

        Nothing is resolved here: this is asked on the event loop, for every file that is read.
        """
        key = self._keys.get(path)
        return None if key is None else self._open.get(key)

    def require(self, uri: str) -> OpenDocument:
        """The open document, or `NotFoundError`."""
        document = self.get(uri)
        if document is None:
            raise NotFoundError(f"{uri} is not open in the editor. Open it and try again.")
        return document

    def _find_keys(self) -> None:
        """A file may be open by several names: each is found by its own first."""
        real = {real: key for key, (_, real) in self._names.items()}
        self._keys = real | {named: key for key, (named, _) in self._names.items()}

    def _keep(self, key: str, document: OpenDocument) -> None:
        self._open[key] = document
        for listener in tuple(self._listeners):
            listener(document)


def _paired(text: str) -> str:
    """The text with surrogate pairs joined that arrived as halves; lone halves stay.

    A half counts as one UTF-16 unit just as the editor counts it, so positions stay right.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        encoded = text.encode("utf-16-le", "surrogatepass")
        return encoded.decode("utf-16-le", "surrogatepass")
    return text
