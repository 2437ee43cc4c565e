"""Which errors an edit brought, and which were there before.

An error is an old one when it is in a line that the edit left as it was, and at that place the
text before had an error too; or when the text was not understood there because of an error that is
mended now, for what an earlier error had hidden is not news. An error that is still there explains
no other: a new break behind it is new. So is everything in lines that the edit wrote, and what an
edit causes further down in lines it did not touch; lines that only moved keep their old errors.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pails.core.hunks import Block, changed_blocks
from pails.diagnostics.source import Position
from pails.diagnostics.syntax import Finding

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
    lines = map_lines(before, after) if old else {}
    earlier = _Earlier(old)
    places = [_places_before(finding, lines) for finding in found]
    earlier.note_remaining(places)
    new: list[Finding] = []
    existing = 0
    head_is_new: bool | None = None
    for finding, at in zip(found, places, strict=True):
        is_new = not earlier.explains(at)
        if not is_new:
            existing += not finding.nested or bool(head_is_new)
        elif not (finding.nested and head_is_new):
            new.append(finding)
        if not finding.nested:
            head_is_new = is_new
    return Comparison(new, existing)


class _Earlier:
    """The errors of the text before."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self._places = {place for it in findings for place in (it.start, it.anchor)}
        self._mended: list[tuple[Position, Position]] = []

    def note_remaining(self, places: Iterable[Sequence[Position]]) -> None:
        """These are the places of all that is found now; what is at none of them was mended."""
        remaining = {place for at in places for place in at}
        self._mended = [
            it.region for it in self._findings if not remaining.intersection((it.start, it.anchor))
        ]

    def explains(self, places: Sequence[Position]) -> bool:
        """Whether there was an error at one of these places, or one that hid it."""
        return any(
            place in self._places or any(first <= place <= last for first, last in self._mended)
            for place in places
        )


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
