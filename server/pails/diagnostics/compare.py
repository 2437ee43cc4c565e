"""Which errors an edit brought, and which were there before.

An error is an old one when it is in a line that the edit left as it was, and at that place the
text before had an error, or was not understood because of one. So everything in lines that the
edit wrote is new, and so is what an edit causes further down in lines it did not touch; lines that
only moved keep their old errors, and an error that an earlier one had hidden is not news.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pails.core.hunks import Block, changed_blocks
from pails.diagnostics.syntax import Finding, Position

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

    The kind of line ends does not matter.
    """
    old, new = _lines_of(before), _lines_of(after)
    lines: dict[int, int] = {}
    behind, new_behind = 0, 0  # the last change
    for block in (*changed_blocks(old, new), Block(len(old), len(old), len(new), len(new))):
        for number in range(1, block.start - behind + 1):
            lines[new_behind + number] = behind + number
        behind, new_behind = block.end, block.new_end
    return lines


def _lines_of(text: str) -> list[str]:
    return _LINE_END.split(text.removeprefix("\ufeff"))
