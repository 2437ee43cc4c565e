"""The server's text is the client's text, after any edits, in every encoding."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from pails.core.errors import NotFoundError
from pails.core.ports import TextChange
from pails.lsp.documents import OpenDocuments
from pails.lsp.positions import Encoding

CODECS = {Encoding.UTF8: "utf-8", Encoding.UTF16: "utf-16-le", Encoding.UTF32: "utf-32-le"}
UNIT_BYTES = {Encoding.UTF8: 1, Encoding.UTF16: 2, Encoding.UTF32: 4}
TEXTS = st.text(alphabet="ab é中😀\r\n\f\u2028\x85", max_size=20)
URI = "file:///w/x.py"


def opened(text: str, encoding: Encoding = Encoding.UTF16, uri: str = URI) -> OpenDocuments:
    documents = OpenDocuments()
    documents.encoding = encoding
    documents.open(types.TextDocumentItem(uri, "python", 1, text))
    return documents


def change(
    documents: OpenDocuments, *changes: types.TextDocumentContentChangeEvent, version: int = 2
) -> None:
    document = types.VersionedTextDocumentIdentifier(version, URI)
    documents.change(types.DidChangeTextDocumentParams(document, list(changes)))


def partial(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> types.TextDocumentContentChangePartial:
    place = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(place, text)


class EditorModel:
    """A client's own idea of the text: lines of code units, written quite differently."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text, self.encoding = text, encoding

    def position(self, offset: int) -> tuple[int, int]:
        """Count line ends before the offset one character at a time."""
        line = start = index = 0
        while index < offset:
            if self.text[index] == "\n" or (
                self.text[index] == "\r" and self.text[index + 1 : index + 2] != "\n"
            ):
                line, start = line + 1, index + 1
            index += 1
        before = self.text[start:offset].encode(CODECS[self.encoding])
        return line, len(before) // UNIT_BYTES[self.encoding]

    def replace(self, start: int, end: int, text: str) -> types.TextDocumentContentChangePartial:
        """Edit, and say so as an editor would; it puts no place between `\\r` and `\\n`."""
        start, end = self.outside_line_end(start), self.outside_line_end(end)
        said = partial(self.position(start), self.position(end), text)
        self.text = self.text[:start] + text + self.text[end:]
        return said

    def outside_line_end(self, offset: int) -> int:
        inside = offset > 0 and self.text[offset - 1 : offset + 1] == "\r\n"
        return offset - 1 if inside else offset


@given(
    text=TEXTS,
    edits=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), TEXTS), max_size=6),
    encoding=st.sampled_from(Encoding),
)
def test_incremental_edits_agree(
    text: str, edits: list[tuple[float, float, str]], encoding: Encoding
) -> None:
    documents, editor = opened(text, encoding), EditorModel(text, encoding)
    for first, second, replacement in edits:
        start, end = sorted(int(share * len(editor.text)) for share in (first, second))
        change(documents, editor.replace(start, end, replacement))
        assert documents.require(URI).text == editor.text


@given(
    text=TEXTS,
    bounds=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    encoding=st.sampled_from(Encoding),
)
def test_our_edits_mean_what_we_meant(
    text: str, bounds: tuple[float, float], encoding: Encoding
) -> None:
    documents, editor = opened(text, encoding), EditorModel(text, encoding)
    start, end = sorted(editor.outside_line_end(int(share * len(text))) for share in bounds)
    [edit] = documents.require(URI).edits([TextChange(start, end, "新\n")])
    change(documents, types.TextDocumentContentChangePartial(edit.range, edit.new_text))
    assert documents.require(URI).text == text[:start] + "新\n" + text[end:]


def test_several_changes_apply_one_after_the_other() -> None:
    documents = opened("a😀b\r\nc")
    change(documents, partial((0, 1), (0, 3), ""), partial((0, 2), (1, 0), "-"))
    assert documents.require(URI).text == "ab-c"
    assert documents.require(URI).version == 2


def test_a_whole_new_text_and_an_empty_change() -> None:
    documents = opened("old")
    change(documents, types.TextDocumentContentChangeWholeDocument("new"))
    change(documents, version=3)
    assert (documents.require(URI).text, documents.require(URI).version) == ("new", 3)


def test_a_range_turned_round_is_turned_back() -> None:
    documents = opened("abcd")
    change(documents, partial((0, 3), (0, 1), ""))
    assert documents.require(URI).text == "ad"


def test_half_a_character_counts_one_unit_and_is_joined_when_the_other_half_comes() -> None:
    documents = opened("xy")
    change(documents, partial((0, 1), (0, 1), "\ud83d"))
    change(documents, partial((0, 2), (0, 2), "\ude00"))
    assert documents.require(URI).text == "x😀y"


def test_a_change_of_an_unknown_document_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    documents = OpenDocuments()
    change(documents, partial((0, 0), (0, 0), "x"))
    assert documents.get(URI) is None
    assert "not open" in caplog.text


def test_found_by_every_spelling_and_by_the_real_path() -> None:
    documents = OpenDocuments(lambda path: Path("/real") / path.name)
    documents.open(types.TextDocumentItem("file:///w/a%20b.py", "python", 1, "text"))
    assert documents.get("file:///w/a b.py") is not None
    assert documents.at(Path("/w/a b.py")) is not None
    assert documents.at(Path("/real/a b.py")) is not None
    assert documents.at(Path("/w/c.py")) is None
    documents.close("file:///w/a%20b.py")
    assert documents.at(Path("/real/a b.py")) is None
    with pytest.raises(NotFoundError, match="not open"):
        documents.require("file:///w/a b.py")


@pytest.mark.parametrize("order", [("link", "real"), ("real", "link")])
def test_a_file_that_is_open_by_two_names_is_found_as_long_as_one_is_open(
    order: tuple[str, str],
) -> None:
    real = Path("/w/real")
    documents = OpenDocuments(lambda _: real)
    for name in order:
        documents.open(types.TextDocumentItem(f"file:///w/{name}", "", 1, name))
    for name in order:
        found = documents.at(Path("/w") / name)
        assert found is not None
        assert found.text == name
    assert [(path, document.text) for path, document in documents.files()] == [
        (real, name) for name in order
    ]
    documents.close(f"file:///w/{order[1]}")
    left = documents.at(real)
    assert left is not None
    assert left.text == order[0]
    documents.close(f"file:///w/{order[0]}")
    assert (documents.at(real), list(documents.files())) == (None, [])


def test_untitled_documents_have_no_path() -> None:
    documents = opened("note", uri="untitled:Untitled-1")
    assert documents.require("untitled:Untitled-1").path is None


def test_listeners_see_the_finished_change() -> None:
    documents, seen = opened("ab"), []
    documents.listen(lambda document: seen.append((document.text, document.version)))
    change(documents, partial((0, 0), (0, 1), ""), partial((0, 0), (0, 0), "cc"))
    assert seen == [("ccb", 2)]
