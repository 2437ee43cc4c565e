"""Line ends: how a text has them, and how to compare texts without regard to them.

A line ends at `\\r\\n`, `\\n` or a lone `\\r`, as in the Language Server Protocol. Line *numbers*
that a model sees count `\\n` only where there is any, as ripgrep and compilers do.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

from pails.core.text import common_ends

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text with every line end as `\\n`. `raw` leads offsets back to the original."""

    text: str
    pairs: tuple[int, ...] = ()
    """Offsets in `text` of those line ends that are two characters in the original."""

    def raw(self, offset: int) -> int:
        return offset + bisect_left(self.pairs, offset)


def fold(text: str) -> Folded:
    """The text with every line end as `\\n`."""
    if "\r" not in text:
        return Folded(text)
    pairs = tuple(m.start() - count for count, m in enumerate(re.finditer("\r\n", text)))
    return Folded(text.replace("\r\n", "\n").replace("\r", "\n"), pairs)


def dominant_line_end(text: str) -> str:
    """The line end that the text has most of; `\\n` where it has none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda end: counts[end])


def with_line_ends(new: str, replaced: str, line_end: str) -> str:
    """`new` (line ends `\\n`) made to fit where `replaced` (raw) stands.

    When both have as many line ends, each keeps its own, so that a mixed file stays as mixed as it
    was; else all become `line_end`.
    """
    ends = _LINE_END.findall(replaced)
    parts = new.split("\n")
    if len(ends) != len(parts) - 1:
        return new if line_end == "\n" else line_end.join(parts)
    return parts[0] + "".join(end + part for end, part in zip(ends, parts[1:], strict=True))


def fitted_to(base: str, content: str) -> str:
    """A whole new `content` for a file that was `base`, in that file's line ends.

    What is equal at the start and at the end stays raw, so that a mixed file is not flipped there.
    A last line that ended goes on to end, though models like to forget it. A byte order mark is
    not part of the text and is taken off.
    """
    content = content.removeprefix("\ufeff")
    if "\r" not in base and "\n" not in base:
        return content
    folded, new = fold(base), content.replace("\r\n", "\n")
    if folded.text.endswith("\n") and new and not new.endswith(("\n", "\r")):
        new += "\n"
    prefix, suffix = common_ends(folded.text, new)
    start, end = folded.raw(prefix), folded.raw(len(folded.text) - suffix)
    middle = new[prefix : len(new) - suffix]
    return (
        base[:start] + with_line_ends(middle, base[start:end], dominant_line_end(base)) + base[end:]
    )


def numbered_lines(text: str) -> list[str]:
    """The lines as they are numbered for the model, without their ends."""
    if "\n" not in text:
        lines = text.split("\r")
    else:
        lines = text.split("\n")
        if "\r" in text:
            lines = [line.removesuffix("\r") for line in lines]
    if lines[-1] == "":
        lines.pop()
    return lines
