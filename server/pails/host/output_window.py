"""What a command printed, made small: the beginning and the end of it stay.

A count of bytes left out is always exact and in UTF-8 bytes.
"""

import io
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEAD_CHARS = 6_000
TAIL_CHARS = 12_000
"""What of a long output is kept. The end weighs more: that is where errors are summed up."""

LINE_HEAD_CHARS = 1_500
LINE_TAIL_CHARS = 500
"""What of one giant line is kept, so that it does not push out every other line."""

_HELD_HEAD_CHARS = 4 * HEAD_CHARS
_HELD_TAIL_CHARS = 16 * TAIL_CHARS
"""What is held before giant lines are shortened: several of them must fit."""


class OutputWindow:
    """The beginning and the end of an output of any size, and how many bytes it had."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_chars = 0

    def add(self, text: str) -> None:
        self.total_bytes += _size(text)
        room = _HELD_HEAD_CHARS - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail.append(text[-_HELD_TAIL_CHARS:])
            self._tail_chars += len(self._tail[-1])
        while self._tail_chars - len(self._tail[0] if self._tail else "") >= _HELD_TAIL_CHARS:
            self._tail_chars -= len(self._tail.popleft())

    def fold(self) -> tuple[str, int]:
        """The text to show, and how many bytes are left out of it."""
        tail = "".join(self._tail)
        missing = self.total_bytes - _size(self._head) - _size(tail)
        return fold(self._head, missing, tail)


def fold(head: str, missing: int, tail: str) -> tuple[str, int]:
    """Head and tail with markers for what is left out, and how many bytes that is in all.

    `missing` bytes once stood between the two.
    """
    lines = _shortened_lines(head, missing, tail)
    first = _count_fitting(lines, HEAD_CHARS)
    last = _count_fitting(reversed(lines[first:]), TAIL_CHARS)
    hidden = lines[first : len(lines) - last]
    if hidden:
        gap = _Line("", sum(line.original_bytes for line in hidden), "\n")
        lines = [*lines[:first], gap, *lines[len(lines) - last :]]
    return "".join(line.rendered for line in lines), sum(line.dropped for line in lines)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, or what is left of it: `dropped` bytes are missing between start and end."""

    start: str
    dropped: int = 0
    end: str = ""

    @property
    def chars(self) -> int:
        return len(self.start) + len(self.end)

    @property
    def original_bytes(self) -> int:
        return _size(self.start) + self.dropped + _size(self.end)

    @property
    def rendered(self) -> str:
        marker = f"[… {self.dropped} bytes left out …]" if self.dropped else ""
        return f"{self.start}{marker}{self.end}"


def _shortened_lines(head: str, missing: int, tail: str) -> list[_Line]:
    if not missing:
        return [_shortened(line) for line in _split_lines(head + tail)]
    start = head[head.rfind("\n") + 1 :]
    end = tail[: tail.find("\n") + 1] or tail
    broken = _shortened_ends(start, missing, end)
    before = _split_lines(head[: len(head) - len(start)])
    after = _split_lines(tail[len(end) :])
    return [*map(_shortened, before), broken, *map(_shortened, after)]


def _shortened(line: str) -> _Line:
    if len(line) <= LINE_HEAD_CHARS + LINE_TAIL_CHARS:
        return _Line(line)
    return _shortened_ends(line[:LINE_HEAD_CHARS], 0, line[LINE_HEAD_CHARS:])


def _shortened_ends(start: str, missing: int, end: str) -> _Line:
    dropped = _size(start[LINE_HEAD_CHARS:]) + missing + _size(end[:-LINE_TAIL_CHARS])
    return _Line(start[:LINE_HEAD_CHARS], dropped, end[-LINE_TAIL_CHARS:])


def _count_fitting(lines: Iterable[_Line], chars: int) -> int:
    count = 0
    for line in lines:
        chars -= line.chars
        if chars < 0:
            break
        count += 1
    return count


def _split_lines(text: str) -> Sequence[str]:
    """Split at `\\n` only; `str.splitlines` would also split at form feeds and U+2028."""
    return list(io.StringIO(text, newline="\n"))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
