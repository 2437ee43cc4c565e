"""Where the hunks of a patch belong in a text, and the text with them. Pure.

Lines are found as `edit_file` finds them. Where the same lines stand several times, the anchors of
a hunk, the number that a diff gives, the end of the file and the hunk before it choose among them,
in this order.
"""

from collections.abc import Sequence

from pails.core.ports import TextChange
from pails.core.text import split_lines
from pails.tools.text.edit import EditError, EditPlan, apply_changes, find_lines
from pails.tools.text.lines import dominant_line_end
from pails.tools.text.patch_reader import PatchHunk


def apply_patch_hunks(text: str, hunks: Sequence[PatchHunk]) -> tuple[str, str] | EditError:
    """The text with all hunks in it, and notes for the model; each in the outcome of the last."""
    notes: list[str] = []
    floor, drift = 0, 0  # where the hunk before ended, and by how much what follows has moved
    for number, hunk in enumerate(hunks, 1):
        plan = _place(text, hunk, floor, drift)
        if isinstance(plan, EditError):
            words = plan.message.replace("`old`", "the old text").replace("`new`", "the new text")
            return EditError(f"hunk {number} of {len(hunks)}: {words}")
        if plan.note:
            notes.append(f"Hunk {number}: {plan.note}")
        if plan.changes:
            change = plan.changes[-1]
            text = apply_changes(text, plan.changes)
            floor = len(split_lines(text[: change.start + len(change.replacement)]))
        text = _with_last_end(text, hunk)
        drift += len(hunk.new) - len(hunk.old)
    return text, " ".join(notes)


def _place(text: str, hunk: PatchHunk, floor: int, drift: int) -> EditPlan | EditError:
    if hunk.old == hunk.new:
        return EditPlan(())
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    above = _below_anchors(lines, hunk.anchors, floor)
    if above is None:
        return EditError(f"no line is {hunk.anchors[-1]!r}, which it names behind @@.")
    line = len(lines) if hunk.line is None or hunk.at_end else hunk.line + drift
    if not hunk.old:
        return _insert(text, min(above if hunk.anchors else line, len(lines)), hunk.new)

    def choose(places: Sequence[int]) -> int | None:
        if hunk.anchors:
            return next((place for place in places if place >= above), None)
        if hunk.line is not None:
            return min(places, key=lambda place: abs(place - line))
        if hunk.at_end:
            return places[-1]
        later = [place for place in places if place >= floor]
        return later[0] if len(later) == 1 else None

    return find_lines(text, hunk.old, hunk.new, choose)


def _with_last_end(text: str, hunk: PatchHunk) -> str:
    """The text with an end of its last line, or without, where the hunk changes that."""
    if hunk.old_is_open == hunk.new_is_open or not hunk.new:
        return text
    end = next((end for end in ("\r\n", "\n", "\r") if text.endswith(end)), "")
    last = (split_lines(text.removesuffix(end)) or [""])[-1]
    if hunk.new_is_open:
        return text.removesuffix(end) if last == hunk.new[-1] else text
    open_last = "" if end else last
    return text + dominant_line_end(text) if open_last == hunk.new[-1] else text


def _below_anchors(lines: Sequence[str], anchors: Sequence[str], floor: int) -> int | None:
    """The number of the line below the last anchor; None when one of them is nowhere."""
    at = floor
    for anchor in anchors:
        wanted = anchor.strip()
        found = next((n for n in range(at, len(lines)) if lines[n].strip() == wanted), None)
        if found is None:  # many leave out what stands around a name, or begin from the top again
            found = next((n for n, line in enumerate(lines) if wanted in line), None)
        if found is None:
            return None
        at = found + 1
    return at


def _insert(text: str, line: int, new: Sequence[str]) -> EditPlan:
    """The lines put in before the line of this number, or behind the last one."""
    lines, end = split_lines(text), dominant_line_end(text)
    offset = sum(map(len, lines[:line]))
    inserted = "".join(f"{one}{end}" for one in new)
    if line and line == len(lines) and not lines[-1].endswith(("\n", "\r")):
        inserted = end + inserted.removesuffix(end)  # the last line has no end, and keeps none
    return EditPlan((TextChange(offset, offset, inserted),))
