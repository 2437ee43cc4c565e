"""Which turns and changes of a session its rewinds have taken back, folded from the log."""

from dataclasses import dataclass

from pails.core.events import Rewound


@dataclass(frozen=True, slots=True)
class _Known:
    """A rewind, the turns that it goes back over, and its place among the events."""

    event: Rewound
    turns: frozenset[str]
    at: int


class RewindHistory:
    """Told of each turn that starts and of each rewind, in order of the log."""

    def __init__(self) -> None:
        self._turns: list[str] = []
        self._known: dict[str, _Known] = {}

    def start(self, turn_id: str) -> None:
        self._turns.append(turn_id)

    def add(self, event: Rewound, at: int = 0) -> None:
        """`at` is its place, in the numbers that `undone_files` is asked with, if it ever is."""
        known = event.to_turn_id in self._turns
        turns = self._turns[self._turns.index(event.to_turn_id) :] if known else []
        self._known[event.rewind_id] = _Known(event, frozenset(turns), at)

    def get(self, rewind_id: str) -> Rewound | None:
        known = self._known.get(rewind_id)
        return known and known.event

    @property
    def last(self) -> Rewound | None:
        """The last one that is in effect and not itself the undoing of another."""
        return next((known.event for known in reversed(self._in_effect())), None)

    def is_active(self, rewind_id: str) -> bool:
        """Whether nobody has taken it back, or that has been taken back itself."""
        return not any(
            other.undoes == rewind_id and self.is_active(other.rewind_id)
            for other in (known.event for known in self._known.values())
        )

    def in_talk(self, turn_id: str) -> bool:
        """Whether the turn is a part of the conversation."""
        return not any(k.event.talk and turn_id in k.turns for k in self._in_effect())

    def undone_files(self, turn_id: str, at: int) -> frozenset[str]:
        """The files of which is taken back what the turn had done to them at this place."""
        over = (k for k in self._in_effect() if turn_id in k.turns and k.at > at)
        return frozenset(path for known in over for path in known.event.files)

    def _in_effect(self) -> list[_Known]:
        return [
            known
            for rewind_id, known in self._known.items()
            if not known.event.undoes and self.is_active(rewind_id)
        ]
