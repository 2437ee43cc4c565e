"""What a session is, as the sum of its events: live and on reopening, `apply` alone writes it."""

from dataclasses import dataclass
from functools import singledispatchmethod

from pails.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    Mode,
    ModeChanged,
    ModelChanged,
    PlanStep,
    PlanUpdated,
    QuestionAnswered,
    QuestionAsked,
    RoundStarted,
    RunState,
    RunStateChanged,
    SessionCreated,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)
from pails.core.messages import Message, ToolCall, ToolMessage, Usage


@dataclass(slots=True)
class OpenCall:
    """A call of the newest reply that has no result yet, or has one that waits for its turn."""

    call: ToolCall
    effect: Effect | None = None  # set once it started
    result: ToolMessage | None = None


class SessionState:
    """The conversation and everything else a client needs to show a session."""

    def __init__(self) -> None:
        self.workspace = ""
        self.title = ""
        self.mode = Mode.AUTO
        self.model = ""
        self.turn_id: str | None = None
        self.run_state: RunState | None = None
        self.plan: tuple[PlanStep, ...] = ()
        self.pending: dict[str, ApprovalRequested | QuestionAsked] = {}
        self.turn_rounds = 0
        self.turn_files: dict[str, None] = {}
        self.turn_usage = Usage()
        self._messages: list[Message] = []
        self._calls: dict[str, OpenCall] = {}

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation. Sendable whenever `unanswered` is empty."""
        return tuple(self._messages)

    @property
    def unanswered(self) -> tuple[OpenCall, ...]:
        """The calls without a result, in the model's order."""
        return tuple(call for call in self._calls.values() if call.result is None)

    @property
    def call_ids(self) -> frozenset[str]:
        """Every call id of the conversation."""
        return frozenset(m.call_id for m in self._messages if isinstance(m, ToolMessage))

    @singledispatchmethod
    def apply(self, event: Event) -> None:
        """Take the event in. Events that change nothing here pass."""

    @apply.register
    def _(self, event: SessionCreated) -> None:
        self.workspace, self.mode, self.model = event.workspace, event.mode, event.model

    @apply.register
    def _(self, event: ModeChanged) -> None:
        self.mode = event.mode

    @apply.register
    def _(self, event: ModelChanged) -> None:
        self.model = event.model

    @apply.register
    def _(self, event: TurnStarted) -> None:
        self.turn_id = event.turn_id
        self.run_state = RunState.QUEUED
        self.title = self.title or event.title
        self.turn_rounds, self.turn_files, self.turn_usage = 0, {}, Usage()

    @apply.register
    def _(self, event: RunStateChanged) -> None:
        self.run_state = event.state

    @apply.register
    def _(self, event: RoundStarted) -> None:
        self.turn_rounds = event.number

    @apply.register
    def _(self, event: UserMessageAdded) -> None:
        self._messages.append(event.message)

    @apply.register
    def _(self, event: AssistantMessageAdded) -> None:
        self._messages.append(event.message)
        self._calls = {call.id: OpenCall(call) for call in event.message.tool_calls}

    @apply.register
    def _(self, event: ToolCallStarted) -> None:
        self._calls[event.call_id].effect = event.effect

    @apply.register
    def _(self, event: ToolCallEnded) -> None:
        """Results join the conversation together and in the model's order."""
        result = ToolMessage(event.call_id, event.text, event.is_error)
        self._calls[event.call_id].result = result
        results = [call.result for call in self._calls.values()]
        if None not in results:
            self._messages.extend(result for result in results if result)
            self._calls = {}

    @apply.register
    def _(self, event: UsageReported) -> None:
        self.turn_usage += event.usage

    @apply.register
    def _(self, event: PlanUpdated) -> None:
        self.plan = event.steps

    @apply.register
    def _(self, event: FileChanged) -> None:
        self.turn_files[event.path] = None

    @apply.register
    def _(self, event: ApprovalRequested) -> None:
        self.pending[event.approval_id] = event

    @apply.register
    def _(self, event: ApprovalResolved) -> None:
        self.pending.pop(event.approval_id, None)

    @apply.register
    def _(self, event: QuestionAsked) -> None:
        self.pending[event.question_id] = event

    @apply.register
    def _(self, event: QuestionAnswered) -> None:
        self.pending.pop(event.question_id, None)

    @apply.register
    def _(self, event: TurnEnded) -> None:
        if event.turn_id == self.turn_id:  # else a queued one, which never started
            self.turn_id = self.run_state = None
