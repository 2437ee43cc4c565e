"""Small rules about text that every border shares."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import cast

_JOINER = "\u200d"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ENDS_ONLY_FOR_PYTHON = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def join_surrogates(text: str) -> str:
    """The same text, encodable: paired surrogates become one character, lone ones U+FFFD.

    JSON escapes such as `\\ud83d` can put half a character into a string, which no log, hash or
    request body can encode. Text from outside passes here once, at the border.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def join_surrogates_within(data: object) -> object:
    """JSON data with all its texts, names included, as `join_surrogates` makes them."""
    if isinstance(data, str):
        return join_surrogates(data)
    if isinstance(data, dict):
        fields = cast("dict[str, object]", data).items()
        return {join_surrogates(name): join_surrogates_within(value) for name, value in fields}
    if isinstance(data, list):
        return [join_surrogates_within(entry) for entry in cast("list[object]", data)]
    return data


def split_lines(text: str) -> list[str]:
    """The lines with their ends, which are `\\r\\n`, `\\n` and a lone `\\r`, as in LSP."""
    if any(end in text for end in _ENDS_ONLY_FOR_PYTHON):
        return _LINE.findall(text)
    return text.splitlines(keepends=True)  # many times as fast, which large texts need


def common_ends(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """How much two texts, or two lists, share at their starts and, beyond that, at their ends."""
    shorter = min(len(one), len(other))
    prefix = _common_start(one, other, shorter)
    suffix = _common_end(one, other, shorter - prefix)
    return prefix, suffix


def _common_start(one: Sequence[object], other: Sequence[object], limit: int) -> int:
    """By halving, since comparing slices is far faster than comparing one by one."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: Sequence[object], other: Sequence[object], limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def shown_path(path: Path, workspace: Path) -> str:
    """The path as people and models read it: relative where it lies inside the workspace."""
    inside = path.is_relative_to(workspace)
    return shown_name((path.relative_to(workspace) if inside else path).as_posix())


def shown_name(name: str) -> str:
    """A name on one line that can be encoded, whatever bytes it has on the disk."""
    return join_surrogates(name).replace("\n", "\\n").replace("\r", "\\r")


def first_line(text: str, limit: int) -> str:
    """The first line that is not blank, in at most `limit` characters; `…` ends one cut short."""
    line = text.strip().partition("\n")[0].rstrip()
    return line if len(line) <= limit else f"{line[: safe_cut(line, limit - 1)]}…"


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
