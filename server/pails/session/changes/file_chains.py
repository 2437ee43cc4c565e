"""Which texts followed each other in each file that the agent wrote: a fold of events.

It keeps ids and no texts, so that it costs a running turn next to nothing. `file_history` makes
reviews and line origin of it, when somebody asks.
"""

from dataclasses import dataclass, replace

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    FileChanged,
    HunksResolved,
    Rewound,
    TurnStarted,
)


@dataclass(frozen=True, slots=True)
class Write:
    """One write of the agent. The ids are as in `FileChanged`; `asked`: a person allowed it."""

    turn_id: str
    call_id: str
    path: str
    before_id: str | None
    after_id: str | None
    moved_from: str = ""
    proposed_id: str | None = ""
    asked: bool = False


ChainStep = Write | HunksResolved
"""What changed a file, or was decided about it. Between two steps it is the person's."""

Chain = tuple[ChainStep, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A chain as it was before a rewind, and the path that the rest of it has after it."""

    path: str
    chain: Chain
    home: str


@dataclass(slots=True)
class _Rewind:
    """The turns and files that a rewind takes out, and the `cuts` by which it last did."""

    turns: frozenset[str]
    paths: tuple[str, ...]
    cuts: tuple[_Cut, ...] = ()
    is_undone: bool = False


class FileChains:
    """Written by `apply` alone.

    `chains` are the steps of each file by the path that it has now, oldest first. What a rewind
    took back is not among them. `titles` are all turns that started, in order.
    """

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        self.chains: dict[str, Chain] = {}
        self._asking: dict[str, tuple[str, str]] = {}  # turn and call of each open approval
        self._asked: set[tuple[str, str]] = set()
        self._rewinds: dict[str, _Rewind] = {}
        """By the id of the rewind, and by those of all that took it back, or took that back."""

    def apply(self, event: Event) -> None:
        """Take the event in. Most change nothing here."""
        match event:
            case FileChanged():
                self._write(event)
            case HunksResolved():
                self._decide(event)
            case TurnStarted():
                self.titles[event.turn_id] = event.title
            case ApprovalRequested():
                self._asking[event.approval_id] = (event.turn_id, event.call_id)
            case ApprovalResolved():
                call = self._asking.pop(event.approval_id, None)
                allowed = (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_SESSION)
                if call and event.choice in allowed:
                    self._asked.add(call)
            case Rewound():
                self._rewind(event)
            case _:
                pass

    def _write(self, event: FileChanged) -> None:
        call = (event.turn_id, event.call_id)
        write = Write(
            *call,
            event.path,
            event.before_id,
            event.after_id,
            event.moved_from,
            event.proposed_id,
            asked=call in self._asked,
        )
        if event.moved_from:
            write = self._follow(write)
        elif event.deleted and self._has_moved(write):
            return
        self._add(write.path, write)

    def _decide(self, event: HunksResolved) -> None:
        self._add(event.path, event)
        if event.moved_to:
            self.chains[event.moved_to] = self.chains.pop(event.path)

    def _follow(self, write: Write) -> Write:
        """A file takes its past along to its new path.

        The same call tells that it is gone from the old one, before or after this event.
        """
        past = self.chains.pop(write.moved_from, ())
        if past and isinstance(past[-1], Write) and _is_removal(past[-1], write):
            write = replace(write, before_id=past[-1].before_id)
            past = past[:-1]
        self.chains[write.path] = self.chains.get(write.path, ()) + past
        return write

    def _has_moved(self, removal: Write) -> bool:
        """Whether this removal belongs to a move that has been told of; then it is part of it."""
        for path, chain in self.chains.items():
            last = chain[-1]
            if isinstance(last, Write) and last.moved_from and _is_removal(removal, last):
                moved = replace(last, before_id=removal.before_id)
                self.chains[path] = (*chain[:-1], moved)
                return True
        return False

    def _add(self, path: str, step: ChainStep) -> None:
        self.chains[path] = (*self.chains.get(path, ()), step)

    def _rewind(self, event: Rewound) -> None:
        """Leave out the steps that were taken back, or take them in again."""
        if event.undoes:
            rewind = self._rewinds.get(event.undoes)
            if rewind is None:
                return
        else:
            turns = list(self.titles)
            first = turns.index(event.to_turn_id) if event.to_turn_id in self.titles else 0
            rewind = _Rewind(frozenset(turns[first:]), event.files, is_undone=True)
        self._rewinds[event.rewind_id] = rewind
        if rewind.is_undone:
            paths = [path for path in rewind.paths if path in self.chains]
            rewind.cuts = tuple(self._cut(path, rewind.turns) for path in paths)
        else:
            for cut in rewind.cuts:
                self._restore(cut)
        rewind.is_undone = not rewind.is_undone

    def _restore(self, cut: _Cut) -> None:
        now = self.chains.pop(cut.home, ())
        since = tuple(step for step in now if step not in cut.chain)
        self.chains[cut.path] = cut.chain + since

    def _cut(self, path: str, undone: frozenset[str]) -> _Cut:
        """Take these turns out of a chain. A move that was taken back gives the old path back."""
        chain = self.chains.pop(path)
        rest = tuple(step for step in chain if step.turn_id not in undone)
        home = path
        if rest:
            last = rest[-1]
            home = (last.moved_to if isinstance(last, HunksResolved) else "") or last.path
            self.chains[home] = rest
        return _Cut(path, chain, home)


def _is_removal(removal: Write, move: Write) -> bool:
    same_call = (removal.turn_id, removal.call_id) == (move.turn_id, move.call_id)
    return same_call and removal.path == move.moved_from and removal.after_id is None
