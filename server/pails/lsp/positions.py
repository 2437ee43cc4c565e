"""Positions as LSP counts them, and offsets as Python counts them.

A position is a line and a character, both from 0; the character counts the code units of the
encoding that was negotiated. An offset counts code points from the start of the text. Lines end
at `\\n`, `\\r\\n` and `\\r` and nowhere else: `str.splitlines` also ends them at a form feed or
U+2028, which no editor does.
"""

from bisect import bisect_right
from enum import StrEnum
from itertools import accumulate

from pails.core.text import split_lines


class Encoding(StrEnum):
    """What a character of a position counts; the values are those of the LSP specification."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class LineIndex:
    """Where the lines of one text begin; valid for just this text."""

    def __init__(self, text: str) -> None:
        self._text = text
        lines = split_lines(text)
        self._starts = [0, *accumulate(map(len, lines))]
        if lines and not lines[-1].endswith(("\n", "\r")):
            self._starts.pop()

    def __len__(self) -> int:
        """The number of lines; a text that ends with a line end has an empty last line."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """The line with this number, from 0, without its end; "" past the last line."""
        if not 0 <= number < len(self._starts):
            return ""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else None
        return self._text[self._starts[number] : end].rstrip("\r\n")

    def offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The offset of a position.

        Past the end of a line means its end, past the last line the end of the text, and inside a
        character its beginning.
        """
        if line >= len(self._starts):
            return len(self._text)
        return self._starts[line] + code_points(self.line(line), character, encoding)

    def position(self, offset: int, encoding: Encoding) -> tuple[int, int]:
        """The line and character of an offset; inside a `\\r\\n` means the end of the line."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset].rstrip("\r\n")
        return line, code_units(before, encoding)


def code_units(text: str, encoding: Encoding) -> int:
    """The length of a text in code units of the encoding."""
    match encoding:
        case Encoding.UTF8:
            return len(text) if text.isascii() else sum(map(_utf8_width, text))
        case Encoding.UTF16:
            return len(text) + (0 if text.isascii() else sum(char > "\uffff" for char in text))
        case Encoding.UTF32:
            return len(text)


def code_points(text: str, units: int, encoding: Encoding) -> int:
    """How many whole characters lie in the first `units` code units of a text."""
    if encoding is Encoding.UTF32 or text.isascii():
        return min(units, len(text))
    width = _utf8_width if encoding is Encoding.UTF8 else _utf16_width
    for index, char in enumerate(text):
        units -= width(char)
        if units < 0:
            return index
    return len(text)


def _utf8_width(char: str) -> int:
    if char < "\x80":
        return 1
    if char < "\u0800":
        return 2
    return 3 if char <= "\uffff" else 4


def _utf16_width(char: str) -> int:
    return 1 if char <= "\uffff" else 2
