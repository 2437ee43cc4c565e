"""What going back to before a turn does, as clients and the model are told of it. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pails.core.numbers import counted

How = Literal["restored", "merged", "broughtBack", "removed"]

_TOLD: dict[How, str] = {
    "restored": "back as before",
    "merged": "back as before, with your later changes kept",
    "broughtBack": "brought back",
    "removed": "removed, since the agent made it",
}
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class RewoundFile:
    """A file that changes. `path` is absolute; `how` says what becomes of it.

    restored: as it was before; merged: the same, with the person's later changes kept;
    broughtBack: it exists again; removed: the agent made it, and it exists no more.
    """

    path: str
    how: How


@dataclass(frozen=True, slots=True)
class RewindConflict:
    """A file that stays as it is. `path` is absolute; `reason` completes "… is left alone: …"."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RewindReport:
    """What a rewind does, or has done: then it has a `rewind_id`, by which it can be taken back.

    `turns` leave the conversation, or come back to it. `notes` are sentences about what of the
    agent's work is not known and so stays.
    """

    to_turn_id: str
    turns: tuple[str, ...] = ()
    files: tuple[RewoundFile, ...] = ()
    conflicts: tuple[RewindConflict, ...] = ()
    notes: tuple[str, ...] = ()
    rewind_id: str = ""


@dataclass(frozen=True, slots=True)
class TurnPoint:
    """A turn before which one can go back.

    `files` are those that its tools wrote, absolute. `ran_commands`: it may have changed others.
    `before` is the snapshot from before it, "" where there is none. `in_talk` is False when it
    has left the conversation by a rewind.
    """

    turn_id: str
    title: str
    files: tuple[str, ...]
    ran_commands: bool
    before: str
    in_talk: bool


def summary(report: RewindReport, shown: Sequence[str]) -> str:
    """What happens, in lines for a person. `shown` are the names of its files, then of its
    conflicts."""
    lines = list[str]()
    if report.turns:
        lines.append(f"{counted(len(report.turns), 'turn')} of the conversation")
    names = dict(zip((*report.files, *report.conflicts), shown, strict=True))
    for how, told in _TOLD.items():
        paths = [names[file] for file in report.files if file.how == how]
        if paths:
            lines.append(f"{counted(len(paths), 'file')} {told}: {_listed(paths)}")
    lines += [f"{names[item]} is left alone: {item.reason}" for item in report.conflicts]
    lines += report.notes
    return "\n".join(lines or ["Nothing changes."])


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
