"""What a prompt refers to, taken from the open documents."""

from pathlib import Path

import pytest
from lsprotocol import types

from pails.core.errors import InvalidRequestError
from pails.core.ports import Attachment
from pails.lsp import attachments
from pails.lsp.documents import OpenDocuments
from pails.lsp.protocol.base import Position, Range
from pails.lsp.protocol.sessions import Attachment as SentAttachment

PATH = Path("/w/x.py")
URI = "file:///w/x.py"


@pytest.fixture
def documents() -> OpenDocuments:
    documents = OpenDocuments()
    documents.open(types.TextDocumentItem(URI, "python", 1, "one 😀\ntwo\nthree"))
    return documents


def place(start: tuple[int, int], end: tuple[int, int]) -> Range:
    first, last = (Position(line=at[0], character=at[1]) for at in (start, end))
    return Range(start=first, end=last)


@pytest.mark.parametrize(
    ("start", "end", "text", "lines"),
    [
        ((0, 4), (0, 6), "😀", (1, 1)),
        ((0, 0), (1, 0), "one 😀\n", (1, 1)),
        ((0, 4), (2, 2), "😀\ntwo\nth", (1, 3)),
        ((1, 0), (99, 0), "two\nthree", (2, 3)),
        ((1, 0), (1, 0), "", (2, 2)),
    ],
)
def test_a_selection_has_its_text_and_lines(
    documents: OpenDocuments,
    start: tuple[int, int],
    end: tuple[int, int],
    text: str,
    lines: tuple[int, int],
) -> None:
    sent = SentAttachment(kind="selection", uri=URI, range=place(start, end))
    assert attachments.from_wire(sent, documents) == Attachment("selection", PATH, text, *lines)


def test_a_file_is_read_later_by_its_path_and_one_without_a_path_now(
    documents: OpenDocuments,
) -> None:
    sent = SentAttachment(kind="file", uri=URI)
    assert attachments.from_wire(sent, documents) == Attachment("file", PATH)
    documents.open(types.TextDocumentItem("untitled:Untitled-1", "python", 1, "not saved yet"))
    sent = SentAttachment(kind="file", uri="untitled:Untitled-1")
    assert attachments.from_wire(sent, documents).text == "not saved yet"


def test_a_selection_without_a_range_means_the_file(documents: OpenDocuments) -> None:
    sent = SentAttachment(kind="selection", uri=URI)
    assert attachments.from_wire(sent, documents).kind == "file"


def test_nothing_is_selected_in_a_closed_document(documents: OpenDocuments) -> None:
    sent = SentAttachment(kind="selection", uri="file:///z", range=place((0, 0), (0, 1)))
    with pytest.raises(InvalidRequestError, match="not open"):
        attachments.from_wire(sent, documents)


def test_diagnostics_bring_their_text(documents: OpenDocuments) -> None:
    sent = SentAttachment(kind="diagnostics", uri=URI, range=place((1, 0), (1, 3)), text="bad")
    found = attachments.from_wire(sent, documents)
    assert found == Attachment("diagnostics", PATH, "bad", 2, 2)


def test_a_document_without_a_file_goes_by_its_name() -> None:
    assert attachments.path_or_name("untitled:Untitled-1") == Path("Untitled-1")
