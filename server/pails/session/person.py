"""The person as the agent sees them: asked through events, answering whenever they like.

Any client may answer, in any order. Unanswered is not refused: the run waits. What is still
pending when a turn ends is resolved as cancelled by the session.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pails.core.errors import InvalidRequestError
from pails.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    ProposedHunk,
    QuestionAnswered,
    QuestionAsked,
)
from pails.core.ports import Action, ApprovalAnswer, Decision, Emit
from pails.session.ids import new_id
from pails.session.run import Signal

T = TypeVar("T")


class _Pending(Generic[T]):
    """Questions of one kind that wait for their answers."""

    def __init__(self) -> None:
        self._futures: dict[str, asyncio.Future[T]] = {}

    def open(self, identifier: str) -> None:
        """Before the question is put: whoever hears it may answer at once."""
        self._futures[identifier] = asyncio.get_running_loop().create_future()

    async def wait(self, identifier: str) -> T:
        """The answer. Until it is taken here, the question counts as waiting."""
        try:
            return await self._futures[identifier]
        finally:
            self._futures.pop(identifier, None)

    def waits_for(self, identifier: str) -> bool:
        future = self._futures.get(identifier)
        return future is not None and not future.done()

    def answer(self, identifier: str, answer: T) -> bool:
        """False when it was answered or dropped before: the late answer changes nothing."""
        if not self.waits_for(identifier):
            return False
        self._futures[identifier].set_result(answer)
        return True

    def __bool__(self) -> bool:
        return bool(self._futures)

    def clear(self) -> None:
        self._futures.clear()


class SessionPerson:
    """Implements `core.ports.Person` for the turns of one session."""

    def __init__(
        self, turn_id: Callable[[], str], emit: Emit, signal: Callable[[Signal], None]
    ) -> None:
        self._turn_id = turn_id
        self._emit = emit
        self._signal = signal
        self._approvals: _Pending[ApprovalAnswer] = _Pending()
        self._offered: dict[str, Sequence[ProposedHunk]] = {}
        self._questions: _Pending[str | None] = _Pending()

    async def approve(
        self,
        call_id: str,
        action: Action,
        decision: Decision,
        text: str,
        diff: str,
        *,
        hunks: Sequence[ProposedHunk] = (),
    ) -> ApprovalAnswer:
        approval_id, turn_id = new_id("approval"), self._turn_id()
        self._offered[approval_id] = hunks
        request = ApprovalRequested(
            turn_id,
            call_id,
            approval_id,
            action.tool,
            action.title,
            text,
            decision.rule,
            decision.reason,
            diff,
            tuple(hunks),
        )

        def resolved(answer: ApprovalAnswer) -> ApprovalResolved:
            texts = tuple(answer.texts)
            return ApprovalResolved(
                turn_id, approval_id, answer.choice, answer.feedback, answer.hunk_ids, texts
            )

        return await self._put(self._approvals, approval_id, request, resolved)

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        question_id, turn_id = new_id("question"), self._turn_id()
        asked = QuestionAsked(turn_id, question_id, question, tuple(options))

        def answered(answer: str | None) -> QuestionAnswered:
            return QuestionAnswered(turn_id, question_id, answer)

        return await self._put(self._questions, question_id, asked, answered)

    def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
        """Raises `InvalidRequestError` for parts that the call has not; it then waits on."""
        if not self._approvals.waits_for(approval_id):
            return False
        offered = self._offered[approval_id]
        ids, paths = {hunk.id for hunk in offered}, {hunk.path for hunk in offered}
        strange = [*({*(answer.hunk_ids or ())} - ids), *(answer.texts.keys() - paths)]
        if strange:
            raise InvalidRequestError(
                f"This approval offers no part {strange[0]!r}. It still waits for an answer."
            )
        return self._approvals.answer(approval_id, answer)

    def answer_question(self, question_id: str, answer: str | None) -> bool:
        return self._questions.answer(question_id, answer)

    def forget(self) -> None:
        """The turn is over: late answers change nothing."""
        self._approvals.clear()
        self._offered.clear()
        self._questions.clear()

    async def _put(
        self, waiting: _Pending[T], identifier: str, question: Event, end: Callable[[T], Event]
    ) -> T:
        """Put a question, wait for its answer, and say by `end` what that was."""
        waiting.open(identifier)
        self._signal(Signal.WAIT)
        await self._emit(question)
        answer = await waiting.wait(identifier)
        await self._emit(end(answer))
        if not self._approvals and not self._questions:
            self._signal(Signal.PROCEED)
        return answer
