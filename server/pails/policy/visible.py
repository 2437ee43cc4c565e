"""Text as a person must see it before deciding: nothing in it hides, moves or reorders.

`⟨` itself is marked too, so no ordinary text can pass for a mark, and two texts that differ in a
hidden character look different.
"""

import re
import unicodedata

_MARK = "⟨"
_INVISIBLE = frozenset(
    (
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    )
)
"""Characters that Unicode calls letters, marks or symbols and no font shows."""
_MANY_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){4,}")
_MANY_BLANKS = re.compile(r"[ \t]{40,}")


def visible(text: str) -> str:
    """The text with hidden, control and direction characters as `⟨U+202E⟩`, lines kept.

    Long stretches of nothing, which push the rest out of view, become a mark with their length.
    """
    marked = _marked(text, kept="\n\t")
    marked = _MANY_BLANK_LINES.sub(lambda m: f"\n⟨{m[0].count(chr(10)) - 1} blank lines⟩\n", marked)
    return _MANY_BLANKS.sub(lambda m: f"⟨{len(m[0])} blanks⟩", marked)


def visible_diff(diff: str) -> str:
    """A diff, line by line: a line end of the file is none of its hidden characters."""
    lines = (line.removesuffix("\r") for line in diff.split("\n"))
    return "\n".join(_marked(line, kept="\t") for line in lines)


def visible_line(text: str) -> str:
    """The same on one line: line ends and tabs are marked too, and nothing is shortened."""
    return _marked(text, kept="")


def _marked(text: str, kept: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in kept or _shows(c) else f"{_MARK}U+{ord(c):04X}⟩" for c in text)


def _shows(character: str) -> bool:
    # A joiner within an emoji is marked too: beside other text it would be invisible.
    if character in _INVISIBLE or character == _MARK:
        return False
    category = unicodedata.category(character)
    if category == "Zs":
        return character in " \u3000"  # the ideographic blank is wide, and common in Chinese
    return category not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
