"""Finding what an edit replaces. Pure: text in, changes out.

Matching disregards line ends; the changes apply to the original text, so that every character
outside of them stays as it is. Where nothing matches exactly, one near match may do, see `near`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pails.core.ports import TextChange
from pails.tools.lines import Folded, common_ends, dominant_line_end, fold, with_line_ends
from pails.tools.near import NearMatch, describe_nearest, find_near

_GUTTER = re.compile(r"^ *(\d+)(?:\t| ?[|│:→] ?)", re.MULTILINE)
_SHOWN_LINES = 10


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What to change. `note` is for the model: empty when the match was exact."""

    changes: tuple[TextChange, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class EditError:
    """Why nothing can be changed, and what would help."""

    message: str


def find_edit(text: str, old: str, new: str, *, replace_all: bool = False) -> EditPlan | EditError:
    """Where `old` stands in `text`, and the changes that make it `new`, verbatim.

    `old` must occur once, or at all with `replace_all`. The `\\n` in `new` become the line ends of
    the text.
    """
    if not old:
        return EditError("`old` is empty. To replace a whole file use write_file.")
    old_folded, new_folded = fold(old).text, _fold_like(new, old)
    if old_folded == new_folded:
        return EditError("`old` and `new` are the same: there is nothing to change.")
    folded = fold(text)
    places = _places(folded.text, old_folded, overlapping=not replace_all)
    if not places:
        return _without_exact_match(text, folded, old_folded, new_folded)
    if len(places) > 1 and not replace_all:
        lines = [folded.text.count("\n", 0, place) + 1 for place in places]
        return EditError(_ambiguous(len(places), lines))
    return EditPlan(_changes(text, folded, places, old_folded, new_folded))


def apply_changes(text: str, changes: Sequence[TextChange]) -> str:
    """The text after the changes. Raises `ValueError` when they overlap or lie outside."""
    parts: list[str] = []
    done = 0
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        if not done <= change.start <= change.end <= len(text):
            raise ValueError(f"change {change.start}-{change.end} overlaps or lies outside")
        parts += text[done : change.start], change.replacement
        done = change.end
    return "".join((*parts, text[done:]))


def _fold_like(new: str, old: str) -> str:
    """`new` with `\\n` as line ends. A lone `\\r` is one only if `old` uses it so."""
    folded = new.replace("\r\n", "\n")
    return folded.replace("\r", "\n") if "\r" in old.replace("\r\n", "") else folded


def _places(text: str, old: str, *, overlapping: bool) -> list[int]:
    places: list[int] = []
    place = text.find(old)
    while place >= 0:
        places.append(place)
        place = text.find(old, place + (1 if overlapping else len(old)))
    return places


def _changes(
    text: str, folded: Folded, places: Sequence[int], old: str, new: str
) -> tuple[TextChange, ...]:
    """One change a place, narrowed to where `old` and `new` differ."""
    line_end = dominant_line_end(text)
    prefix, suffix = common_ends(old, new)
    inserted = new[prefix : len(new) - suffix]

    def change(place: int) -> TextChange:
        start, end = folded.raw(place + prefix), folded.raw(place + len(old) - suffix)
        return TextChange(start, end, with_line_ends(inserted, text[start:end], line_end))

    return tuple(change(place) for place in places)


def _without_exact_match(text: str, folded: Folded, old: str, new: str) -> EditPlan | EditError:
    if _has_gutter(folded.text, old):
        return EditError(
            "`old` has line numbers at the start of its lines, as read_file shows them. They are "
            "not in the file: send the text alone."
        )
    near = find_near(folded.text, old, new)
    if isinstance(near, NearMatch):
        start, end = folded.raw(near.start), folded.raw(near.end)
        fitted = with_line_ends(near.replacement, text[start:end], dominant_line_end(text))
        return EditPlan((TextChange(start, end, fitted),), near.note)
    return EditError(near or describe_nearest(folded.text, old))


def _has_gutter(text: str, old: str) -> bool:
    lines = [line for line in old.split("\n") if line.strip()]
    gutters = [_GUTTER.match(line) for line in lines]
    if not lines or not all(gutters):
        return False
    numbers = [int(gutter[1]) for gutter in gutters if gutter]
    consecutive = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return consecutive or _GUTTER.sub("", old).strip() in text


def _ambiguous(count: int, lines: Sequence[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:_SHOWN_LINES])
    more = ", …" if count > _SHOWN_LINES else ""
    return (
        f"`old` occurs {count} times (lines {shown}{more}). Add lines around it until it is "
        "unique, or set replace_all."
    )
