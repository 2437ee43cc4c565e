"""Only what an edit newly broke."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pails.diagnostics.compare import Comparison, compare, map_lines
from pails.diagnostics.trees import check
from tests.unit.diagnostics.samples import SAMPLES, Sample


def compared(language: str, before: str, after: str) -> Comparison:
    old, found = check(before, language).found, check(after, language).found
    return compare(before, old, after, found)


BROKEN = st.sampled_from(SAMPLES)
LINES = st.lists(st.sampled_from(["a", "b", "", "x = (", "}"]), max_size=12)


@given(BROKEN)
def test_same_text_has_nothing_new(sample: Sample) -> None:
    result = compared(sample.language, sample.broken, sample.broken)
    assert result.new == []
    assert result.existing >= 1


@given(BROKEN)
def test_all_is_new_after_a_clean_text(sample: Sample) -> None:
    result = compared(sample.language, sample.valid, sample.broken)
    assert result.new
    assert result.existing == 0


@settings(max_examples=200)
@given(BROKEN, st.data())
def test_moved_lines_keep_their_old_errors(sample: Sample, data: st.DataObject) -> None:
    lines = sample.broken.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    added = [""] * data.draw(st.integers(1, 5))
    after = "\n".join([*lines[:at], *added, *lines[at:]])
    assert compared(sample.language, sample.broken, after).new == []


@given(BROKEN, st.sampled_from(["\r\n", "\r"]), st.sampled_from(["", "\ufeff"]))
def test_line_ends_and_byte_order_mark_make_nothing_new(
    sample: Sample, line_end: str, mark: str
) -> None:
    after = mark + sample.broken.replace("\n", line_end)
    assert compared(sample.language, sample.broken, after).new == []


@given(LINES, LINES)
def test_mapped_lines_are_equal_and_in_order(before: list[str], after: list[str]) -> None:
    lines = map_lines("\n".join(before), "\r\n".join(after))
    a, b = before or [""], after or [""]
    assert all(a[old - 1] == b[new - 1] for new, old in lines.items())
    olds = [lines[new] for new in sorted(lines)]
    assert olds == sorted(set(olds))


@given(LINES)
def test_every_line_of_the_same_text_is_mapped_to_itself(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert map_lines(text, text) == {n: n for n in range(1, text.count("\n") + 2)}


def test_lines_between_two_changes_are_mapped() -> None:
    assert map_lines("a\nb\nc\nd\ne", "a\nX\nY\nc\nd\nZ") == {1: 1, 4: 3, 5: 4}


def test_lines_between_two_changes_far_apart_are_mapped() -> None:
    before = "\n".join(str(n) for n in range(2000))
    after = "\n".join(["x", *(str(n) for n in range(1, 1999)), "y"])
    assert map_lines(before, after) == {n: n for n in range(2, 2000)}


def test_old_error_elsewhere_is_only_counted() -> None:
    before = "def f(a)\n    return a\n\n\ndef g(b):\n    return b\n"
    after = before.replace("return b", "return (b")
    result = compared("python", before, after)
    assert [it.start[0] for it in result.new] == [6]
    assert result.existing == 1


def test_mended_error_is_not_counted_and_what_it_hid_is_not_new() -> None:
    before = "def f(a)\n    return a\n\n\ndef g(b)\n    return b\n"
    after = before.replace("f(a)", "f(a):")
    result = compared("python", before, after)
    assert result == Comparison([], 1)


def test_error_caused_in_untouched_text_is_new() -> None:
    before = "function f() {\n  if (a) {\n    b();\n  }\n}\nc();\n"
    after = before.replace("  if (a) {\n", "  if (a)\n")
    result = compared("javascript", before, after)
    assert [(it.start, it.message) for it in result.new] == [((5, 1), 'unexpected "}"')]
    assert result.existing == 0


def test_consequences_of_a_new_error_are_not_listed() -> None:
    before = "def g(a):\n    return (a + 1)\n\ndef f(b):\n    return b\n"
    result = compared("python", before, before.replace("1)", "1"))
    assert [it.start for it in result.new] == [(2, 12)]


def test_rewritten_line_that_is_still_broken_is_told_again() -> None:
    result = compared("python", "x = (1\n", "x = (12\n")
    assert [it.start for it in result.new] == [(1, 5)]


@pytest.mark.parametrize("added", ["function h() { return 2 }\n", "// ende\n"])
def test_text_added_at_the_end_does_not_renew_an_unclosed_bracket(added: str) -> None:
    before = "function f() {\n  g();\n"
    assert compared("javascript", before, before + added) == Comparison([], 1)


def test_text_put_in_right_before_an_old_error_does_not_renew_it() -> None:
    before = "def g(a)\n    return a\n"
    assert compared("python", before, "def g(a)\n    b = 1\n    return a\n") == Comparison([], 1)


def test_line_changed_right_before_an_old_error_does_not_renew_it() -> None:
    before = '{"a": 1\n "b": 2}'
    assert compared("json", before, '{"a": 11\n "b": 2}') == Comparison([], 1)


def test_new_break_behind_an_old_error_that_stays_is_new() -> None:
    """The whole rest of the file counts as not understood because of the bracket of line 1."""
    before = "def g(b:\n    if b:\n        return (b)\n    return 2\n\n\ny = f(g(1))\n"
    result = compared("python", before, before.replace("(b)\n", "(b\n"))
    assert [it.start[0] for it in result.new] == [4]
    assert result.existing >= 1
