"""Truncation: what is kept, what is counted, and where it may cut."""

import re
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from pails.context.truncation import truncate


class Cut(NamedTuple):
    """A shortened text, taken apart at the line that says how much is missing."""

    head: str
    chars: int
    lines: int
    tail: str


def taken_apart(text: str) -> Cut:
    found = re.fullmatch(
        r"(.*?)\[… ([\d,]+) characters(?:, ([\d,]+) lines)? left out[^…]* …\]\n(.*)",
        text,
        re.DOTALL,
    )
    assert found, text
    chars, lines = (int((group or "0").replace(",", "")) for group in found.group(2, 3))
    return Cut(found[1], chars, lines, found[4])


def test_a_text_that_fits_is_left_alone():
    assert truncate("short", 5) == "short"


def test_head_and_tail_stay_and_the_count_is_exact():
    text = "".join(f"line {n}\n" for n in range(1000)) + "error: E\n"
    shortened = truncate(text, 1000, hint="the rest is in out.txt")
    assert len(shortened) <= 1000
    assert "left out; the rest is in out.txt …]" in shortened
    cut = taken_apart(shortened)
    assert cut.head.startswith("line 0\nline 1\n")
    assert cut.tail.endswith("error: E\n")
    assert cut.chars == len(text) - len(cut.head) - len(cut.tail)
    assert cut.lines == text.count("\n") - cut.head.count("\n") - cut.tail.count("\n")


def test_one_giant_line_keeps_both_ends():
    shortened = truncate("a" + "x" * 5_000_000 + "z", 2000)
    assert len(shortened) <= 2000
    cut = taken_apart(shortened)
    assert (cut.head[0], cut.tail[-1], cut.lines) == ("a", "z", 0)
    assert (cut.head + cut.tail).count("x") + cut.chars == 5_000_000


@given(
    st.text(alphabet=["a", "中", "😀", "\n", "\u0301", "\u200d", "\r", "🇩", "🏽"], max_size=900),
    st.integers(150, 400),
)
def test_the_limit_holds_and_kept_plus_dropped_is_all(text, limit):
    shortened = truncate(text, limit)
    assert len(shortened) <= limit
    if shortened == text:
        return
    cut = taken_apart(shortened)
    assert text.startswith(cut.head.removesuffix("\n"))
    assert text.endswith(cut.tail)
    assert len(cut.head) - 1 <= len(text) - len(cut.tail) - cut.chars <= len(cut.head)
