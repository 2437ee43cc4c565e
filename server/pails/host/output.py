"""What a command printed, made readable and small: pure functions and two small collectors.

Bytes become text in this order: whole lines are decoded (UTF-8, else a fallback for that line
alone), control codes go, carriage-return progress keeps its first and last state, and only then
is the middle left out. A count of bytes left out is always exact and in UTF-8 bytes.
"""

import io
import locale
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONG_LINE = 64 * 1024
"""Bytes of a line that are held until its end comes; a longer line is passed on in pieces."""

HEAD_CHARS = 6_000
TAIL_CHARS = 12_000
"""What of a long output is kept. The end weighs more: that is where errors are summed up."""

LINE_HEAD_CHARS = 1_500
LINE_TAIL_CHARS = 500
"""What of one giant line is kept, so that it does not push out every other line."""

_HELD_HEAD_CHARS = 4 * HEAD_CHARS
_HELD_TAIL_CHARS = 16 * TAIL_CHARS
"""What is held before giant lines are shortened: several of them must fit."""

_CONTROL_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\x0b\x0c") + b"\x7f"
_VISIBLE_CONTROLS: dict[int, str | None] = {
    **dict.fromkeys(_CONTROL_BYTES),
    0: "\N{SYMBOL FOR NULL}",  # it separates names (`find -print0`): without it they would run on
}
_TO_LINE_START = re.compile(r"\x1b\[[01]?G")
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles and links
    r"|[PX^_][^\x1b\n]*\x1b\\"  # strings for the terminal
    r"|[ -/]*[0-~]"  # character sets and single functions
    r")"
)
# Tried only where a run begins: a long run without a newline would else take quadratic time.
_RETURNS_BEFORE_LINE_END = re.compile(r"(?<!\r)\r+\n")
_OVERSTRUCK = re.compile(r"[^\b\r\n]\x08")


class LineReader:
    """Turns chunks of bytes into clean text, a whole line at a time; memory is bounded."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, data: bytes) -> str:
        """The text that is complete with this chunk, often ending in a newline; may be empty."""
        data = self._pending + data
        end = data.rfind(b"\n") + 1
        ready, rest = data[:end], data[end:]
        if len(rest) > LONG_LINE:
            rest = _first_and_last_state(rest)
        if len(rest) > LONG_LINE:
            cut = _safe_cut(rest)
            ready, rest = ready + rest[:cut], rest[cut:]
        self._pending = rest
        return _readable(ready)

    def finish(self) -> str:
        """The last line, which had no newline."""
        rest, self._pending = self._pending, b""
        return _readable(rest)


def decode(data: bytes) -> str:
    """The text of whole lines; only a line that is not UTF-8 is read in another encoding."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(_decode_line(line) for line in data.splitlines(keepends=True))


def strip_controls(text: str) -> str:
    """The text as a terminal would leave it: no colours, no control codes, progress collapsed."""
    text = _ESCAPE_SEQUENCE.sub("", _TO_LINE_START.sub("\r", text))
    return _OVERSTRUCK.sub("", collapse_progress(text)).translate(_VISIBLE_CONTROLS)


def collapse_progress(text: str) -> str:
    """Lines that were written over by carriage returns, as their first and their last state."""
    if "\r" not in text:
        return text
    lines = _RETURNS_BEFORE_LINE_END.sub("\n", text).split("\n")
    return "\n".join(_collapse_line(line) for line in lines)


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


def _readable(data: bytes) -> str:
    text = decode(data)
    # Most output has no control codes; to find that out in bytes is ten times faster.
    has_controls = len(data.translate(None, _CONTROL_BYTES)) != len(data)
    return strip_controls(text) if has_controls else text


def _decode_line(line: bytes) -> str:
    # The locale's encoding is what most programs write; GBK is what Chinese ones write besides.
    for encoding in ("utf-8", locale.getencoding(), "gb18030"):
        try:
            return line.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return line.decode("utf-8", "backslashreplace")


def _collapse_line(line: str) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    return "\n".join(dict.fromkeys([*states[:1], *states[-1:]]))


def _first_and_last_state(line: bytes) -> bytes:
    """An unfinished line of progress without the states between; others come back unchanged."""
    states = [state for state in line.split(b"\r") if state.strip()]
    if len(states) < 3:
        return line
    ending = b"\r" if line.endswith(b"\r") else b""
    return states[0] + b"\r" + states[-1] + ending


def _safe_cut(line: bytes) -> int:
    """Where a line without end may be cut: neither within a character nor a control sequence."""
    end = len(line)
    nearby = end - 256
    escape = line.rfind(b"\x1b", nearby)
    if escape > 0:  # no character of any encoding holds this byte
        return escape
    # A byte below 0x30 is a character by itself in UTF-8 and in every encoding of East Asia.
    for index in range(end - 1, nearby, -1):
        if line[index] < 0x30:
            return index + 1
    while end > nearby and line[end - 1] & 0xC0 == 0x80:
        end -= 1
    return end - 1 if line[end - 1] >= 0xC0 else end
