"""The one way in which large results are shortened: head and tail stay, the middle is counted."""

import unicodedata
from dataclasses import dataclass

_JOINER = "\u200d"
# Room for the line that says what is missing, beside its hint.
_MARKER_ROOM = 90


@dataclass(frozen=True, slots=True)
class Truncated:
    """A text that fits; `dropped_chars` counts code points, `dropped_lines` their line ends."""

    text: str
    dropped_chars: int = 0
    dropped_lines: int = 0


def truncate(text: str, limit: int, hint: str = "", tail_share: float = 0.5) -> Truncated:
    """Shorten `text` to at most `limit` characters, head and tail kept, with a line in between.

    That line says exactly what is missing and, by `hint`, how to get it ("read it from x.txt").
    `tail_share` is the part of the room that the end gets: errors tend to stand there. Cuts fall on
    line ends where one is near, else between whole characters. Below about 100 characters plus the
    hint there is no room for head and tail: then only the line itself stays.
    """
    if len(text) <= limit:
        return Truncated(text)
    room = max(0, limit - _MARKER_ROOM - len(hint))
    tail_room = int(room * tail_share)
    head_end = _line_border(text, room - tail_room, back=True)
    tail_start = max(head_end, _line_border(text, len(text) - tail_room, back=False))
    dropped = text[head_end:tail_start]
    lines = dropped.count("\n")
    marker = _marker(len(dropped), lines, hint)
    head, tail = text[:head_end], text[tail_start:]
    before = "" if not head or head.endswith("\n") else "\n"
    return Truncated(f"{head}{before}{marker}\n{tail}", len(dropped), lines)


def safe_cut(text: str, index: int) -> int:
    """The nearest place at or before `index` where no visible character is cut in two."""
    index = min(index, len(text))
    lowest = max(0, index - 32)
    for place in range(index, lowest, -1):
        if place == len(text) or not _is_inside(text, place):
            return place
    return index if lowest else 0  # a text of combining marks only is cut somewhere after all


def _is_inside(text: str, place: int) -> bool:
    """Whether the character at `place` belongs to the one before it."""
    char, before = text[place], text[place - 1]
    return (
        unicodedata.combining(char) != 0
        or unicodedata.category(char) in {"Mn", "Me"}  # variation selectors are among them
        or _JOINER in {char, before}
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or ("\udc00" <= char <= "\udfff" and "\ud800" <= before <= "\udbff")
        or (before == "\r" and char == "\n")
        or (_is_flag_letter(char) and _flag_letters_before(text, place) % 2 == 1)
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, place: int) -> int:
    """Regional indicators right before `place`; two of them make one flag."""
    first = place
    while first > 0 and place - first < 32 and _is_flag_letter(text[first - 1]):
        first -= 1
    return place - first


def _line_border(text: str, index: int, *, back: bool) -> int:
    """A line start near `index`, on the side that drops more; else a safe cut there."""
    reach = 200
    if back:
        found = text.rfind("\n", max(0, index - reach), index)
        return found + 1 if found >= 0 else safe_cut(text, index)
    found = text.find("\n", max(0, index - 1), index + reach)
    if found >= 0:
        return found + 1
    while safe_cut(text, index) != index:  # forwards: the tail must not outgrow its room
        index += 1
    return index


def _marker(chars: int, lines: int, hint: str) -> str:
    counted = f"{chars:,} characters" + (f", {lines:,} lines" if lines else "")
    return f"[… {counted} left out{'; ' + hint if hint else ''} …]"
