"""A text as the parser has it, in bytes, and as people do, in lines and columns.

Imported by the child process that parses, see `syntax`.
"""

import re
from bisect import bisect_right
from functools import cached_property

Position = tuple[int, int]
"""Line and column, both from 1; columns count code points."""

_SHOWN_LINE = 160
_LONE_RETURN = re.compile(rb"\r(?!\n)")


class Source:
    """A text as bytes, with its lines. A lone carriage return ends a line as a line feed does.

    A byte order mark at the start is not part of the text.
    """

    def __init__(self, text: str) -> None:
        # Half a surrogate pair becomes "?", which keeps the count of code points.
        data = text.removeprefix("\ufeff").encode("utf-8", "replace")
        self.data = _LONE_RETURN.sub(b"\n", data) if b"\r" in data else data

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def position(self, offset: int) -> Position:
        """The place of a byte as people count."""
        line = bisect_right(self._line_starts, offset)
        return line, len(self.text(self._line_starts[line - 1], offset)) + 1

    def point(self, offset: int) -> tuple[int, int]:
        """The row and the column of a byte as tree-sitter counts them: from 0, in bytes."""
        return self.data.count(b"\n", 0, offset), offset - self.data.rfind(b"\n", 0, offset) - 1

    def end_of_token_before(self, offset: int) -> int:
        while offset and self.data[offset - 1] in b" \t\n\r\f":
            offset -= 1
        return offset

    def line(self, line: int, column: int) -> str:
        """That line without its end, cut around the column when it is long."""
        starts = self._line_starts
        end = starts[line] if line < len(starts) else len(self.data)
        text = self.text(starts[line - 1], end).rstrip("\r\n")
        if len(text) <= _SHOWN_LINE:
            return text
        first = max(0, min(column - _SHOWN_LINE // 2, len(text) - _SHOWN_LINE))
        cut = text[first : first + _SHOWN_LINE]
        return ("…" if first else "") + cut + ("…" if first + _SHOWN_LINE < len(text) else "")

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where each line begins; only asked for where there are errors."""
        return [0, *(match.end() for match in re.finditer(b"\n", self.data))]
