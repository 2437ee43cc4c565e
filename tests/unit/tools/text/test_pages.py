"""Pages: joined they give back every line, whether the text is held or comes in pieces."""

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from pails.tools.text import pages
from pails.tools.text.lines import numbered_lines
from pails.tools.text.pages import (
    LINE_CHARS,
    PAGE_CHARS,
    Extract,
    Page,
    read_page,
    read_page_of_pieces,
)

Read = Callable[[Extract], Page]

_NEXT = re.compile(r"next: offset=(\d+)(?: column=(\d+))?\]?$")

# Long lines are made of short parts, so that they are found quickly.
PARTS = st.sampled_from(
    ["", "a", "你好", "😀", "e\u0301", "x" * 700, "漢" * 1500, "y" * 31_000, "\t"]
)
LINES = st.lists(st.lists(PARTS, max_size=3).map("".join), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def all_lines(read: Read) -> list[str]:
    """The lines of a text, read page after page as the notes lead."""
    lines: list[str] = []
    wanted = Extract()
    while True:
        page = read(wanted)
        assert len(page.text) <= PAGE_CHARS + 2 * LINE_CHARS
        shown = page.text.split("\n")
        going_on = _NEXT.search(page.notes[0]) if page.notes else None
        if wanted.column > 1:
            lines[-1] += shown[0].partition("\t")[2]
        for text in shown if wanted.column == 1 else ():
            body = text.partition("\t")[2]
            clipped = re.search(r"… \[[\d,]+ characters; next: offset=(\d+) column=(\d+)\]$", body)
            if clipped:
                body = body[: clipped.start()]
                number, column = int(clipped[1]), int(clipped[2])
                body += rest_of_line(read, number, column)
            lines.append(body)
        if going_on is None:
            return lines
        wanted = Extract(int(going_on[1]), column=int(going_on[2] or 1))


def rest_of_line(read: Read, number: int, column: int) -> str:
    rest = ""
    while True:
        page = read(Extract(number, column=column))
        assert not page.is_error
        rest += page.text.partition("\t")[2]
        going_on = _NEXT.search(page.notes[0])
        if going_on is None or int(going_on[1]) != number:
            return rest
        column = int(going_on[2])


@given(LINES, ENDS, st.booleans())
def test_the_pages_of_a_text_have_all_its_lines(lines, end, ends):
    text = end.join(lines) + (end if ends else "")
    if text:
        assert all_lines(lambda wanted: read_page(text, wanted)) == numbered_lines(text)


@given(LINES, ENDS, st.booleans(), st.integers(1, 5000))
def test_the_pages_of_pieces_are_those_of_the_text(lines, end, ends, size):
    text = end.join(lines) + (end if ends else "")
    if not text:
        return
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    line_end = "\n" if "\n" in text else "\r"

    def read(wanted: Extract) -> Page:
        return read_page_of_pieces(cut, wanted, line_end, "a file of 1 B")

    assert all_lines(read) == numbered_lines(text)
    beyond = read(Extract(len(numbered_lines(text)) + 1))
    assert beyond.is_error
    assert f"{len(numbered_lines(text))} lines, a file of 1 B" in beyond.notes[0]


@given(LINES, st.integers(1, 14), st.integers(1, 3), st.sampled_from([1, 2, 2001, 40_000]))
def test_a_page_of_pieces_says_the_same(lines, first, count, column):
    text = "\n".join(lines)
    if not text:
        return
    wanted = Extract(first, count, column)
    whole = read_page(text, wanted)
    parts = read_page_of_pieces([text[:7], text[7:]], wanted, "\n", "X")
    assert (whole.text, whole.lines, whole.is_error) == (parts.text, parts.lines, parts.is_error)
    known = f"{len(numbered_lines(text)):,} lines, {len(text):,} characters"
    if not whole.is_error:
        assert [note.replace(known, "X") for note in whole.notes] == list(parts.notes)


def test_pieces_are_taken_only_as_far_as_the_page_reaches():
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "line\n" * 1000

    page = read_page_of_pieces(endless(), Extract(5001), "\n", "a file of 9.9 GB")
    assert taken == 8
    assert page.notes == ("lines 5001-7000 of a file of 9.9 GB; next: offset=7001",)
    assert pages.PAGE_LINES == page.lines == 2000
