"""The review of what the agent changed: what waits, and what a person decides about it.

A review is made from the log when somebody asks for it (`file_chains`, `file_history`) and set
against the text as it is now (`decisions`). Decisions go through `Documents` like any other write:
into the buffer where the file is open, and never over a text that changed meanwhile.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from pails.core.errors import InvalidRequestError, NotFoundError, StorageError
from pails.core.ports import Texts
from pails.core.review import (
    FileReview,
    HunkDecision,
    Origin,
    Resolution,
    ReviewHunk,
    TurnReview,
    Unresolved,
)
from pails.host.paths import named_and_real
from pails.session.changes.file_chains import Chain
from pails.session.changes.file_review import ReviewedFile
from pails.session.changes.histories import Histories
from pails.session.changes.resolving import Choice, Resolver
from pails.session.recorder import Recorder
from pails.tools.files.document import Document
from pails.tools.files.documents import Documents

NO_SUCH_HUNK = "The turn has no such hunk (any more). List the changes again."


class Review:
    """The change sets of one session. All its methods are called on the event loop."""

    def __init__(
        self, session_id: str, recorder: Recorder, documents: Documents, texts: Texts
    ) -> None:
        self._session_id = session_id
        self._files = recorder.state.file_chains
        self._documents = documents
        self._histories = Histories(texts)
        self._resolver = Resolver(documents, texts, recorder.emit)
        self._deciding = asyncio.Lock()

    async def list(self, turn_id: str | None = None) -> tuple[TurnReview, ...]:
        """All turns that changed files, or this one alone, oldest first."""
        by_turn: dict[str, list[FileReview]] = {}
        for file, review in await self._reviews(self._chains(turn_id)):
            by_turn.setdefault(file.change.turn_id, []).append(review)
        return tuple(
            TurnReview(turn, title, tuple(by_turn[turn]))
            for turn, title in self._files.titles.items()
            if turn in by_turn and turn_id in (None, turn)
        )

    async def pending(self, path: Path) -> tuple[tuple[str, ReviewHunk], ...]:
        """The hunks of one file that wait, each with its turn's id, in the order of the lines."""
        found = [
            (file.change.turn_id, hunk)
            for file, review in await self._reviews(await self._chain(path))
            for hunk in review.hunks
            if hunk.state == "pending"
        ]
        return tuple(sorted(found, key=lambda pair: pair[1].line))

    async def resolve(
        self,
        turn_id: str,
        decision: HunkDecision,
        *,
        path: Path | None = None,
        hunk_ids: Sequence[str] | None = None,
        feedback: str = "",
        text: str | None = None,
    ) -> Resolution:
        """Decide about hunks of a turn: those named, or all that wait in one file or in all.

        `text` are the person's own lines in place of the one hunk that is named, for "replaced".
        What cannot be done is left as it is and told, with the reason; the rest is done.
        """
        if (decision == "replaced") != (text is not None):
            raise InvalidRequestError(
                "A replacement, and nothing else, brings a text along. Nothing was decided."
            )
        if text is not None and (hunk_ids is None or len(hunk_ids) != 1):
            raise InvalidRequestError(
                "A text replaces one hunk, so nothing was decided: name just that one."
            )
        choice = Choice(decision, feedback, text or "")
        async with self._deciding:  # what one decision is about, another may have changed
            chains = self._chains(turn_id) if path is None else await self._chain(path)
            reviews = await self._reviews(chains)
            files = [file for file, _ in reviews if file.change.turn_id == turn_id]
            if not files:
                raise _unknown(turn_id, path)
            done = [await self._resolver.resolve(file, hunk_ids, choice) for file in files]
        return _joined(done, hunk_ids or (), path or files[0].path)

    async def text_before(self, turn_id: str, path: Path) -> str | None:
        """The text before the turn, with what the person changed while it was at work.

        None where there was no file. Raises `NotFoundError` where the turn did not write the file,
        `StorageError` where its text is not kept.
        """
        for name, chain in (await self._chain(path)).items():
            history = await asyncio.to_thread(self._histories.history, name, chain)
            for change in history.changes:
                if change.turn_id == turn_id and change.note:
                    raise StorageError(change.note)
                if change.turn_id == turn_id:
                    return change.before
        raise _unknown(turn_id, path)

    async def origin(self, path: Path) -> tuple[Origin, ...]:
        """The runs of lines in the file as it is now that the agent wrote."""
        return next(iter((await self._origins(await self._chain(path))).values()), ())

    async def export_origin(self) -> dict[str, object]:
        """The same for all files of the session as JSON data, which a commit can carry."""
        origins = await self._origins(self._files.chains)
        turns = {run.turn_id for runs in origins.values() for run in runs}
        titles = self._files.titles
        return {
            "version": 1,
            "sessionId": self._session_id,
            "turns": {turn: title for turn, title in titles.items() if turn in turns},
            "files": {path: [_exported(run) for run in runs] for path, runs in origins.items()},
        }

    def _chains(self, turn_id: str | None) -> dict[str, Chain]:
        """The files that the turn wrote, or all."""
        return {
            path: chain
            for path, chain in self._files.chains.items()
            if turn_id is None or any(step.turn_id == turn_id for step in chain)
        }

    async def _chain(self, path: Path) -> dict[str, Chain]:
        """This file, if the agent wrote it. The client may name it by way of a link."""
        chains = self._files.chains
        if chains and str(path) not in chains:
            path, _ = await asyncio.to_thread(named_and_real, path)
        name = str(path)
        return {name: chains[name]} if name in chains else {}

    async def _reviews(
        self, chains: Mapping[str, Chain]
    ) -> Sequence[tuple[ReviewedFile, FileReview]]:
        """What each turn did to these files, beside what they are now."""
        if not chains:
            return ()
        documents = await self._documents.read_all([Path(path) for path in chains])

        def run() -> list[tuple[ReviewedFile, FileReview]]:
            return [
                one
                for (path, chain), document in zip(chains.items(), documents, strict=True)
                for one in self._histories.reviews(path, chain, document)
            ]

        return await asyncio.to_thread(run)

    async def _origins(self, chains: Mapping[str, Chain]) -> dict[str, tuple[Origin, ...]]:
        """By path, of the files that are there and hold lines of the agent."""
        if not chains:
            return {}
        documents = await self._documents.read_all([Path(path) for path in chains])

        def run() -> dict[str, tuple[Origin, ...]]:
            found = {
                path: self._histories.history(path, chain).origin(self._session_id, document.text)
                for (path, chain), document in zip(chains.items(), documents, strict=True)
                if isinstance(document, Document)
            }
            return {path: runs for path, runs in found.items() if runs}

        return await asyncio.to_thread(run)


def _unknown(turn_id: str, path: Path | None) -> NotFoundError:
    where = f" at {path}" if path else ""
    return NotFoundError(f"Turn {turn_id!r} has changed nothing{where} that could be reviewed.")


def _joined(done: Sequence[Resolution], hunk_ids: Sequence[str], path: Path) -> Resolution:
    """One resolution of several, with the ids that no file knew."""
    resolved = tuple(hunk_id for one in done for hunk_id in one.resolved)
    left = tuple(unresolved for one in done for unresolved in one.unresolved)
    known = {*resolved, *(unresolved.hunk_id for unresolved in left)}
    lost = (hunk_id for hunk_id in hunk_ids if hunk_id not in known)
    return Resolution(
        resolved, (*left, *(Unresolved(hunk_id, path, NO_SUCH_HUNK) for hunk_id in lost))
    )


def _exported(run: Origin) -> dict[str, object]:
    return {
        "first": run.first,
        "last": run.last,
        "turnId": run.turn_id,
        "approved": run.approved,
    }
