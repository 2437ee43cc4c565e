"""What a command printed, made readable.

Bytes become text in this order: whole lines are decoded (UTF-8, else a fallback for that line
alone), control codes go, carriage-return progress keeps its first and last state.
"""

import locale
import re

LONG_LINE = 64 * 1024
"""Bytes of a line that are held until its end comes; a longer line is passed on in pieces."""

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
