"""The commands of the review by plain LSP: decide about hunks, show what has changed.

Everything that a command did not do is said to the person: a client may show no result of it.
"""

from collections.abc import Iterable, Sequence

from lsprotocol import types

from pails.core.errors import InvalidRequestError, NotFoundError, PailsError
from pails.core.review import HunkDecision, Resolution, Unresolved
from pails.lsp import methods, uris
from pails.lsp.asking import ask_reason
from pails.lsp.changes import encode_resolution
from pails.lsp.client import Client
from pails.lsp.coding import decode_arguments, encode
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.lenses import PendingHunk, changes_text
from pails.lsp.protocol.base import Empty
from pails.lsp.protocol.commands import FileArguments, HunkArguments, ShowArguments, TurnArguments
from pails.lsp.review import Reviews
from pails.lsp.virtual import BEFORE, CHANGES, Content, KeepText, Viewer

_DECISIONS: dict[str, HunkDecision] = {
    methods.ACCEPT_HUNK: "accepted",
    methods.ACCEPT_FILE: "accepted",
    methods.ACCEPT_TURN: "accepted",
    methods.REJECT_HUNK: "rejected",
    methods.REJECT_FILE: "rejected",
    methods.REJECT_TURN: "rejected",
}
NOTHING_DONE = Resolution(())


class ReviewCommands:
    """Carries out `methods.REVIEW_COMMANDS`."""

    def __init__(
        self,
        client: Client,
        documents: OpenDocuments,
        followers: Followers,
        reviews: Reviews,
        keep: KeepText,
    ) -> None:
        self._client = client
        self._documents = documents
        self._followers = followers
        self._reviews = reviews
        self._viewer = Viewer(client, keep)

    async def execute(self, command: str, arguments: Sequence[object]) -> object:
        """Carry out one of `REVIEW_COMMANDS`; what failed is told to the person."""
        if command in (methods.SHOW_CHANGES, methods.SHOW_BEFORE):
            shown = decode_arguments(ShowArguments, command, arguments)
            try:
                await self._show(command, self._documents.require(shown.uri))
            except PailsError as error:
                self._say(types.MessageType.Error, str(error))
            return encode(Empty())
        try:
            resolution = await self._decide(command, arguments)
        except PailsError as error:
            self._say(types.MessageType.Error, str(error))
            resolution = NOTHING_DONE
        if resolution.unresolved:
            self._say(types.MessageType.Warning, left_as_it_was(resolution.unresolved))
        if resolution.unresolved or not resolution.resolved:
            self._reviews.refresh()  # the lens that was used is out of date
        return encode(encode_resolution(resolution))

    async def _decide(self, command: str, arguments: Sequence[object]) -> Resolution:
        decision = _DECISIONS[command]
        match command:
            case methods.ACCEPT_HUNK | methods.REJECT_HUNK:
                hunk = decode_arguments(HunkArguments, command, arguments)
                return await self._decide_hunk(decision, hunk)
            case methods.ACCEPT_FILE | methods.REJECT_FILE:
                file = decode_arguments(FileArguments, command, arguments)
                return await self._decide_file(decision, file)
            case _:
                turn = decode_arguments(TurnArguments, command, arguments)
                return await self._decide_turn(decision, turn)

    async def _decide_hunk(self, decision: HunkDecision, given: HunkArguments) -> Resolution:
        review = self._followers.session(given.session_id).review
        why: str | None = given.feedback
        if given.ask_why:
            why = await ask_reason(self._client, given.session_id)
        if why is None:  # they would rather not decide now
            return NOTHING_DONE
        return await review.resolve(given.turn_id, decision, hunk_ids=[given.hunk_id], feedback=why)

    async def _decide_file(self, decision: HunkDecision, given: FileArguments) -> Resolution:
        pending = await self._pending_in(self._documents.require(given.uri))
        change_sets = dict.fromkeys(waiting.change_set for waiting in pending)
        done = [
            await self._followers.session(session_id).review.resolve(
                turn_id, decision, path=path, feedback=given.feedback
            )
            for session_id, turn_id, path in change_sets
        ]
        return _joined(done)

    async def _decide_turn(self, decision: HunkDecision, given: TurnArguments) -> Resolution:
        session_id, turn_id = given.session_id, given.turn_id
        if session_id is None or turn_id is None:
            session_id, turn_id = await self._newest_turn(session_id)
        review = self._followers.session(session_id).review
        return await review.resolve(turn_id, decision, feedback=given.feedback)

    async def _newest_turn(self, session_id: str | None) -> tuple[str, str]:
        """The session and turn with the newest changes that wait."""
        followers = self._followers
        sessions = followers.sessions if session_id is None else [followers.session(session_id)]
        for session in sorted(sessions, key=lambda session: session.updated_at, reverse=True):
            for turn in reversed(await session.review.list()):
                hunks = (hunk for file in turn.files for hunk in file.hunks)
                if any(hunk.state == "pending" for hunk in hunks):
                    return session.id, turn.turn_id
        raise NotFoundError("No changes of Pails wait for a decision.")

    async def _pending_in(self, document: OpenDocument) -> list[PendingHunk]:
        """What waits in a document; raises `NotFoundError` when nothing does."""
        if document.path is None:
            raise InvalidRequestError(
                f"{uris.name(document.uri)} is no file, so no changes wait in it."
            )
        pending = await self._reviews.pending(document.path)
        if not pending:
            name = document.path.name
            raise NotFoundError(f"No changes of Pails in {name} wait for a decision.")
        return pending

    async def _show(self, command: str, document: OpenDocument) -> None:
        pending = await self._pending_in(document)
        path = pending[0].path
        if command == methods.SHOW_CHANGES:
            await self._viewer.show(Content(CHANGES, path), changes_text(path.name, pending))
            return
        oldest = await self._oldest(pending)
        review = self._followers.session(oldest.session_id).review
        before = await review.text_before(oldest.turn_id, oldest.path)
        if before is None:
            self._say(types.MessageType.Info, f"{oldest.path.name} did not exist before the turn.")
            return
        shown = Content(BEFORE, oldest.path, oldest.session_id, oldest.turn_id)
        await self._viewer.show(shown, before)

    async def _oldest(self, pending: Sequence[PendingHunk]) -> PendingHunk:
        """One of the turn that came first, in the first of the sessions."""
        session_id = pending[0].session_id
        turns = {one.turn_id: one for one in pending if one.session_id == session_id}
        if len(turns) == 1:
            return pending[0]
        in_order = await self._followers.session(session_id).review.list()
        return next(turns[turn.turn_id] for turn in in_order if turn.turn_id in turns)

    def _say(self, level: types.MessageType, text: str) -> None:
        self._client.show(level, f"Pails: {text}")


def left_as_it_was(unresolved: Sequence[Unresolved]) -> str:
    """What was not done and why, each reason once."""
    count = len(unresolved)
    what = "One change was" if count == 1 else f"{count} changes were"
    reasons = dict.fromkeys(f"{left.path.name}: {left.reason}" for left in unresolved)
    return "\n".join((f"{what} left as before.", *reasons))


def _joined(resolutions: Iterable[Resolution]) -> Resolution:
    done = list(resolutions)
    return Resolution(
        tuple(hunk_id for one in done for hunk_id in one.resolved),
        tuple(left for one in done for left in one.unresolved),
    )
