"""What stays of a long output."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pails.host.output_window import HEAD_CHARS, TAIL_CHARS, OutputWindow

MARKER = re.compile(r"\[… (\d+) bytes left out …\]\n?")


def folded(text: str) -> tuple[str, int]:
    window = OutputWindow()
    for line in text.splitlines(keepends=True):
        window.add(line)
    assert window.total_bytes == len(text.encode())
    return window.fold()


def test_a_short_output_stays_whole():
    text = "line\n" * 1000
    assert folded(text) == (text, 0)


def test_the_middle_goes_and_the_count_is_exact():
    text = "".join(f"line {n} 汉\n" for n in range(100_000))
    shown, dropped = folded(text)
    (count,) = MARKER.findall(shown)
    assert int(count) == dropped
    head, tail = MARKER.split(shown)[::2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert dropped == len(text.encode()) - len((head + tail).encode())
    assert HEAD_CHARS - 20 < len(head) <= HEAD_CHARS
    assert TAIL_CHARS - 20 < len(tail) <= TAIL_CHARS


def test_giant_lines_leave_room_for_the_others():
    text = "a\n" + "x" * 200_000 + "\nb\n" + "汉" * 100_000 + "\nerror: E\n"
    shown, dropped = folded(text)
    assert shown.startswith("a\nxxx")
    assert shown.endswith("汉\nerror: E\n")
    assert dropped == sum(map(int, MARKER.findall(shown)))
    assert len(MARKER.sub("", shown).encode()) + dropped == len(text.encode())


@given(
    st.lists(st.tuples(st.integers(0, 40_000), st.sampled_from("x汉😀 "), st.sampled_from("\n,")))
)
def test_no_byte_is_lost_from_the_count(runs):
    text = "".join(character * length + end for length, character, end in runs)
    window = OutputWindow()
    for n in range(0, len(text), 10_000):
        window.add(text[n : n + 10_000])
    shown, dropped = window.fold()
    kept = re.sub(r"\[… \d+ bytes left out …\]", "", shown)
    extra = len(kept.encode()) + dropped - len(text.encode())
    assert extra in (0, 1)  # the newline behind the marker of a gap
    assert dropped == sum(map(int, MARKER.findall(shown)))
    assert len(shown) <= HEAD_CHARS + TAIL_CHARS + 500
