"""Our syntax errors in the editor: shown as diagnostics, dropped when the person mends the line.

Only errors of the text that the document has are shown: those of another version would stand in
the wrong places, and say of a good text that it is broken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from pails.core.events import Problem, SourcePosition
from pails.lsp import uris
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.positions import code_units

SOURCE = "pails"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A diagnostic of ours, and the text that its line had when it was made."""

    diagnostic: types.Diagnostic
    line_text: str


class PublishedProblems:
    """What we have published, by canonical URI."""

    def __init__(self, client: Client, documents: OpenDocuments) -> None:
        self._client = client
        self._documents = documents
        self._shown: dict[str, list[_Shown]] = {}
        documents.listen(self._drop_touched, closed=self._drop_closed)

    def publish(self, path: Path, text: str | None, problems: Sequence[Problem]) -> None:
        """Replace what is shown for this file by the problems of this text of it."""
        document = self._documents.at(path)
        if document is not None and problems and document.shown.removeprefix(_BOM) != text:
            problems = ()
        uri = uris.from_path(path) if document is None else document.uri
        shown = [self._shown_problem(document, problem) for problem in problems]
        before = self._shown.pop(uris.canonical(uri), None)
        if shown:
            self._shown[uris.canonical(uri)] = shown
        if shown or before:
            self._send(uri, shown, document)

    def _drop_touched(self, document: OpenDocument) -> None:
        """Drop the problems whose line is no longer what it was: the person is mending it."""
        key = uris.canonical(document.uri)
        shown = self._shown.get(key)
        if not shown:
            return
        kept = [
            entry
            for entry in shown
            if document.lines.line(entry.diagnostic.range.start.line) == entry.line_text
        ]
        if len(kept) < len(shown):
            self._shown[key] = kept
            self._send(document.uri, kept, document)

    def _drop_closed(self, document: OpenDocument) -> None:
        """Nobody would tell us of changes to this file any more."""
        if self._shown.pop(uris.canonical(document.uri), None):
            self._send(document.uri, (), None)

    def _shown_problem(self, document: OpenDocument | None, problem: Problem) -> _Shown:
        line = problem.start.line - 1
        text = problem.source_line if document is None else document.lines.line(line)
        place = types.Range(
            self._position(document, problem, problem.start),
            self._position(document, problem, problem.end),
        )
        diagnostic = types.Diagnostic(
            place, problem.message, severity=types.DiagnosticSeverity.Error, source=SOURCE
        )
        return _Shown(diagnostic, text)

    def _position(
        self, document: OpenDocument | None, problem: Problem, place: SourcePosition
    ) -> types.Position:
        """Ours count lines and code points from 1. Of a closed file we know one line only."""
        line, column = place.line - 1, place.column - 1
        if document is not None:
            text = document.lines.line(line)
        else:
            text = problem.source_line if place.line == problem.start.line else " " * column
        return types.Position(line, code_units(text[:column], self._documents.encoding))

    def _send(self, uri: str, shown: Sequence[_Shown], document: OpenDocument | None) -> None:
        params = types.PublishDiagnosticsParams(
            uri,
            [entry.diagnostic for entry in shown],
            version=None if document is None else document.version,
        )
        self._client.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
