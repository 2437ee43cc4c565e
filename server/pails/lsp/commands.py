"""`workspace/executeCommand`: what a code action does. Each starts a turn and returns at once.

Turns of commands run in the editor session of the workspace, which is made when first needed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.errors import InvalidRequestError
from pails.core.ports import Attachment
from pails.lsp import actions, attachments, uris
from pails.lsp.asking import ask_client
from pails.lsp.client import Client
from pails.lsp.coding import decode_arguments, encode
from pails.lsp.documents import OpenDocument, OpenDocuments
from pails.lsp.following import Follower, Followers
from pails.lsp.protocol.asking import QuestionAskParams
from pails.lsp.protocol.commands import CancelArguments, PlaceArguments, TurnInfo
from pails.lsp.protocol.sessions import PaiCapabilities, SessionCancelResult
from pails.session.manager import SessionManager

HOW_TO_ASK = (
    "Pails: this client has no way to type the question here. Run the command pails.ask with the "
    "question as its third argument, behind the document's URI and the range."
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a command asks for. A turn with an `answer_title` is about its answer, not its edits."""

    prompt: str
    answer_title: str = ""


_KINDS = {
    actions.EXPLAIN: _Kind("explain", "Explanation"),
    actions.FIX: _Kind("fix"),
    actions.IMPROVE: _Kind("improve"),
    actions.DOCUMENT: _Kind("document"),
    actions.TESTS: _Kind("tests"),
    actions.ASK: _Kind("", "Answer"),
    actions.FIX_DIAGNOSTIC: _Kind("fix_diagnostic"),
}


class Commands:
    """Runs the commands of `actions.COMMANDS`."""

    def __init__(
        self,
        client: Client,
        can: PaiCapabilities,
        documents: OpenDocuments,
        sessions: SessionManager,
        followers: Followers,
    ) -> None:
        self._client = client
        self._can = can
        self._documents = documents
        self._sessions = sessions
        self._followers = followers
        self._editor_sessions: dict[Path, str] = {}
        self._making = asyncio.Lock()

    async def execute(self, command: str, arguments: Sequence[object]) -> object:
        """Start the turn, a `TurnInfo`; None when no question was given. See `COMMANDS`."""
        if command == actions.CANCEL:
            return await self._cancel(arguments)
        kind = _KINDS[command]
        given = decode_arguments(PlaceArguments, command, arguments)
        document = self._documents.require(given.uri)
        if document.path is None and not kind.answer_title:
            raise InvalidRequestError(
                f"{uris.name(given.uri)} is not saved yet, so no edit of it could be kept. "
                "Save it and try again."
            )
        follower = await self._editor_session(self._workspace(document))
        text = _prompt_text(kind) if kind.prompt else await self._instruction(given, follower)
        if not text:
            return None
        attached = _attached(document, given, command)
        receipt = await follower.session.prompt(text, attached)
        follower.display.expect(receipt.turn_id, kind.answer_title)
        return encode(TurnInfo(session_id=follower.session.id, turn_id=receipt.turn_id))

    async def _instruction(self, given: PlaceArguments, follower: Follower) -> str:
        """What to ask about the selection; "" when the person did not say."""
        if given.text.strip():
            return given.text
        if not self._can.questions:
            self._client.show(types.MessageType.Info, HOW_TO_ASK)
            return ""
        question = QuestionAskParams(
            session_id=follower.session.id, text="What do you want to know?"
        )
        try:
            reply = await ask_client(self._client, question)
        except JsonRpcException:
            return ""
        return (reply.text or "").strip() if reply else ""

    async def _cancel(self, arguments: Sequence[object]) -> object:
        given = decode_arguments(CancelArguments, actions.CANCEL, arguments)
        ids = [given.session_id] if given.session_id else list(self._editor_sessions.values())
        cancelled = [await self._sessions.get(id).cancel(given.turn_id) for id in ids]
        return encode(SessionCancelResult(cancelled=any(cancelled)))

    async def _editor_session(self, workspace: Path) -> Follower:
        """The session for the commands of this workspace; two at once must not make two."""
        async with self._making:
            session_id = self._editor_sessions.get(workspace)
            if session_id is not None:
                follower = self._followers.get(session_id)
                if follower is not None:
                    return follower
            session = await self._sessions.new(workspace, None, None)
            self._editor_sessions[workspace] = session.id
            return await self._followers.follow(session, after_seq=0)

    def _workspace(self, document: OpenDocument) -> Path:
        """The innermost workspace folder around the document, else the first, else its folder."""
        path, folders = document.path, self._client.folders
        around = [folder for folder in folders if path is not None and path.is_relative_to(folder)]
        if around:
            return max(around, key=lambda folder: len(folder.parts))
        if folders:
            return folders[0]
        if path is None:
            raise InvalidRequestError("No folder is open in the editor. Open one and try again.")
        return path.parent


def _prompt_text(kind: _Kind) -> str:
    text = resources.files("pails.lsp").joinpath(f"prompts/{kind.prompt}.md")
    return text.read_text(encoding="utf-8").strip()


def _attached(document: OpenDocument, given: PlaceArguments, command: str) -> list[Attachment]:
    """The selection (a cursor means its line), and the diagnostic where one is to be fixed."""
    place = attachments.lsp_range(given.range)
    if place.start == place.end:
        place = actions.whole_line(document, place.start.line)
    attached = [attachments.selection(document, place)]
    if command == actions.FIX_DIAGNOSTIC:
        path = attachments.path_or_name(document.uri)
        attached.append(attachments.diagnostics(path, given.range, given.text))
    return attached
