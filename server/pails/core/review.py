"""What a review of the agent's changes shows: turns, their files, their hunks. Values only.

A change set is what one turn did to one file: the hunks between the text before the turn, with
what the person changed meanwhile taken into it, and the text after the turn's last write. A hunk's
id is made of its contents, so it stays the same while the lines around it move.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HunkState = Literal["pending", "accepted", "rejected", "superseded"]
"""`superseded`: its lines were changed again, by the person or a later turn, and are no longer
there to be accepted or rejected."""

HunkDecision = Literal["accepted", "rejected", "replaced"]
"""What a person decided about a hunk; the gate's `Decision` about a call is in `ports`."""


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """One hunk. `old` and `new` are whole lines with their ends.

    `old_line` is where it stood in the text before the turn, `line` where its `new` lines stand in
    the text as it is now (the buffer's, where the file is open); both count from 0. Of a hunk that
    is not there any more `line` is where it would be.
    """

    id: str
    state: HunkState
    old: str
    new: str
    old_line: int
    line: int
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class FileReview:
    """What one turn did to one file. `moved_from` is None but for a file that was moved."""

    path: Path
    hunks: tuple[ReviewHunk, ...]
    created: bool = False
    deleted: bool = False
    moved_from: Path | None = None
    note: str = ""
    """Why there are no hunks to be shown, where something is to be said about it."""


@dataclass(frozen=True, slots=True)
class TurnReview:
    """What one turn did."""

    turn_id: str
    title: str
    files: tuple[FileReview, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A hunk that a decision left as it was. `reason` is a sentence for a person."""

    hunk_id: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a decision about hunks."""

    resolved: tuple[str, ...]
    unresolved: tuple[Unresolved, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """A run of lines that the agent wrote: `first` to `last`, from 1, both included.

    `approved` says how it came to be: a person allowed the write, accepted the hunk, or neither.
    """

    first: int
    last: int
    session_id: str
    turn_id: str
    approved: Literal["asked", "accepted", "unreviewed"]
