"""What each turn did to one file, and whose its lines are: made of its chain of texts. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from pails.core.errors import StorageError
from pails.core.events import HunksResolved
from pails.core.hunks import Block, Hunk, hunk_ids
from pails.core.review import Origin
from pails.session.changes.file_chains import ChainStep, Write
from pails.session.changes.lineage import Author, Line, Lineage, LinedHunk

GetText = Callable[[str], str]
"""The kept text of an id. Raises `StorageError`."""

_NOTHING = LinedHunk(Hunk(Block(0, 0, 0, 0), "", ""), (), (), asked=False)
"""Stands for an empty file that was made or deleted, and for a move that changed no line."""


@dataclass(frozen=True, slots=True)
class Part:
    """A hunk under review."""

    id: str
    lined: LinedHunk

    @property
    def hunk(self) -> Hunk:
        return self.lined.hunk

    @property
    def is_empty(self) -> bool:
        return not self.hunk.old and not self.hunk.new


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one turn did to one file.

    `before` is the text before it, with what the person changed while the turn was at work, and
    `after` the text after its last write; None where there was, or is, no file. `parts` are the
    hunks between them, `dropped` those that were taken back while the turn was still at work.
    `verdicts` are by hunk id. `note` says why there are no parts where the texts are not kept.
    """

    turn_id: str
    before: str | None = None
    after: str | None = None
    moved_from: str = ""
    parts: tuple[Part, ...] = ()
    dropped: tuple[Part, ...] = ()
    verdicts: Mapping[str, HunksResolved] = field(default_factory=dict[str, HunksResolved])
    note: str = ""

    @property
    def taken_back(self) -> tuple[Part, ...]:
        """The parts, dropped ones too, that are not in the file because a person said so."""
        return tuple(part for part in (*self.parts, *self.dropped) if self.is_taken_back(part))

    def is_taken_back(self, part: Part) -> bool:
        verdict = self.verdicts.get(part.id)
        return verdict is not None and verdict.decision != "accepted"


class FileHistory:
    """Made once, of a whole chain; does not change after that."""

    def __init__(self, chain: Sequence[ChainStep], get: GetText) -> None:
        self._get = get
        self._changes: dict[str, ChangeSet] = {}
        self._verdicts: dict[str, dict[str, HunksResolved]] = {}
        self._first: dict[str, tuple[Write, bool]] = {}  # and whether the turn made the file
        self._lineage = Lineage()
        self._accepted: set[Line] = set()
        self.size = 0
        """Characters in the texts that this keeps."""
        for step, following in zip(chain, (*chain[1:], None), strict=True):
            try:
                self._take(step, following)
            except StorageError as error:
                self._lose(step, str(error))

    @property
    def changes(self) -> tuple[ChangeSet, ...]:
        """What each turn did, oldest first."""
        return tuple(self._changes.values())

    def origin(self, session_id: str, now: str) -> tuple[Origin, ...]:
        """The runs of the agent's lines in the text as it is now."""
        runs: list[Origin] = []
        number = 0
        for origin, group in groupby(self._lineage.lines_of(now), self._origin_of):
            first, number = number + 1, number + sum(1 for _ in group)
            if origin:
                turn_id, approved = origin
                runs.append(Origin(first, number, session_id, turn_id, approved))
        return tuple(runs)

    def _origin_of(
        self, line: Line
    ) -> tuple[str, Literal["asked", "accepted", "unreviewed"]] | None:
        if line.author is None:
            return None
        if line.author.asked:
            return line.author.turn_id, "asked"
        return line.author.turn_id, "accepted" if line in self._accepted else "unreviewed"

    def _take(self, step: ChainStep, following: ChainStep | None) -> None:
        if isinstance(step, HunksResolved):
            self._decide(step)
            return
        before, after = self._text(step.before_id), self._text(step.after_id)
        self._first.setdefault(step.turn_id, (step, before is None))
        self._lineage.edit(before or "")
        typed = step.proposed_id != ""
        wanted = self._text(step.proposed_id) if typed else after
        self._lineage.write(wanted or "", Author(step.turn_id, step.asked))
        if typed:  # into the agent's proposal, which the person then allowed
            self._lineage.edit(after or "")
        goes_on = isinstance(following, Write) and following.turn_id == step.turn_id
        if not goes_on:
            self._look(step, after)

    def _decide(self, step: HunksResolved) -> None:
        self._verdicts.setdefault(step.turn_id, {}).update(dict.fromkeys(step.hunk_ids, step))
        change = self._changes.get(step.turn_id)
        parts = change.parts if change else ()
        chosen = [part.lined for part in parts if part.id in step.hunk_ids]
        if step.decision == "accepted":
            self._accepted.update(line for lined in chosen for line in lined.lines)
        if not step.changed:
            return
        self._lineage.edit(self._text(step.before_id) or "")
        after = self._text(step.after_id) or ""
        if step.decision == "accepted":  # after it had been taken back
            there = set(self._lineage.lines)
            self._lineage.write(after, Author(step.turn_id))
            self._accepted.update(line for line in self._lineage.lines if line not in there)
        elif step.decision == "rejected":
            self._lineage.revert(chosen, after)
        else:
            self._lineage.edit(after)

    def _look(self, last: Write, after: str | None) -> None:
        """What the turn of this write has changed up to it."""
        turn_id = last.turn_id
        first, is_new = self._first[turn_id]
        text, hunks = self._lineage.change(turn_id)
        before = None if is_new and not text else text
        origin = first.moved_from or first.path
        moved_from = origin if origin != last.path else ""
        if not hunks and ((before is None) != (after is None) or moved_from):
            hunks = (_NOTHING,)
        earlier = self._changes.pop(turn_id, None)
        if earlier and earlier.note:
            self._changes[turn_id] = earlier
            return
        dropped = earlier.taken_back if earlier else ()
        ids = hunk_ids(origin, [lined.hunk for lined in hunks], {part.id for part in dropped})
        parts = tuple(Part(*pair) for pair in zip(ids, hunks, strict=True))
        verdicts = self._verdicts.setdefault(turn_id, {})
        if parts or dropped:
            self._changes[turn_id] = ChangeSet(
                turn_id, before, after, moved_from, parts, dropped, verdicts
            )
            self.size += len(before or "") + len(after or "")

    def _lose(self, step: ChainStep, why: str) -> None:
        """From here on nothing is known, until the next text that is kept."""
        self._lineage = Lineage()
        if isinstance(step, Write):
            note = f"What this turn did to the file cannot be shown. {why}"
            self._changes[step.turn_id] = ChangeSet(step.turn_id, note=note)

    def _text(self, text_id: str | None) -> str | None:
        return None if text_id is None else self._get(text_id)
