"""Finding what an edit replaces. Pure: text in, changes out.

Matching disregards line ends; the changes apply to the original text, so that every character
outside of them stays as it is. Where nothing matches exactly, one near match may do, see `near`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pails.core.hunks import diff_hunks
from pails.core.ports import TextChange
from pails.core.text import common_ends, split_lines
from pails.tools.text.lines import Folded, dominant_line_end, fold, with_line_ends
from pails.tools.text.near import NoMatch, find_near

_GUTTER = re.compile(r"^ *(\d+)(?:\t| ?[|│:→] ?)", re.MULTILINE)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\([nt\"\\])")
_SHOWN_LINES = 10
_BOM = "\ufeff"


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
    if _BOM not in text:
        # A file's mark is not part of its text: one that a model sends would be doubled.
        old, new = old.removeprefix(_BOM), new.removeprefix(_BOM)
    if not old:
        return EditError("`old` is empty. To replace a whole file use write_file.")
    old_folded, new_folded = fold(old).text, _fold_like(new, old)
    if old_folded == new_folded:
        return EditError(
            "`new` is the same as `old`, which would change nothing. Put the lines to be changed "
            "into `old`, and what they should become into `new`."
        )
    folded = fold(text)
    places = _places(folded.text, old_folded, overlapping=not replace_all)
    if not places:
        escaped = _escaped_edit(text, old_folded, new_folded, replace_all=replace_all)
        return escaped or _without_exact_match(text, folded, old_folded, new_folded)
    if len(places) > 1 and not replace_all:
        return EditError(_ambiguous(folded.text, places))
    return EditPlan(_changes(text, folded, places, old_folded, new_folded))


def find_lines(
    text: str, old: Sequence[str], new: Sequence[str], choose: Callable[[Sequence[int]], int | None]
) -> EditPlan | EditError:
    """Like `find_edit` for whole lines, without their ends; `old` has at least one.

    `choose` gets the numbers (from 0) of the lines where `old` begins, when there are several; None
    is too many for it.
    """
    folded = fold(text)
    old_text, new_text = ("".join(line + "\n" for line in lines) for lines in (old, new))
    places = _line_places(folded.text, old_text)
    if not places:
        return _without_exact_match(text, folded, old_text, new_text)
    if len(places) > 1:
        numbers = [folded.text.count("\n", 0, place) for place in places]
        chosen = choose(numbers)
        if chosen is None:
            return EditError(_ambiguous(folded.text, places))
        places = [places[numbers.index(chosen)]]
    if places[0] + len(old_text) > len(folded.text):  # the last line has no end, and keeps none
        old_text, new_text = old_text[:-1], new_text.removesuffix("\n")
    return EditPlan(_changes(text, folded, places, old_text, new_text))


def _line_places(text: str, old: str) -> list[int]:
    """Where the lines `old`, which all have ends, stand as whole lines."""
    padded = f"\n{text}" if text.endswith("\n") or not text else f"\n{text}\n"
    return _places(padded, f"\n{old}", overlapping=True)


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


def narrowest(before: str, after: str) -> tuple[TextChange, ...]:
    """The one change that leads from one text to the other."""
    if before == after:
        return ()
    start, end = common_ends(before, after)
    # Editors have no position between the two halves of a line end.
    while start and before[start - 1] == "\r":
        start -= 1
    while end and before[len(before) - end] == "\n":
        end -= 1
    return (TextChange(start, len(before) - end, after[start : len(after) - end]),)


def changes_between(before: str, after: str) -> tuple[TextChange, ...]:
    """Changes of whole lines that lead from one text to the other; what is between them stays.

    They take time with the size of the texts.
    """
    starts = [0]
    for line in split_lines(before):
        starts.append(starts[-1] + len(line))
    return tuple(
        TextChange(starts[hunk.at.start], starts[hunk.at.end], hunk.new)
        for hunk in diff_hunks(before, after)
    )


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


def _escaped_edit(text: str, old: str, new: str, *, replace_all: bool) -> EditPlan | None:
    """The edit of a model that escaped its texts once too often, and means line ends by `\\n`."""
    meant = _unescaped(old)
    if "\n" in old or "\n" not in meant or not meant.strip():
        return None
    new = new if "\n" in new else _unescaped(new)
    plan = find_edit(text, meant, new, replace_all=replace_all)
    if isinstance(plan, EditError):
        return None
    return EditPlan(plan.changes, f"`\\n` was taken for a line end. {plan.note}".strip())


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], text)


def _without_exact_match(text: str, folded: Folded, old: str, new: str) -> EditPlan | EditError:
    if _has_gutter(folded.text, old):
        return EditError(
            "`old` has line numbers at the start of its lines, as read_file shows them. They are "
            "not in the file: send the text alone."
        )
    near = find_near(folded.text, old, new)
    if isinstance(near, NoMatch):
        return EditError(near.message + _perhaps_done(folded.text, new))
    start, end = folded.raw(near.start), folded.raw(near.end)
    fitted = with_line_ends(near.replacement, text[start:end], dominant_line_end(text))
    return EditPlan((TextChange(start, end, fitted),), near.note)


def _perhaps_done(text: str, new: str) -> str:
    """A hint for a model that sends an edit a second time."""
    place = text.find(new) if new.strip() else -1
    if place < 0:
        return ""
    line = text.count("\n", 0, place) + 1
    return (
        f"\n`new` is in the file already (line {line}). If this edit was made before, it is done."
    )


def _has_gutter(text: str, old: str) -> bool:
    lines = [line for line in old.split("\n") if line.strip()]
    gutters = [_GUTTER.match(line) for line in lines]
    if not lines or not all(gutters):
        return False
    numbers = [int(gutter[1]) for gutter in gutters if gutter]
    consecutive = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return consecutive or _GUTTER.sub("", old).strip() in text


def _ambiguous(text: str, places: Sequence[int]) -> str:
    # Only of the places shown: to count the lines before each of a million takes minutes.
    lines = [text.count("\n", 0, place) + 1 for place in places[:_SHOWN_LINES]]
    shown = ", ".join(str(line) for line in lines)
    more = ", …" if len(places) > _SHOWN_LINES else ""
    return (
        f"`old` occurs {len(places)} times (lines {shown}{more}). Add lines around it until it is "
        "unique, or set replace_all."
    )
