"""What the agent did in which turn, folded from the log. Pure.

`changes.file_chains` folds the same events by file and drops what a rewind took back. Neither can
be made of the other: a plan needs the order across files, the commands, and what was taken back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pails.core.errors import NotFoundError
from pails.core.events import (
    Effect,
    Event,
    FileChanged,
    Rewound,
    SnapshotTaken,
    ToolCallStarted,
    TurnStarted,
)
from pails.core.rewind import TurnPoint
from pails.session.rewinding.rewind_history import RewindHistory


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A tool wrote a file: ids of its kept texts, as in `FileChanged`; `at` is its place there."""

    at: int
    path: str
    before_id: str | None
    after_id: str | None


@dataclass(slots=True)
class CommandRun:
    """A command ran: the names of the snapshots around it, "" for one that could not be taken."""

    at: int
    call_id: str
    before: str = ""
    after: str = ""


LoggedDeed = FileWrite | CommandRun
"""As the log has it; `snapshots.rewind.Deed` is the same with the contents of the files."""


@dataclass(slots=True)
class TurnDeeds:
    """What happened in one turn, in order. `before` and `after` are snapshots, "" for none."""

    turn_id: str
    title: str
    deeds: list[LoggedDeed] = field(default_factory=list["LoggedDeed"])
    before: str = ""
    after: str = ""

    @property
    def written(self) -> tuple[str, ...]:
        """The paths that tools wrote."""
        return tuple(dict.fromkeys(d.path for d in self.deeds if isinstance(d, FileWrite)))

    @property
    def commands(self) -> list[CommandRun]:
        return [deed for deed in self.deeds if isinstance(deed, CommandRun)]


class Deeds:
    """All turns of a session that have begun, and its rewinds."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.turns: dict[str, TurnDeeds] = {}
        self.rewinds = RewindHistory()
        for at, event in enumerate(events):
            self._take(at, event)

    def since(self, turn_id: str) -> list[TurnDeeds]:
        """The turn and all that came after it. Raises `NotFoundError`."""
        if turn_id not in self.turns:
            raise NotFoundError(
                f"This session has no turn {turn_id!r} that has begun. Nothing was changed."
            )
        turns = list(self.turns)
        return [self.turns[other] for other in turns[turns.index(turn_id) :]]

    def points(self) -> tuple[TurnPoint, ...]:
        return tuple(
            TurnPoint(
                turn.turn_id,
                turn.title,
                turn.written,
                bool(turn.commands),
                turn.before,
                self.rewinds.in_talk(turn.turn_id),
            )
            for turn in self.turns.values()
        )

    def _take(self, at: int, event: Event) -> None:
        match event:
            case TurnStarted():
                self.turns[event.turn_id] = TurnDeeds(event.turn_id, event.title)
                self.rewinds.start(event.turn_id)
            case FileChanged() if event.turn_id in self.turns:
                write = FileWrite(at, event.path, event.before_id, event.after_id)
                self.turns[event.turn_id].deeds.append(write)
            case ToolCallStarted(effect=Effect.EXECUTE) if event.turn_id in self.turns:
                _command(self.turns[event.turn_id], event.call_id, at)
            case SnapshotTaken() if event.turn_id in self.turns:
                _take_snapshot(self.turns[event.turn_id], event, at)
            case Rewound():
                self.rewinds.add(event, at)
            case _:
                pass


def _take_snapshot(turn: TurnDeeds, event: SnapshotTaken, at: int) -> None:
    of: TurnDeeds | CommandRun = _command(turn, event.call_id, at) if event.call_id else turn
    if event.moment == "before":
        of.before = event.snapshot_id
        return
    of.after = event.snapshot_id
    last = turn.deeds[-1] if turn.deeds else None
    if isinstance(last, CommandRun) and not last.after:  # it was cut off: the next one shows it
        last.after = event.snapshot_id


def _command(turn: TurnDeeds, call_id: str, at: int) -> CommandRun:
    """The command of this call; its snapshot from before it is told before it starts."""
    for command in turn.commands:
        if command.call_id == call_id:
            return command
    command = CommandRun(at, call_id)
    turn.deeds.append(command)
    return command
