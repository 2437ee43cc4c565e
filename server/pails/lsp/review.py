"""The review by plain LSP: what waits in a document, as lenses and actions, and their commands.

Everything that a command did not do is said to the person: a client may show no result of it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from pails.core.errors import InvalidRequestError, NotFoundError, PailsError
from pails.core.events import Envelope, FileChanged, HunksResolved, Rewound, TurnEnded
from pails.core.review import Decision, Resolution, Unresolved
from pails.lsp import methods, uris
from pails.lsp.actions import is_wanted
from pails.lsp.asking import ask_reason
from pails.lsp.changes import encode_resolution
from pails.lsp.client import Client
from pails.lsp.coding import decode_arguments, encode
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.lenses import PendingHunk, changes_text, code_lenses, review_actions
from pails.lsp.protocol.base import Empty
from pails.lsp.protocol.commands import FileArguments, HunkArguments, ShowArguments, TurnArguments
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.lsp.refreshing import LensRefresher
from pails.lsp.virtual import BEFORE, CHANGES, Content, KeepText, Viewer, parse

_DECISIONS: dict[str, Decision] = {
    methods.ACCEPT_HUNK: "accepted",
    methods.ACCEPT_FILE: "accepted",
    methods.ACCEPT_TURN: "accepted",
    methods.REJECT_HUNK: "rejected",
    methods.REJECT_FILE: "rejected",
    methods.REJECT_TURN: "rejected",
}
_TRIES = 3
NOTHING_DONE = Resolution(())


class Reviews:
    """The changes that wait in the sessions which this client follows."""

    def __init__(
        self,
        client: Client,
        can: PaiCapabilities,
        documents: OpenDocuments,
        followers: Followers,
        keep: KeepText,
    ) -> None:
        self._client = client
        self._can_type = can.questions
        self._documents = documents
        self._followers = followers
        self._viewer = Viewer(client, keep)
        self._refresher = LensRefresher(client)
        self._changes = 0
        followers.listen(self._push)

    def close(self) -> None:
        self._refresher.close()

    # -- what is offered -----------------------------------------------------------------------

    async def code_lenses(self, uri: str) -> list[types.CodeLens]:
        document, pending = await self._waiting(uri)
        return [] if document is None else code_lenses(document, pending)

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document, pending = await self._waiting(params.text_document.uri)
        if document is None:
            return []
        offered = review_actions(document, pending, params, can_type=self._can_type)
        return [action for action in offered if is_wanted(action, params.context.only)]

    async def content(self, uri: str) -> str:
        """The text of a document of ours. Raises `NotFoundError` when it is none."""
        content = parse(uri)
        if content.scheme == BEFORE:
            review = self._followers.session(content.session_id).review
            return await review.text_before(content.turn_id, content.path) or ""
        return changes_text(content.path.name, await self._pending(content.path))

    async def _waiting(self, uri: str) -> tuple[OpenDocument | None, Sequence[PendingHunk]]:
        """A document and what waits in it, looked up again when either changed meanwhile.

        So no answer is older than a refresh that was sent before it.
        """
        document, pending = self._documents.get(uri), list[PendingHunk]()
        for _ in range(_TRIES):
            before, changes = document, self._changes
            if document is None or document.path is None:
                return None, ()
            pending = await self._pending(document.path)
            document = self._documents.get(uri)
            if document is before and changes == self._changes:
                break
        return document, pending

    async def _pending(self, path: Path) -> list[PendingHunk]:
        """What waits in a file, session by session."""
        return [
            PendingHunk(session.id, turn_id, path, hunk)
            for session in self._followers.sessions
            for turn_id, hunk in await session.review.pending(path)
        ]

    def _push(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, FileChanged | HunksResolved | Rewound | TurnEnded):
            self._changes += 1
            self._refresher.request()

    # -- commands ------------------------------------------------------------------------------

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
            self._refresher.request()  # the lens that was used is out of date
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

    async def _decide_hunk(self, decision: Decision, given: HunkArguments) -> Resolution:
        review = self._followers.session(given.session_id).review
        why: str | None = given.feedback
        if given.ask_why:
            why = await ask_reason(self._client, given.session_id)
        if why is None:  # they would rather not decide now
            return NOTHING_DONE
        return await review.resolve(given.turn_id, decision, hunk_ids=[given.hunk_id], feedback=why)

    async def _decide_file(self, decision: Decision, given: FileArguments) -> Resolution:
        pending = await self._pending_in(self._documents.require(given.uri))
        change_sets = dict.fromkeys(waiting.change_set for waiting in pending)
        done = [
            await self._followers.session(session_id).review.resolve(
                turn_id, decision, path=path, feedback=given.feedback
            )
            for session_id, turn_id, path in change_sets
        ]
        return _joined(done)

    async def _decide_turn(self, decision: Decision, given: TurnArguments) -> Resolution:
        session_id, turn_id = given.session_id, given.turn_id
        if session_id is None or turn_id is None:
            session_id, turn_id = await self._newest_turn(session_id)
        review = self._followers.session(session_id).review
        return await review.resolve(turn_id, decision, feedback=given.feedback)

    async def _newest_turn(self, session_id: str | None) -> tuple[str, str]:
        """The session and turn with the newest changes that wait."""
        named = self._followers.sessions if session_id is None else [
            self._followers.session(session_id)
        ]  # fmt: skip
        for session in sorted(named, key=lambda session: session.updated_at, reverse=True):
            for turn in reversed(await session.review.list()):
                hunks = (hunk for file in turn.files for hunk in file.hunks)
                if any(hunk.state == "pending" for hunk in hunks):
                    return session.id, turn.turn_id
        raise NotFoundError("No changes of Pails wait for a decision.")

    async def _pending_in(self, document: OpenDocument) -> list[PendingHunk]:
        """What waits in a document; raises `NotFoundError` when nothing does."""
        if document.path is None:
            raise InvalidRequestError(f"{uris.name(document.uri)} is no file.")
        pending = await self._pending(document.path)
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
