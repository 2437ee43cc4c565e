"""What a patch wants, and the reading of the hunks that all its forms share. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pails.core.text import first_line

END_OF_FILE = "*** End of File"
_RANGE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))?(?: @@|\s*$)")
_NO_END = "\\"
"""Begins the line behind a last line that has no end."""
_OLD_SIGNS, _NEW_SIGNS = ("", " ", "-"), ("", " ", "+")
_SIGNS = ("", " ", "+", "-", _NO_END)
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """Lines, without their ends, and what they become.

    `anchors` are lines that stand above it, the outermost first. `line` (from 0) is where a
    unified diff says that it begins; `at_end` that it ends with the file. `old_is_open` and
    `new_is_open` say that it ends with the file, whose last line has no end before or after.
    """

    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    line: int | None = None
    at_end: bool = False
    old_is_open: bool = False
    new_is_open: bool = False


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch wants of one file. `content` is the text of a file to be added.

    A file to be deleted may have hunks, which then show all of its text.
    """

    kind: Literal["add", "update", "delete"]
    path: str
    move_to: str | None = None
    hunks: tuple[PatchHunk, ...] = ()
    content: str = ""


class PatchError(ValueError):
    """The text is no patch; the message says where and why."""


class PatchReader:
    """Lines to be read one after the other, and the hunks that both forms share."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._due = (0, 0)
        """How many old and new lines are still to come, as the range above a hunk has it."""

    @property
    def next(self) -> str | None:
        """The line to be read next; None at the end."""
        return self._lines[self._at] if self._at < len(self._lines) else None

    def take(self) -> str:
        """Read the next line, of which there is one."""
        self._at += 1
        return self._lines[self._at - 1]

    def error(self, message: str) -> PatchError:
        """About the line read last."""
        shown = first_line(self._lines[self._at - 1], _SHOWN_CHARS)
        return PatchError(f"Line {self._at} ({shown!r}): {message}.")

    def is_header(self) -> bool:
        """Whether the next line begins something new, or there is none."""
        raise NotImplementedError

    def hunks(self) -> Iterator[PatchHunk]:
        """The hunks up to the next header. Raises `PatchError`."""
        while not self.is_header():
            hunk = self._hunk()
            if hunk != PatchHunk():
                yield hunk

    def _hunk(self) -> PatchHunk:
        anchors: list[str] = []
        number, self._due = None, (0, 0)
        while self.next is not None and self.next.startswith("@@"):
            line = self.take()
            if found := _RANGE.match(line):
                # Of no lines the number says behind which they would stand.
                number = int(found[1]) - (found[2] != "0")
                self._due = int(found[2] or 1), int(found[3] or 1)
            elif (anchor := line.strip("@ ")).strip(".…"):  # dots only stand for a number
                anchors.append(anchor)
        lines = self.signed_lines(_SIGNS, "each line of a hunk begins with a blank, + or -")
        at_end = self.next == END_OF_FILE
        if at_end:
            self.take()
        old = tuple(line[1:] for line in lines if line[:1] in _OLD_SIGNS)
        new = tuple(line[1:] for line in lines if line[:1] in _NEW_SIGNS)
        open_signs = {line[:1] for line, behind in pairwise(lines) if behind[:1] == _NO_END}
        is_open = (bool(open_signs.intersection(signs)) for signs in (_OLD_SIGNS, _NEW_SIGNS))
        return PatchHunk(old, new, tuple(anchors), number, at_end, *is_open)

    def signed_lines(self, signs: Sequence[str], rule: str) -> list[str]:
        lines: list[str] = []
        while not self.is_header() and not str(self.next).startswith(("@@", END_OF_FILE)):
            line = self.take()
            if line[:1] not in signs:
                raise self.error(rule)
            lines.append(line)
            old, new = self._due
            self._due = old - (line[:1] in _OLD_SIGNS), new - (line[:1] in _NEW_SIGNS)
        while lines and not lines[-1]:  # blank lines between two hunks
            lines.pop()
        return lines
