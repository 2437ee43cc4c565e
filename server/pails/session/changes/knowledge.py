"""What the model knows of the files that it wrote: a fold of events.

It knows what it was told in the conversation as it is now. What it learned in a turn goes with that
turn when this leaves the conversation, and comes back with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pails.core.events import (
    Event,
    FileChanged,
    HunksResolved,
    Rewound,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)


@dataclass(frozen=True, slots=True)
class _Fact:
    """In this turn the model came to know that the file has this text, or None: that it is gone.

    `text_id` "" stands for a text that was not kept; `is_void`: it knows of no text any more.
    """

    turn_id: str
    path: str
    text_id: str | None = ""
    is_void: bool = False


@dataclass(slots=True)
class _Told:
    """A decision, and the turn in whose message the model was told of it; "" for none yet."""

    decision: HunksResolved
    turn_id: str = ""


class Knowledge:
    """Written by `apply` alone. `in_talk` says whether a turn is a part of the conversation."""

    def __init__(self, in_talk: Callable[[str], bool]) -> None:
        self.texts: dict[str, str | None] = {}
        """The id of the text that the model last knew, for each file that it wrote."""
        self._in_talk = in_talk
        self._facts: list[_Fact] = []
        self._decisions: list[_Told] = []
        self._telling: list[_Told] = []
        self._moves: set[tuple[str, str, str]] = set()  # turn, call and the path left behind
        self._running = ""

    @property
    def to_tell(self) -> tuple[HunksResolved, ...]:
        """Decisions of before the running turn that the model has not been told of."""
        return tuple(told.decision for told in self._telling)

    def apply(self, event: Event) -> None:
        """Take the event in. Most change nothing here."""
        match event:
            case TurnStarted():
                self._running = event.turn_id
                # What is decided from here on comes too late for this turn's message.
                self._telling = [told for told in self._decisions if self._is_due(told)]
            case TurnEnded() if event.turn_id == self._running:
                self._running = ""
            case UserMessageAdded() if event.message.origin == "person":
                for told in self._telling:
                    told.turn_id = event.turn_id
                self._telling = []
                for text in event.seen:
                    self._learn(_Fact(event.turn_id, text.path, text.text_id))
            case FileChanged():
                self._write(event)
            case HunksResolved() if event.changed:
                self._decisions.append(_Told(event))
                if event.moved_to:
                    self._move(event.path, event.moved_to)
            case Rewound():
                self._rewind(event)
            case _:
                pass

    def _is_due(self, told: _Told) -> bool:
        """Whether the model remembers what was decided about, and not the decision."""
        was_told = bool(told.turn_id) and self._in_talk(told.turn_id)
        return not was_told and self._in_talk(told.decision.turn_id)

    def _write(self, event: FileChanged) -> None:
        call = (event.turn_id, event.call_id)
        if event.moved_from:
            self._moves.add((*call, event.moved_from))
            self._learn(_Fact(event.turn_id, event.moved_from, is_void=True))
        if not event.deleted or (*call, event.path) not in self._moves:
            self._learn(_Fact(event.turn_id, event.path, event.after_id))

    def _learn(self, fact: _Fact) -> None:
        self._facts.append(fact)
        self._take(fact)

    def _take(self, fact: _Fact) -> None:
        if fact.is_void:
            self.texts.pop(fact.path, None)
        else:
            self.texts[fact.path] = fact.text_id

    def _move(self, path: str, target: str) -> None:
        """The file has its old path again, for good."""
        self._facts = [
            replace(fact, path=target) if fact.path == path else fact for fact in self._facts
        ]
        self._recall()

    def _rewind(self, event: Rewound) -> None:
        if self._running:  # a tool did it, whose result says so
            for path in event.files:
                self._learn(_Fact(self._running, path, is_void=True))
        elif event.talk:
            self._recall()

    def _recall(self) -> None:
        self.texts = {}
        for fact in self._facts:
            if self._in_talk(fact.turn_id):
                self._take(fact)
