"""Hunks: they lead from one text to the other and back, and leave alone what others changed."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pails.core.hunks import apply_hunks, diff_hunks, diff_lines, revert_hunks, split_lines

LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\u2028\n", "e\r", "字\n"]), max_size=12
)
TEXTS = st.builds(lambda lines, last: "".join(lines) + last, LINES, st.sampled_from(["", "end"]))


@given(text=st.text(alphabet="ab\r\n\u2028\x0b😀"))
def test_lines_join_to_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(lines)


@given(before=TEXTS, after=TEXTS)
def test_hunks_lead_there_and_back(before: str, after: str) -> None:
    hunks = diff_hunks(before, after)
    assert apply_hunks(before, hunks) == after
    assert apply_hunks(after, [hunk.inverse for hunk in hunks]) == before
    assert all(hunk.old != hunk.new for hunk in hunks)
    for first, second in pairwise(hunks):
        assert first.at.end < second.at.start
        assert first.at.new_end < second.at.new_start


@given(before=TEXTS, after=TEXTS, data=st.data())
def test_any_of_the_hunks_can_be_taken_back(before: str, after: str, data: st.DataObject) -> None:
    hunks = diff_hunks(before, after)
    chosen = [hunk for hunk in hunks if data.draw(st.booleans())]
    kept = [hunk for hunk in hunks if hunk not in chosen]
    reverted = revert_hunks(chosen, after, after)
    assert reverted.conflicts == ()
    assert reverted.text == apply_hunks(before, kept)


@given(before=TEXTS, after=TEXTS, added=st.sampled_from(["P\n", "P\r\nQ\r\n"]), data=st.data())
def test_what_a_person_added_survives(
    before: str, after: str, added: str, data: st.DataObject
) -> None:
    """Without the hunks there is the old text with the addition, or a conflict is named."""
    lines = split_lines(after)
    assume(not lines or lines[-1].endswith(("\n", "\r")))
    place = data.draw(st.integers(0, len(lines)))
    now = "".join((*lines[:place], added, *lines[place:]))
    reverted = revert_hunks(diff_hunks(before, after), after, now)
    assert added in reverted.text
    if not reverted.conflicts:
        assert reverted.text.replace(added, "", 1) == before


def test_a_line_that_was_changed_since_is_a_conflict_and_stays() -> None:
    before, after = "one\ntwo\nthree\nfour\n", "one\n2\nthree\n4\n"
    now = "one\n2 of mine\nthree\n4\nfive\n"
    reverted = revert_hunks(diff_hunks(before, after), after, now)
    assert reverted.text == "one\n2 of mine\nthree\nfour\nfive\n"
    (conflict,) = reverted.conflicts
    assert (conflict.old, conflict.new) == ("two\n", "2\n")


def test_two_insertions_at_one_place_are_a_conflict() -> None:
    """The agent took lines out just where the person has put some in: which come first?"""
    before, after, now = "a\nold\nb\n", "a\nb\n", "a\nmine\nb\n"
    reverted = revert_hunks(diff_hunks(before, after), after, now)
    assert reverted.text == now
    assert len(reverted.conflicts) == 1


def test_a_person_may_write_right_beside_the_hunk() -> None:
    before, after = "a\nb\n", "a\nnew\nb\n"
    for now in ("a\nmine\nnew\nb\n", "a\nnew\nmine\nb\n"):
        reverted = revert_hunks(diff_hunks(before, after), after, now)
        assert (reverted.text, reverted.conflicts) == ("a\nmine\nb\n", ())


def test_a_last_line_without_an_end_runs_into_no_other() -> None:
    """The person took away the end of the last line, behind which the agent's lines had stood."""
    before, after = "a\nb\n", "a\n"
    reverted = revert_hunks(diff_hunks(before, after), after, "x\na")
    assert reverted.text == "x\na"
    assert len(reverted.conflicts) == 1


def test_moved_functions_stay_whole() -> None:
    """Lines that occur once hold the texts together; blank lines and brackets do not."""
    first, second = "def f():\n    x = 1\n    return x\n\n", "def g():\n    y = 2\n    return y\n\n"
    hunks = diff_hunks(first, second + first)
    assert [(hunk.old, hunk.new) for hunk in hunks] == [("", second)]


@pytest.mark.parametrize("size", [20_000])
def test_changes_far_apart_in_a_large_file_are_hunks_of_their_own(size: int) -> None:
    lines = [f"line {n}\n" if n % 3 else "\n" for n in range(size)]
    changed = [*lines]
    changed[1], changed[-2], changed[size // 2] = "first\n", "last\n", "middle\n"
    hunks = diff_hunks("".join(lines), "".join(changed))
    assert [hunk.new for hunk in hunks] == ["first\n", "middle\n", "last\n"]


def test_texts_without_a_common_line_are_one_hunk() -> None:
    before = "".join(f"old {n}\n" for n in range(3000))
    after = "".join(f"new {n}\n" for n in range(3000))
    (hunk,) = diff_hunks(before, after)
    assert (hunk.old, hunk.new) == (before, after)


def test_hunks_of_another_text_are_refused() -> None:
    hunks = diff_hunks("a\nb\n", "a\nc\n")
    with pytest.raises(ValueError, match="line 2"):
        apply_hunks("a\nx\n", hunks)


def test_a_hunk_as_a_diff_has_it_whatever_its_line_ends() -> None:
    assert diff_lines("一\r\n\n", "-\rz") == ["-一", "-", "+-", "+z"]
