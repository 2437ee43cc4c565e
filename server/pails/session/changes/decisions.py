"""What a person's decision about hunks makes of the text as it is now. Pure.

A text is None where there is no file. What changed in it since the turn, by the person or a later
turn, stays in any case: a hunk whose own lines are not there any more is left, with the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pails.core.hunks import (
    Hunk,
    changed_blocks,
    placed_hunks,
    rebase_hunks,
)
from pails.core.text import split_lines
from pails.session.changes.file_history import ChangeSet, Part
from pails.tools.text.lines import dominant_line_end, fold, with_line_ends

CHANGED_SINCE = "Its lines have been changed since, so there is nothing left that it could change."
GONE = "The file is gone."
EXISTS = "There is a file of that name again; it was left as it is."
RUNS_TOGETHER = (
    "Without it, a last line that has no end would run into the line behind it. Change it by hand."
)
NOT_AGAIN = "It cannot be put back into the file as it is now. Change it by hand."
NO_LINES = "It has no lines that others could stand for. Accept or reject it."


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a part stands in the text as it is now, or would: `line` counts from 0."""

    part: Part
    line: int
    is_there: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """`text` is what the file should hold. `left` are parts to which nothing is done, and why."""

    text: str | None
    done: tuple[Part, ...] = ()
    left: tuple[tuple[Part, str], ...] = ()


def standings(change: ChangeSet, now: str | None) -> tuple[Standing, ...]:
    """Where the parts of a change stand."""
    if change.after is None or now is None:
        is_there = change.after is None and now is None
        return tuple(Standing(part, part.hunk.at.start, is_there) for part in change.parts)
    found = placed_hunks([part.hunk.inverse for part in change.parts], change.after, now)
    shift, result = 0, list[Standing]()
    for part, hunk in zip(change.parts, found, strict=True):
        if hunk:
            shift = hunk.at.start - part.hunk.at.new_start
        is_there = hunk is not None or part.is_empty or _is_partly_there(change, now)
        result.append(Standing(part, max(0, part.hunk.at.new_start + shift), is_there))
    return tuple(result)


def take_back(change: ChangeSet, parts: Sequence[Part], now: str | None) -> Outcome:
    """The text without these parts of the change."""
    there = {standing.part.id for standing in standings(change, now) if standing.is_there}
    reason = EXISTS if change.after is None else GONE if now is None else CHANGED_SINCE
    left = tuple((part, reason) for part in parts if part.id not in there)
    chosen = tuple(part for part in parts if part.id in there)
    if not chosen:
        return Outcome(now, left=left)
    if change.after is None:
        return Outcome(change.before, chosen, left)
    if change.before is None:
        kept = _persons_lines(change.after, now or "")
        return Outcome(kept or None, chosen, left)
    return _without(change.after, chosen, now or "", left)


def put_instead(change: ChangeSet, part: Part, text: str, now: str | None) -> Outcome:
    """The text with other lines in standing of this part's."""
    if change.after is None or part.is_empty:
        return Outcome(now, left=((part, NO_LINES),))
    if now is None:
        return Outcome(now, left=((part, GONE),))
    hunk = replace(part.hunk.inverse, new=_fitted(text, part.hunk, now))
    rebased = rebase_hunks([hunk], change.after, now)
    if rebased.conflicts:
        return Outcome(now, left=((part, _reason(hunk, change.after, now)),))
    return Outcome(rebased.text, (part,))


def put_back(change: ChangeSet, parts: Sequence[Part], now: str | None) -> Outcome:
    """The text with these parts of the change again, which had been taken back."""
    made_again = change.before is None and now is None
    gone_again = change.after is None and now == change.before
    if made_again or gone_again:
        return Outcome(change.after, tuple(parts))
    done: list[Part] = []
    left: list[tuple[Part, str]] = []
    text = now
    for part in parts:
        if change.before is None or change.after is None or now is None or part.is_empty:
            left.append((part, NOT_AGAIN))
            continue
        tried = rebase_hunks([one.hunk for one in (*done, part)], change.before, now)
        if tried.conflicts:
            left.append((part, NOT_AGAIN))
        else:
            text = tried.text
            done.append(part)
    return Outcome(text, tuple(done), tuple(left))


def _without(
    after: str, parts: Sequence[Part], now: str, left: tuple[tuple[Part, str], ...]
) -> Outcome:
    """All at once, and one after the other only where they do not go together."""
    rebased = rebase_hunks([part.hunk.inverse for part in parts], after, now)
    if not rebased.conflicts:
        return Outcome(rebased.text, tuple(parts), left)
    done: list[Part] = []
    text = now
    for part in parts:
        tried = rebase_hunks([one.hunk.inverse for one in (*done, part)], after, now)
        if tried.conflicts:
            left = (*left, (part, _reason(part.hunk.inverse, after, now)))
        else:
            text = tried.text
            done.append(part)
    return Outcome(text, tuple(done), left)


def _reason(hunk: Hunk, after: str, now: str) -> str:
    (found,) = placed_hunks([hunk], after, now)
    return RUNS_TOGETHER if found else CHANGED_SINCE


def _is_partly_there(change: ChangeSet, now: str) -> bool:
    """Whether a line is left of a file that the turn has made."""
    if change.before is not None or change.after is None:
        return False
    lines = split_lines(change.after)
    drift = changed_blocks(lines, split_lines(now))
    return sum(block.end - block.start for block in drift) < len(lines)


def _persons_lines(after: str, now: str) -> str:
    """The lines that have come since."""
    lines = split_lines(now)
    drift = changed_blocks(split_lines(after), lines)
    return "".join("".join(lines[block.new_start : block.new_end]) for block in drift)


def _fitted(text: str, hunk: Hunk, now: str) -> str:
    """A person's lines with the line ends of the file, the last one included."""
    end = dominant_line_end(now)
    folded = fold(text).text
    stood = fold(hunk.new or hunk.old).text
    if folded and not folded.endswith("\n") and stood.endswith("\n"):
        folded += "\n"
    return with_line_ends(folded, hunk.new, end)
