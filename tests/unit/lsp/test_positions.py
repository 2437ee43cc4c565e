"""Offsets and positions agree with the editor's, whatever the text and the encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.lsp.positions import Encoding, LineIndex, code_points, code_units

CODECS = {Encoding.UTF8: "utf-8", Encoding.UTF16: "utf-16-le", Encoding.UTF32: "utf-32-le"}
UNIT_BYTES = {Encoding.UTF8: 1, Encoding.UTF16: 2, Encoding.UTF32: 4}
TEXTS = st.text(alphabet="ab é中😀\r\n\f\u2028\x85\t", max_size=40)


@pytest.mark.parametrize(
    ("encoding", "character"), [(Encoding.UTF8, 5), (Encoding.UTF16, 3), (Encoding.UTF32, 2)]
)
def test_characters_beyond_the_bmp_count_by_encoding(encoding: Encoding, character: int) -> None:
    index = LineIndex("a😀b\n😀x")
    assert index.offset(0, character, encoding) == 2
    assert index.position(2, encoding) == (0, character)
    # The astral character on the first line does not move the second one.
    assert index.position(5, encoding) == (1, {"utf-8": 4, "utf-16": 2, "utf-32": 1}[encoding])


def test_only_real_line_ends_end_lines() -> None:
    index = LineIndex("a\u2028b\x0cc\x85d\r\ne\rf\ng")
    assert [index.line(number) for number in range(len(index))] == [
        "a\u2028b\x0cc\x85d",
        "e",
        "f",
        "g",
    ]


def test_a_final_line_end_begins_an_empty_line() -> None:
    index = LineIndex("x\r\n")
    assert len(index) == 2
    assert index.offset(1, 0, Encoding.UTF16) == 3
    assert index.position(3, Encoding.UTF16) == (1, 0)


def test_positions_outside_are_clamped() -> None:
    index = LineIndex("ab\r\ncd")
    assert index.offset(0, 99, Encoding.UTF16) == 2, "before the line end, not behind it"
    assert index.offset(99, 0, Encoding.UTF16) == 6
    assert index.position(99, Encoding.UTF16) == (1, 2)
    assert index.position(-1, Encoding.UTF16) == (0, 0)
    assert index.line(2) == index.line(-1) == ""


def test_inside_a_line_end_means_the_end_of_the_line() -> None:
    assert LineIndex("ab\r\ncd").position(3, Encoding.UTF16) == (0, 2)


@pytest.mark.parametrize("encoding", [Encoding.UTF8, Encoding.UTF16])
def test_inside_a_character_means_its_beginning(encoding: Encoding) -> None:
    assert LineIndex("a😀b").offset(0, 2, encoding) == 1


@given(text=TEXTS, encoding=st.sampled_from(Encoding))
def test_every_offset_comes_back(text: str, encoding: Encoding) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        line, character = index.position(offset, encoding)
        inside_crlf = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
        assert index.offset(line, character, encoding) == offset - inside_crlf


@given(text=TEXTS, encoding=st.sampled_from(Encoding))
def test_code_units_are_those_of_the_codec(text: str, encoding: Encoding) -> None:
    units = code_units(text, encoding)
    assert units == len(text.encode(CODECS[encoding])) // UNIT_BYTES[encoding]
    assert code_points(text, units, encoding) == len(text)
