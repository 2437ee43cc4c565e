"""A page of a text: numbered lines, as many as fit, and how to go on. Pure.

Every character of a text is on some page: `next: offset=…` leads through the lines, and through a
line that is too long to be shown whole `column=…`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from pails.core.text import safe_cut
from pails.tools.text.lines import numbered_lines

PAGE_LINES = 2000
PAGE_CHARS = 30_000
LINE_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Extract:
    """What is wanted: `lines` lines from `first` on; with a `column` that line from there on.

    Lines and columns count from 1.
    """

    first: int = 1
    lines: int = PAGE_LINES
    column: int = 1

    @property
    def line_chars(self) -> int:
        """How many characters of a line are shown at most."""
        return LINE_CHARS if self.column == 1 else PAGE_CHARS


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text: numbered lines, how many, and what a reader should know about it."""

    text: str
    lines: int = 0
    notes: tuple[str, ...] = ()
    is_error: bool = False


@dataclass(slots=True)
class Line:
    """A line of `length` characters, of which `shown` are kept, from the wanted column on.

    It keeps one character more than a page shows, so that the cut can be seen to fall well.
    """

    shown: str = ""
    length: int = 0
    last: str = ""

    def add(self, part: str, wanted: Extract) -> None:
        """The line goes on with `part`."""
        start = wanted.column - 1 - self.length
        self.shown += part[max(0, start) : max(0, start + wanted.line_chars + 1)]
        self.length += len(part)
        self.last = part[-1:] or self.last

    def end(self, wanted: Extract) -> None:
        """The line has ended; a `\\r` before the `\\n` is not part of it."""
        if self.last == "\r":
            if wanted.column - 1 + len(self.shown) == self.length:
                self.shown = self.shown[:-1]
            self.length -= 1


def read_page(text: str, wanted: Extract) -> Page:
    """The part of a text that is wanted."""
    if not text:
        return Page("", notes=("empty file",))
    lines = numbered_lines(text)
    extent = f"{len(lines):,} lines, {len(text):,} characters"
    if wanted.first > len(lines):
        return _outside(f"no line {wanted.first}: {extent}")
    start, end = wanted.column - 1, wanted.column + wanted.line_chars
    found = (Line(line[start:end], len(line)) for line in islice(lines, wanted.first - 1, None))
    return _page(found, wanted, extent)


def read_page_of_pieces(pieces: Iterable[str], wanted: Extract, line_end: str, extent: str) -> Page:
    """The same of a text that comes in pieces, which may be too large to be held.

    `line_end` is `\\n`, or `\\r` in a text that has no other. `extent` says how large it is.
    """
    stream = _LineStream(pieces, wanted, line_end)
    lines = iter(stream)
    first = next(lines, None)
    if first is None:
        return _outside(f"no line {wanted.first}: {stream.count:,} lines, {extent}")
    return _page(chain((first,), lines), wanted, extent)


def _outside(note: str) -> Page:
    return Page("", notes=(note,), is_error=True)


class _LineStream:
    """The lines from the first wanted one on. `count` is how many lines have been seen."""

    def __init__(self, pieces: Iterable[str], wanted: Extract, line_end: str) -> None:
        self._pieces, self._wanted, self._line_end = pieces, wanted, line_end
        self._ended, self._is_open = 0, False

    @property
    def count(self) -> int:
        return self._ended + self._is_open

    def __iter__(self) -> Iterator[Line]:
        line = Line()
        for piece in filter(None, self._pieces):
            self._is_open = not piece.endswith(self._line_end)
            passed = piece.count(self._line_end)
            if self._ended + passed < self._wanted.first - 1:  # far faster than to split it
                self._ended += passed
                continue
            *ended, rest = piece.split(self._line_end)
            for part in ended:
                self._add(line, part)
                line.end(self._wanted)
                self._ended += 1
                if self._ended >= self._wanted.first:
                    yield line
                line = Line()
            self._add(line, rest)
        line.end(self._wanted)
        if line.length:
            yield line

    def _add(self, line: Line, part: str) -> None:
        if self._ended >= self._wanted.first - 1:
            line.add(part, self._wanted)


def _page(lines: Iterator[Line], wanted: Extract, extent: str) -> Page:
    """`lines` are those from the first wanted one on, of which there is one at least."""
    if wanted.column > 1:
        return _part_of_line(next(lines), wanted, has_more=next(lines, None) is not None)
    shown: list[str] = []
    room = PAGE_CHARS
    has_more = False
    for number, line in enumerate(lines, wanted.first):
        text = _numbered(number, line)
        room -= len(text) + 1
        has_more = len(shown) == wanted.lines or (room < 0 and bool(shown))
        if has_more:
            break
        shown.append(text)
    notes: tuple[str, ...] = ()
    if wanted.first > 1 or has_more:
        end = wanted.first + len(shown) - 1
        going_on = f"; next: offset={end + 1}" if has_more else ""
        notes = (f"lines {wanted.first}-{end} of {extent}{going_on}",)
    return Page("\n".join(shown), len(shown), notes)


def _numbered(number: int, line: Line) -> str:
    if line.length <= LINE_CHARS:
        return f"{number}\t{line.shown}"
    cut = safe_cut(line.shown, LINE_CHARS)
    rest = f"… [{line.length:,} characters; next: offset={number} column={cut + 1}]"
    return f"{number}\t{line.shown[:cut]}{rest}"


def _part_of_line(line: Line, wanted: Extract, *, has_more: bool) -> Page:
    """One long line from the column on."""
    number, column = wanted.first, wanted.column
    if column > line.length:
        return _outside(f"line {number} has {line.length:,} characters, no column {column}")
    shown = line.shown[: safe_cut(line.shown, PAGE_CHARS)]
    end = column - 1 + len(shown)
    note = f"line {number}, columns {column}-{end} of {line.length:,}"
    if end < line.length:
        note += f"; next: offset={number} column={end + 1}"
    elif has_more:
        note += f"; next: offset={number + 1}"
    return Page(f"{number}\t{shown}", 1, (note,))
