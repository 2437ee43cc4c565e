"""Carrying out what a person decided about the hunks of one file.

What could be done is written like any other write and told as one event; what could not is left as
it was, with the reason.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pails.core.errors import StorageError
from pails.core.events import HunksResolved
from pails.core.ports import Emit, Texts
from pails.core.review import HunkDecision, Resolution, Unresolved
from pails.core.tasks import uninterrupted
from pails.session.answered import answered
from pails.session.changes.decisions import (
    CHANGED_SINCE,
    Outcome,
    put_back,
    put_instead,
    standings,
    take_back,
)
from pails.session.changes.file_history import ChangeSet, Part
from pails.session.changes.file_review import ReviewedFile, waiting
from pails.tools.files import places
from pails.tools.files.document import Unreadable, Unwritten, is_stale
from pails.tools.files.documents import Documents

TAKEN_BACK = "It has been taken back already."
_MORE_TRIES = 2
_VERBS: dict[HunkDecision, str] = {
    "accepted": "Accept",
    "rejected": "Reject",
    "replaced": "Replace",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person decided. `text` are the lines to be put in place of a hunk's."""

    decision: HunkDecision
    feedback: str = ""
    text: str = ""


class Resolver:
    """Decides about files of one session."""

    def __init__(self, documents: Documents, texts: Texts, emit: Emit) -> None:
        self._documents = documents
        self._texts = texts
        self._emit = emit

    async def resolve(
        self, file: ReviewedFile, hunk_ids: Sequence[str] | None, choice: Choice
    ) -> Resolution:
        """Carry out the choice for these hunks of the file, or for all that wait.

        To accept one that was taken back puts it into the file again. Ids that it does not have are
        passed over. Where the file changes meanwhile, it is all decided anew on its new text.
        """
        resolution = await self._try(file, hunk_ids, choice)
        for _ in range(_MORE_TRIES):
            if resolution.resolved or not resolution.unresolved:
                break
            now = await self._documents.read_or_new(file.path)
            if isinstance(file.document, Unreadable) or not is_stale(file.document, now):
                break
            file = replace(file, document=now)
            resolution = await self._try(file, hunk_ids, choice)
        return resolution

    async def _try(
        self, file: ReviewedFile, hunk_ids: Sequence[str] | None, choice: Choice
    ) -> Resolution:
        outcome, repeated = await asyncio.to_thread(_planned, file, hunk_ids, choice)
        resolved = tuple(part.id for part in repeated)
        left = tuple(Unresolved(part.id, file.path, reason) for part, reason in outcome.left)
        if not outcome.done:
            return Resolution(resolved, left)
        done = await uninterrupted(self._carry_out(file, outcome, choice))
        return Resolution(resolved + done.resolved, left + done.unresolved)

    async def _carry_out(self, file: ReviewedFile, outcome: Outcome, choice: Choice) -> Resolution:
        label = f"{_VERBS[choice.decision]} change in {file.path.name}"
        ids = tuple(part.id for part in outcome.done)
        after, moved_to, stays = file.now, "", ()
        if outcome.text != file.now:
            written = await self._write(file, outcome.text, label)
            if isinstance(written, Unwritten):
                return Resolution((), tuple(Unresolved(i, file.path, written.message) for i in ids))
            (after,) = written
        if choice.decision == "rejected" and _moves_back(file.change, outcome.done):
            moved_to = file.change.moved_from
            failure = await self._move(file.path, Path(moved_to), label)
            if failure:
                moved_to = ""
                ids = tuple(part.id for part in outcome.done if not part.is_empty)
                stays = (Unresolved("", file.path, failure.message),)
        if ids:
            await self._record(file, ids, choice, after, moved_to)
        return Resolution(ids, stays)

    async def _write(
        self, file: ReviewedFile, text: str | None, label: str
    ) -> tuple[str | None] | Unwritten:
        """The file's text after it, which may have been changed by saving it."""
        document = file.document
        if isinstance(document, Unreadable):  # nothing is ever decided about one
            return (file.now,)
        if text is None:
            place = await places.find_place(self._documents, document.path)
            if isinstance(place, Unwritten):
                return place
            removed = await answered(places.remove(self._documents, place, label))
            failure = removed if isinstance(removed, Unwritten) else removed[1]
            return failure or (None,)
        written = await answered(self._documents.write(document, text, label))
        return written if isinstance(written, Unwritten) else (written.after,)

    async def _move(self, path: Path, target: Path, label: str) -> Unwritten | None:
        place = await places.find_place(self._documents, path)
        if not isinstance(place, Unwritten):
            place = await answered(places.move(self._documents, place, target, label))
        if isinstance(place, Unwritten):
            return replace(place, message=f"{path.name} was not moved back. {place.message}")
        return None

    async def _record(
        self,
        file: ReviewedFile,
        hunk_ids: tuple[str, ...],
        choice: Choice,
        after: str | None,
        moved_to: str,
    ) -> None:
        before_id = after_id = None
        if after != file.now:
            before_id, after_id = await asyncio.to_thread(self._keep, file.now, after)
        await self._emit(
            HunksResolved(
                file.change.turn_id,
                str(file.path),
                hunk_ids,
                choice.decision,
                choice.feedback,
                before_id,
                after_id,
                moved_to,
            )
        )

    def _keep(self, *texts: str | None) -> list[str | None]:
        """What has been done must be told of, also when its texts cannot be kept. Blocks."""
        try:
            return [None if text is None else self._texts.keep(text) for text in texts]
        except StorageError:
            return ["", ""]


def _planned(
    file: ReviewedFile, hunk_ids: Sequence[str] | None, choice: Choice
) -> tuple[Outcome, tuple[Part, ...]]:
    """What is to be done, and the parts of which the same has been decided before."""
    change, now = file.change, file.now
    if hunk_ids is None:
        return _outcome(file, waiting(change, now), choice), ()
    named = [part for part in (*change.parts, *change.dropped) if part.id in hunk_ids]
    gone = [part for part in named if change.is_taken_back(part)]
    outcome = _outcome(file, [part for part in named if part not in gone], choice)
    if choice.decision == "rejected":
        return outcome, tuple(gone)
    can_return = [part for part in gone if part in change.parts and choice.decision == "accepted"]
    back = put_back(change, can_return, now) if can_return else Outcome(now)
    left = tuple((part, TAKEN_BACK) for part in gone if part not in can_return)
    return (
        Outcome(
            back.text if can_return else outcome.text,
            outcome.done + back.done,
            outcome.left + back.left + left,
        ),
        (),
    )


def _outcome(file: ReviewedFile, parts: Sequence[Part], choice: Choice) -> Outcome:
    if not parts:
        return Outcome(file.now)
    if isinstance(file.document, Unreadable):
        reason = f"{file.path.name} {file.document.message}."
        return Outcome(file.now, left=tuple((part, reason) for part in parts))
    if choice.decision == "rejected":
        return take_back(file.change, parts, file.now)
    if choice.decision == "replaced":
        return put_instead(file.change, parts[0], choice.text, file.now)
    there = {standing.part.id for standing in standings(file.change, file.now) if standing.is_there}
    left = tuple((part, CHANGED_SINCE) for part in parts if part.id not in there)
    return Outcome(file.now, tuple(part for part in parts if part.id in there), left)


def _moves_back(change: ChangeSet, done: Sequence[Part]) -> bool:
    """Whether nothing is left of what the turn did but that it moved the file."""
    taken_back = {part.id for part in (*change.taken_back, *done)}
    return bool(change.moved_from) and all(part.id in taken_back for part in change.parts)
