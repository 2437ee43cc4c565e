"""Approvals and questions on their way to the person at the client, and the answers back.

Unanswered is not refused: what the client does not answer stays pending, and any other way to
answer it (`pai/approval/answer`, another client) still works. What was resolved meanwhile is taken
off the screen, and an answer that comes too late changes nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError
from pygls.exceptions import JsonRpcException

from pails.core.errors import InvalidRequestError
from pails.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Envelope,
    QuestionAnswered,
    QuestionAsked,
)
from pails.core.ports import ApprovalAnswer
from pails.lsp.client import Client
from pails.lsp.coding import decode, encode, explain
from pails.lsp.protocol.asking import (
    ApprovalAnswerParams,
    ApprovalRequestResult,
    ApprovalResolvedParams,
    QuestionAskParams,
    QuestionAskResult,
)
from pails.lsp.protocol.base import WireModel
from pails.session.codec import encode_event
from pails.session.session import Session

log = logging.getLogger(__name__)

_TRIES = 3
"""How often a client is asked whose answers cannot be taken."""

W = TypeVar("W", bound=WireModel)


@dataclass(frozen=True, slots=True)
class QuestionReply:
    """An answer to a question; `text` None: the person would not answer."""

    text: str | None


Approve = Callable[[str, ApprovalRequested], Awaitable[ApprovalAnswer | None]]
"""Asks for an approval in the session of this id; None leaves it pending."""

AskQuestion = Callable[[str, QuestionAsked], Awaitable[QuestionReply | None]]
"""Asks a question in the session of this id; None leaves it pending."""


class Prompter:
    """Asks the person what one session wants to know."""

    def __init__(
        self,
        session: Session,
        approve: Approve,
        ask: AskQuestion,
        resolved: Callable[[ApprovalResolved], None],
    ) -> None:
        self._session = session
        self._resolved = resolved
        self._approve = approve
        self._ask = ask
        self._asking: dict[str, asyncio.Task[None]] = {}

    def push(self, envelope: Envelope) -> None:
        """Ask, or withdraw what was resolved."""
        match envelope.event:
            case ApprovalRequested() | QuestionAsked() as wanted:
                self._start(wanted)
            case ApprovalResolved(approval_id=identifier) as resolved:
                self._withdraw(identifier)
                self._resolved(resolved)
            case QuestionAnswered(question_id=identifier):
                self._withdraw(identifier)
            case _:
                pass

    def ask_pending(self) -> None:
        """Ask what waits and is not being asked: the client has just opened the session."""
        for wanted in self._session.pending:
            if _identifier(wanted) not in self._asking:
                self._start(wanted)

    def close(self) -> None:
        for identifier in tuple(self._asking):
            self._withdraw(identifier)

    def _start(self, wanted: ApprovalRequested | QuestionAsked) -> None:
        identifier = _identifier(wanted)
        task = asyncio.create_task(self._settle(wanted), name=f"asking {identifier}")
        self._asking[identifier] = task
        task.add_done_callback(_report)

    def _withdraw(self, identifier: str) -> None:
        task = self._asking.pop(identifier, None)
        # The task that brought the answer is itself on the stack when the answer is announced.
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _settle(self, wanted: ApprovalRequested | QuestionAsked) -> None:
        """Ask again after an answer that is none: whoever gave it sees no question any more."""
        for _ in range(_TRIES):
            try:
                await self._put(wanted)
                return
            except InvalidRequestError as error:
                log.warning("the answer to %s cannot be taken: %s", _identifier(wanted), error)
            except JsonRpcException as error:
                log.warning("%s stays pending: %s", _identifier(wanted), error)
                return

    async def _put(self, wanted: ApprovalRequested | QuestionAsked) -> None:
        if isinstance(wanted, ApprovalRequested):
            answer = await self._approve(self._session.id, wanted)
            if answer is not None:
                self._session.answer_approval(wanted.approval_id, answer)
        else:
            reply = await self._ask(self._session.id, wanted)
            if reply is not None:
                self._session.answer_question(wanted.question_id, reply.text)


def approve_by(client: Client, otherwise: Approve) -> Approve:
    """Approvals by `pai/approval/request`, and by `otherwise` where the client cannot show one."""

    async def approve(session_id: str, wanted: ApprovalRequested) -> ApprovalAnswer | None:
        params = {"sessionId": session_id, **encode_event(wanted)}
        try:
            answer = await client.request("pai/approval/request", params)
        except JsonRpcException as error:
            log.warning("the client cannot show %s: %s", wanted.approval_id, error)
            return await otherwise(session_id, wanted)
        result = _decoded(ApprovalRequestResult, answer)
        return None if result is None else approval_answer(result)

    return approve


def approval_answer(
    sent: ApprovalRequestResult | ApprovalAnswerParams,
) -> ApprovalAnswer:
    """An answer as a client sent it."""
    hunk_ids = None if sent.hunk_ids is None else tuple(sent.hunk_ids)
    return ApprovalAnswer(sent.choice, sent.feedback, hunk_ids, sent.texts)


def tell_resolved(client: Client, session_id: str) -> Callable[[ApprovalResolved], None]:
    """Says `pai/approval/resolved`, so that a stale prompt is taken off every screen."""

    def tell(event: ApprovalResolved) -> None:
        params = ApprovalResolvedParams(
            session_id=session_id, approval_id=event.approval_id, choice=event.choice
        )
        client.notify("pai/approval/resolved", encode(params))

    return tell


def ask_by(client: Client, otherwise: AskQuestion) -> AskQuestion:
    """Questions by `pai/question/ask`, and by `otherwise` where the client cannot show one."""

    async def ask(session_id: str, wanted: QuestionAsked) -> QuestionReply | None:
        params = QuestionAskParams(
            session_id=session_id,
            turn_id=wanted.turn_id,
            question_id=wanted.question_id,
            text=wanted.text,
            options=list(wanted.options),
        )
        try:
            return await ask_client(client, params)
        except JsonRpcException as error:
            log.warning("the client cannot show %s: %s", wanted.question_id, error)
            return await otherwise(session_id, wanted)

    return ask


async def ask_client(client: Client, params: QuestionAskParams) -> QuestionReply | None:
    """One `pai/question/ask`; None when the client gave no usable answer."""
    answer = await client.request("pai/question/ask", encode(params))
    result = _decoded(QuestionAskResult, answer)
    return None if result is None else QuestionReply(result.answer)


async def ask_reason(client: Client, session_id: str) -> str | None:
    """Why the person rejects something, "" for no reason; None when they closed the question."""
    question = QuestionAskParams(session_id=session_id, text="Why not?")
    try:
        reply = await ask_client(client, question)
    except JsonRpcException as error:
        log.warning("the client cannot ask for a reason: %s", error)
        return None
    return reply.text.strip() if reply and reply.text is not None else None


def _decoded(kind: type[W], answer: object) -> W | None:
    """The client's answer; None for null and for what is none."""
    if answer is None:
        return None
    try:
        return decode(kind, answer)
    except ValidationError as error:
        log.warning("the client's answer is no %s: %s", kind.__name__, explain(error))
        return None


def _identifier(wanted: ApprovalRequested | QuestionAsked) -> str:
    return wanted.approval_id if isinstance(wanted, ApprovalRequested) else wanted.question_id


def _report(task: asyncio.Task[None]) -> None:
    """A bug in asking must be seen; the run goes on waiting."""
    if not task.cancelled() and (failure := task.exception()) is not None:
        log.error("%s failed", task.get_name(), exc_info=failure)
