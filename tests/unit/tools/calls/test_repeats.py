"""The breaker for repeated calls."""

import pytest

from pails.core.errors import ModelStuckError
from pails.core.messages import ToolCall
from pails.core.ports import ToolResult
from pails.tools.calls.repeats import GIVE_UP_AT, HINT_AT, Repeats, in_a_row

READ = ToolCall("a", "read_file", '{"path": "a.py"}')
EDIT = ToolCall("b", "edit_file", '{"path": "a.py", "old": "x", "new": "y"}')
TEXT = ToolResult("1\tz")
FAILURE = ToolResult("a.py was not edited.", is_error=True, summary="not edited")

A, B, C = ("a", "{}", "one"), ("b", "{}", "two"), ("a", "{}", "other")


@pytest.mark.parametrize(
    ("latest_first", "count"),
    [
        ("", 0),
        ("a", 1),
        ("ab", 1),
        ("aa", 2),
        ("aaab", 3),
        ("abab", 2),
        ("ababab", 3),
        ("babac", 2),
        ("aca", 1),
        ("caaa", 1),
    ],
)
def test_how_often_in_a_row(latest_first: str, count: int):
    steps = [{"a": A, "b": B, "c": C}[letter] for letter in latest_first]
    assert in_a_row(steps) == count


def test_a_call_that_fails_again_and_again_is_told_so_and_then_given_up():
    repeats = Repeats()
    results = []
    for _ in range(GIVE_UP_AT - 1):
        results.append(repeats.hinted(EDIT, FAILURE))
        repeats.check()
    assert results[: HINT_AT - 1] == [FAILURE] * (HINT_AT - 1)
    hinted = results[HINT_AT - 1]
    assert hinted.text.startswith(FAILURE.text)
    assert "failed 3 times" in hinted.text and "different arguments" in hinted.text
    assert (hinted.is_error, hinted.summary) == (True, "not edited")
    repeats.hinted(EDIT, FAILURE)
    with pytest.raises(ModelStuckError, match=r"8 times.*kept"):
        repeats.check()


def test_two_calls_in_turn_are_a_circle_too():
    repeats = Repeats()
    texts = [
        repeats.hinted(call, result).text
        for _ in range(HINT_AT)
        for call, result in ((READ, TEXT), (EDIT, FAILURE))
    ]
    assert texts[-3:-1] == [FAILURE.text, TEXT.text]
    assert "same call" in texts[-1]


def test_a_call_that_went_well_may_mean_that_all_is_done():
    repeats = Repeats()
    *_, last = [repeats.hinted(READ, TEXT) for _ in range(HINT_AT)]
    assert "If the task is done" in last.text


def test_another_result_or_another_call_between_is_progress():
    repeats = Repeats()
    for number in range(2 * GIVE_UP_AT):
        result = ToolResult(f"{number} lines")
        assert repeats.hinted(READ, result) is result
        repeats.check()
    for _ in range(2):
        for _ in range(HINT_AT - 1):
            assert repeats.hinted(READ, TEXT) is TEXT
        assert repeats.hinted(EDIT, FAILURE) is FAILURE
