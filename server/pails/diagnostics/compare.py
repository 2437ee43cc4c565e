"""Which errors an edit brought, and which were there before.

An error is an old one when it is in a line that the edit left as it was, and at that place the
text before had an error, or was not understood because of one. So everything in lines that the
edit wrote is new, and so is what an edit causes further down in lines it did not touch; lines that
only moved keep their old errors, and an error that an earlier one had hidden is not news.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from pails.diagnostics.syntax import Finding, Position

_DIFF_LIMIT = 3000
"""Lines between the first and the last change up to which a line diff is worth its time."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class Comparison(NamedTuple):
    """The errors that the edit brought, and how many older ones remain."""

    new: list[Finding]
    existing: int


def compare(
    before: str, old: Sequence[Finding], after: str, found: Sequence[Finding]
) -> Comparison:
    """Part the errors `found` in the text after by what was `old` in the text before.

    What is nested in a new error is its consequence and counts neither as new nor as old.
    """
    regions = [finding.region for finding in old]
    lines = map_lines(before, after) if old else {}
    new: list[Finding] = []
    existing = 0
    head_is_new: bool | None = None
    for finding in found:
        is_new = not any(
            first <= place <= last
            for place in _places_before(finding, lines)
            for first, last in regions
        )
        if not is_new:
            existing += not finding.nested or bool(head_is_new)
        elif not (finding.nested and head_is_new):
            new.append(finding)
        if not finding.nested:
            head_is_new = is_new
    return Comparison(new, existing)


def _places_before(finding: Finding, lines: dict[int, int]) -> list[Position]:
    """Where the error's place and its anchor were in the text before, if their lines were."""
    return [
        (lines[line], column) for line, column in (finding.start, finding.anchor) if line in lines
    ]


def map_lines(before: str, after: str) -> dict[int, int]:
    """For each line of `after` that the edit left as it was, its number in `before`; from 1.

    The kind of line ends does not matter. Between the first and the last change lines are matched
    by a diff, or, where that would take too long, not at all.
    """
    a, b = _lines_of(before), _lines_of(after)
    shorter = min(len(a), len(b))
    head = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if a[-1 - i] != b[-1 - i]), most)
    lines = {i + 1: i + 1 for i in range(head)}
    lines |= {len(b) - i: len(a) - i for i in range(tail)}
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    if middle_a and middle_b and len(middle_a) + len(middle_b) <= _DIFF_LIMIT:
        for block in SequenceMatcher(None, middle_a, middle_b).get_matching_blocks():
            for i in range(block.size):
                lines[head + block.b + i + 1] = head + block.a + i + 1
    return lines


def _lines_of(text: str) -> list[str]:
    return _LINE_END.split(text.removeprefix("\ufeff"))
