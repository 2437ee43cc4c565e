"""The review by plain LSP: what waits in a document, as lenses and code actions, always current."""

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from pails.core.events import Envelope, FileChanged, HunksResolved, Rewound, TurnEnded
from pails.lsp.actions import is_wanted
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.lenses import PendingHunk, changes_text, code_lenses, review_actions
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.lsp.refreshing import LensRefresher
from pails.lsp.virtual import BEFORE, parse

_TRIES = 3


class Reviews:
    """The changes that wait in the sessions which this client follows."""

    def __init__(
        self,
        client: Client,
        can: PaiCapabilities,
        documents: OpenDocuments,
        followers: Followers,
    ) -> None:
        self._can_type = can.questions
        self._documents = documents
        self._followers = followers
        self._refresher = LensRefresher(client)
        self._changes = 0
        followers.listen(self._push)

    def close(self) -> None:
        self._refresher.close()

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
        return changes_text(content.path.name, await self.pending(content.path))

    async def pending(self, path: Path) -> list[PendingHunk]:
        """What waits in a file, session by session."""
        return [
            PendingHunk(session.id, turn_id, path, hunk)
            for session in self._followers.sessions
            for turn_id, hunk in await session.review.pending(path)
        ]

    def refresh(self) -> None:
        """What the client shows is out of date."""
        self._refresher.request()

    async def _waiting(self, uri: str) -> tuple[OpenDocument | None, Sequence[PendingHunk]]:
        """A document and what waits in it, looked up again when either changed meanwhile.

        So no answer is older than a refresh that was sent before it.
        """
        document, pending = self._documents.get(uri), list[PendingHunk]()
        for _ in range(_TRIES):
            before, changes = document, self._changes
            if document is None or document.path is None:
                return None, ()
            pending = await self.pending(document.path)
            document = self._documents.get(uri)
            if document is before and changes == self._changes:
                break
        return document, pending

    def _push(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, FileChanged | HunksResolved | Rewound | TurnEnded):
            self._changes += 1
            self.refresh()
