"""Where a run is shown: the answer on one stream, everything around it on another."""

import unicodedata
from collections.abc import Mapping
from typing import TextIO

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}

# What could move the cursor, recolour the screen or turn text around is shown, never obeyed: a
# reply or a command's output must not be able to draw an approval of its own.
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)
}
_BIDI = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_SHOWN = _CONTROLS | _BIDI


def printable(text: str) -> str:
    """The text with line ends as LF and with control characters made visible."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def display_width(text: str) -> int:
    """How many columns a terminal gives to the text; a tab counts as one."""
    return sum(_column_count(character) for character in text)


def _column_count(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """Two streams that are often one terminal, so a row never starts in the middle of a line.

    Text that others wrote goes through `printable` before it gets here.
    """

    def __init__(self, answer: TextIO, rows: TextIO, environ: Mapping[str, str]) -> None:
        self._answer = answer
        self._rows = rows
        self._line_open = False
        self._prompt_open = False
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour = rows.isatty() and not plain
        self.has_reader = rows.isatty()
        """Whether somebody sees the rows, and so a question."""
        self.streams = answer.isatty()
        """Whether a person watches the answer; a file gets whole messages only."""

    def write_answer(self, text: str) -> None:
        """Add to the answer."""
        if text:
            self._answer.write(text)
            self._answer.flush()
            self._line_open = not text.endswith("\n")

    def close_line(self) -> None:
        """End the line that the answer left open, if it did."""
        if self._line_open:
            self.write_answer("\n")

    def row(self, text: str = "") -> None:
        """One line, or several, beside the answer."""
        self.close_line()
        self._write_row(text + "\n")

    def prompt(self, text: str) -> None:
        """A row that is left open: a person types behind it, until `prompt_answered`."""
        self.close_line()
        self._write_row(text)
        self._prompt_open = True

    def prompt_answered(self) -> None:
        """The person's Enter has ended the row."""
        self._prompt_open = False

    def _write_row(self, text: str) -> None:
        self._rows.write("\n" + text if self._prompt_open else text)
        self._rows.flush()
        self._prompt_open = False

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles, or as it is where there is no colour."""
        if not self.colour or not text:
            return text
        codes = ";".join(str(_CODES[style]) for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def diff(self, diff: str, indent: str = "  ") -> list[str]:
        """The lines of a unified diff, coloured and never wrapped, without the file names."""
        return [indent + self._paint_diff_line(line) for line in _body(printable(diff))]

    def _paint_diff_line(self, line: str) -> str:
        styles = {"+": "green", "-": "red", "@": "cyan"}
        style = styles.get(line[:1])
        return self.paint(line, style) if style else line


def _body(diff: str) -> list[str]:
    """The lines behind the two that name the files."""
    lines = diff.removesuffix("\n").split("\n") if diff else []
    named = len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    return lines[2:] if named else lines
