"""Truncation: what is kept, what is counted, and where it may cut."""

from hypothesis import given
from hypothesis import strategies as st

from pails.context.truncation import truncate


def test_a_text_that_fits_is_left_alone():
    assert truncate("short", 5).text == "short"


def test_head_and_tail_stay_and_the_count_is_exact():
    text = "".join(f"line {n}\n" for n in range(1000)) + "error: E\n"
    cut = truncate(text, 1000, hint="the rest is in out.txt")
    assert len(cut.text) <= 1000
    assert cut.text.startswith("line 0\nline 1\n")
    assert cut.text.endswith("error: E\n")
    head, _, tail = cut.text.partition("[…")
    tail = tail.partition("…]\n")[2]
    assert cut.dropped_chars == len(text) - len(head) - len(tail)
    assert cut.dropped_lines == text.count("\n") - head.count("\n") - tail.count("\n")
    assert f"{cut.dropped_chars:,} characters, {cut.dropped_lines} lines left out" in cut.text
    assert "the rest is in out.txt" in cut.text


def test_one_giant_line_keeps_both_ends():
    cut = truncate("a" + "x" * 5_000_000 + "z", 2000)
    assert len(cut.text) <= 2000
    assert (cut.text[0], cut.text[-1], cut.dropped_lines) == ("a", "z", 0)
    assert cut.text.count("x") + cut.dropped_chars == 5_000_000


@given(
    st.text(alphabet=["a", "中", "😀", "\n", "\u0301", "\u200d", "\r", "🇩", "🏽"], max_size=900),
    st.integers(150, 400),
)
def test_the_limit_holds_and_kept_plus_dropped_is_all(text, limit):
    cut = truncate(text, limit)
    assert len(cut.text) <= limit
    if cut.dropped_chars:
        head, _, rest = cut.text.partition("[… ")
        tail = rest.partition(" …]\n")[2]
        assert text.startswith(head.removesuffix("\n"))
        assert text.endswith(tail)
        assert len(head) - 1 <= len(text) - len(tail) - cut.dropped_chars <= len(head)
