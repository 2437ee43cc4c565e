"""Whoever asks a person gets that person's answer, however the answers come."""

import asyncio

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    Effect,
    Event,
    RunState,
)
from pails.core.ports import Action, ApprovalAnswer, Decision
from pails.session.person import SessionPerson
from pails.session.run import Signal, next_state

ALLOW = ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)


class Run:
    """The state of a run, changed along the table."""

    def __init__(self) -> None:
        self.state = RunState.RUNNING
        self.asked: list[ApprovalRequested] = []

    def signal(self, signal: Signal) -> None:
        self.state = next_state(self.state, signal)

    async def emit(self, event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            self.asked.append(event)


async def test_two_answers_at_once_let_the_run_go_on_once() -> None:
    run = Run()
    person = SessionPerson(lambda: "t", run.emit, run.signal)
    action = Action("read_file", Effect.READ, "Read")
    decision = Decision("ask", "why", "what is granted")
    waiting = [
        asyncio.create_task(person.approve(str(n), action, decision, "text", "")) for n in (1, 2)
    ]
    while len(run.asked) < 2:
        await asyncio.sleep(0)
    assert run.state is RunState.WAITING
    assert {(asked.reason, asked.rule) for asked in run.asked} == {("why", "what is granted")}
    first, second = (asked.approval_id for asked in run.asked)
    assert [person.answer_approval(answered, ALLOW) for answered in (first, second)] == [True, True]
    assert not person.answer_approval(first, ALLOW)
    assert await asyncio.gather(*waiting) == [ALLOW, ALLOW]
    assert run.state is RunState.RUNNING
