"""The `pai/…` methods: decode, call the session, encode. No logic lives here."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pydantic import ValidationError
from pygls.exceptions import JsonRpcMethodNotFound

from pails.lsp import attachments
from pails.lsp.asking import approval_answer
from pails.lsp.changes import Changes
from pails.lsp.client import Client
from pails.lsp.coding import decode, decode_params, encode, explain
from pails.lsp.commands import Commands
from pails.lsp.documents import OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.methods import REVIEW_COMMANDS, REWIND_COMMANDS
from pails.lsp.protocol.asking import ApprovalAnswerParams, QuestionAnswerParams
from pails.lsp.protocol.base import AcceptedResult, Empty, WireModel
from pails.lsp.protocol.methods import CLIENT_TO_SERVER
from pails.lsp.protocol.sessions import (
    ModelsListResult,
    PaiCapabilities,
    QueueUpdateParams,
    SessionCancelParams,
    SessionCancelResult,
    SessionPromptParams,
    SessionPromptResult,
    SessionSetModelParams,
    SessionSetModeParams,
    StatusResult,
)
from pails.lsp.review import Reviews
from pails.lsp.review_commands import ReviewCommands
from pails.lsp.rewind import Rewinding
from pails.lsp.sessions import Sessions
from pails.session.manager import SessionManager

log = logging.getLogger(__name__)


class App(Protocol):
    """What stands behind this edge; see `pails.app`."""

    @property
    def sessions(self) -> SessionManager: ...

    async def status(self) -> StatusResult: ...

    async def models(self) -> ModelsListResult: ...

    async def keep_text(self, name: str, text: str) -> Path:
        """Write a text to a file of ours whose name ends with this one, for the editor to open."""
        ...

    async def close(self) -> None: ...


def capabilities(client: Client) -> PaiCapabilities:
    """What the client said in `initializationOptions.pai`; plain LSP when that is unusable."""
    try:
        return decode(PaiCapabilities, client.options or {})
    except ValidationError as error:
        log.warning("initializationOptions.pai is ignored: %s", explain(error))
        return decode(PaiCapabilities, {})


@dataclass(frozen=True, slots=True)
class _Route:
    params: type[WireModel]
    handle: Callable[[Any], Awaitable[WireModel]]


class Handlers:
    """Implements `server.Edge`."""

    def __init__(
        self,
        client: Client,
        documents: OpenDocuments,
        can: PaiCapabilities,
        app: App,
    ) -> None:
        self._client = client
        self._documents = documents
        self._app = app
        self._followers = Followers(client, can, app.keep_text)
        self._commands = Commands(client, can, documents, app.sessions, self._followers)
        self._reviews = Reviews(client, can, documents, self._followers)
        self._review_commands = ReviewCommands(
            client, documents, self._followers, self._reviews, app.keep_text
        )
        self._changes = Changes(app.sessions)
        self._sessions = Sessions(client, documents, app.sessions, self._followers)
        self._rewinding = Rewinding(client, app.sessions, self._followers)
        handlers: dict[str, Callable[[Any], Awaitable[WireModel]]] = {
            "pai/session/new": self._sessions.new,
            "pai/session/list": self._sessions.list,
            "pai/session/open": self._sessions.open,
            "pai/session/fork": self._sessions.fork,
            "pai/session/rename": self._sessions.rename,
            "pai/session/delete": self._sessions.delete,
            "pai/session/restore": self._sessions.restore,
            "pai/session/export": self._sessions.export,
            "pai/session/import": self._sessions.import_log,
            "pai/session/prompt": self._prompt,
            "pai/queue/update": self._update_queue,
            "pai/session/cancel": self._cancel,
            "pai/session/rewind": self._rewinding.rewind,
            "pai/session/undoRewind": self._rewinding.undo,
            "pai/snapshots/list": self._rewinding.list,
            "pai/session/setMode": self._set_mode,
            "pai/session/setModel": self._set_model,
            "pai/approval/answer": self._answer_approval,
            "pai/question/answer": self._answer_question,
            "pai/changes/list": self._changes.list,
            "pai/changes/resolve": self._changes.resolve,
            "pai/changes/text": self._changes.text,
            "pai/changes/origin": self._changes.origin,
            "pai/changes/exportOrigin": self._changes.export_origin,
            "pai/models/list": self._list_models,
            "pai/mention/search": self._sessions.mentions,
            "pai/status": self._status,
        }
        self._routes = {
            method.name: _Route(method.params, handlers[method.name]) for method in CLIENT_TO_SERVER
        }

    # -- server.Edge ---------------------------------------------------------------------------

    async def call(self, method: str, params: object) -> object:
        """The result of a `pai/…` request as plain JSON data."""
        route = self._routes.get(method)
        if route is None:
            raise JsonRpcMethodNotFound.of(method)
        return encode(await route.handle(decode_params(route.params, method, params)))

    async def execute(self, command: str, arguments: Sequence[object]) -> object:
        if command in REVIEW_COMMANDS:
            return await self._review_commands.execute(command, arguments)
        if command in REWIND_COMMANDS:
            return await self._rewinding.execute(command, arguments)
        return await self._commands.execute(command, arguments)

    async def code_lenses(self, uri: str) -> list[types.CodeLens]:
        return await self._reviews.code_lenses(uri)

    async def review_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        return await self._reviews.code_actions(params)

    async def content(self, uri: str) -> str:
        return await self._reviews.content(uri)

    async def cancel_progress(self, token: int | str) -> None:
        await self._followers.cancel_progress(token)

    async def close(self) -> None:
        """Close the app first: what ends its turns is still told to the client."""
        try:
            await self._app.close()
        finally:
            self._followers.stop()
            self._reviews.close()

    # -- turns ---------------------------------------------------------------------------------

    async def _prompt(self, params: SessionPromptParams) -> SessionPromptResult:
        session = self._app.sessions.get(params.session_id)
        attached = [attachments.from_wire(sent, self._documents) for sent in params.attachments]
        receipt = await session.prompt(
            params.text, attached, params.from_turn_id, steer=params.steer
        )
        return SessionPromptResult(
            turn_id=receipt.turn_id, fate=receipt.fate, position=receipt.position
        )

    async def _update_queue(self, params: QueueUpdateParams) -> AcceptedResult:
        session = self._app.sessions.get(params.session_id)
        accepted = params.text is None or session.edit_prompt(params.turn_id, params.text)
        if accepted and params.steer:
            accepted = session.steer(params.turn_id)
        return AcceptedResult(accepted=accepted)

    async def _cancel(self, params: SessionCancelParams) -> SessionCancelResult:
        session = self._app.sessions.get(params.session_id)
        return SessionCancelResult(cancelled=await session.cancel(params.turn_id))

    async def _set_mode(self, params: SessionSetModeParams) -> Empty:
        await self._app.sessions.get(params.session_id).set_mode(params.mode)
        return Empty()

    async def _set_model(self, params: SessionSetModelParams) -> Empty:
        await self._app.sessions.get(params.session_id).set_model(params.model)
        return Empty()

    # -- answers of the person, and the rest -----------------------------------------------------

    async def _answer_approval(self, params: ApprovalAnswerParams) -> AcceptedResult:
        session = self._app.sessions.get(params.session_id)
        answer = approval_answer(params)
        accepted = session.answer_approval(params.approval_id, answer)
        return AcceptedResult(accepted=accepted)

    async def _answer_question(self, params: QuestionAnswerParams) -> AcceptedResult:
        session = self._app.sessions.get(params.session_id)
        accepted = session.answer_question(params.question_id, params.answer)
        return AcceptedResult(accepted=accepted)

    async def _list_models(self, _: Empty) -> ModelsListResult:
        return await self._app.models()

    async def _status(self, _: Empty) -> StatusResult:
        return await self._app.status()
