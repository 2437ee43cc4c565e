"""What a session is, as the sum of its events: live and on reopening, `apply` alone writes it."""

from dataclasses import dataclass
from functools import singledispatchmethod

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    Mode,
    ModeChanged,
    ModelChanged,
    PromptAccepted,
    PromptJoined,
    QuestionAnswered,
    QuestionAsked,
    RewindStarted,
    Rewound,
    RoundStarted,
    RunState,
    RunStateChanged,
    SessionCreated,
    SessionRenamed,
    SessionReopened,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)
from pails.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from pails.session.changes.file_chains import FileChains
from pails.session.changes.knowledge import Knowledge
from pails.session.rewinding.rewind_history import RewindHistory

LOST = "[Lost: the log of this session is damaged here.]"


@dataclass(slots=True)
class OpenCall:
    """A call of the newest reply that has no result yet, or has one that waits for its turn."""

    call: ToolCall
    effect: Effect | None = None  # set once it started
    result: ToolMessage | None = None


class SessionState:
    """The conversation and everything else a client needs to show a session."""

    def __init__(self) -> None:
        self.is_blank = True  # new, and nothing was ever asked
        self.workspace = ""
        self.title = ""
        self.mode = Mode.AUTO
        self.model = ""
        self.turn_id: str | None = None
        self.run_state: RunState | None = None
        self.pending: dict[str, ApprovalRequested | QuestionAsked] = {}
        self.grants: dict[str, None] = {}  # rules that the person allowed for the session
        self.queued: dict[str, None] = {}  # turns that were promised and have not started
        self.turn_rounds = 0
        self.turn_files: dict[str, None] = {}
        self.turn_usage = Usage()
        self.file_chains = FileChains()
        self._rewinds = RewindHistory()
        self.knowledge = Knowledge(self._rewinds.in_talk)
        self.rewinding: RewindStarted | None = None
        """The rewind that is being carried out."""
        self._said: list[tuple[str, Message]] = []  # with its turn, also what a rewind took away
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

    def apply(self, event: Event) -> None:
        """Take the event in."""
        self._apply(event)
        self.file_chains.apply(event)
        self.knowledge.apply(event)

    @singledispatchmethod
    def _apply(self, event: Event) -> None:
        """Events that change nothing here pass."""

    @_apply.register
    def _(self, event: SessionCreated) -> None:
        self.workspace, self.mode, self.model = event.workspace, event.mode, event.model

    @_apply.register
    def _(self, _: SessionReopened) -> None:
        self.is_blank = False

    @_apply.register
    def _(self, event: SessionRenamed) -> None:
        self.title = event.title

    @_apply.register
    def _(self, event: ModeChanged) -> None:
        self.mode = event.mode

    @_apply.register
    def _(self, event: ModelChanged) -> None:
        self.model = event.model

    @_apply.register
    def _(self, event: PromptAccepted) -> None:
        self.is_blank = False
        self.queued[event.turn_id] = None

    @_apply.register
    def _(self, event: PromptJoined) -> None:
        self.queued.pop(event.joined_id, None)

    @_apply.register
    def _(self, event: TurnStarted) -> None:
        self._rewinds.start(event.turn_id)
        self.queued.pop(event.turn_id, None)
        self.pending = {}  # as below: left open only where a log lacks records
        self.turn_id = event.turn_id
        self.run_state = RunState.QUEUED
        self.title = self.title or event.title
        self.turn_rounds, self.turn_files, self.turn_usage = 0, {}, Usage()

    @_apply.register
    def _(self, event: RunStateChanged) -> None:
        if event.turn_id == self.turn_id:
            self.run_state = event.state

    @_apply.register
    def _(self, event: RoundStarted) -> None:
        if not event.wrap_up:
            self.turn_rounds = event.number

    @_apply.register
    def _(self, event: UserMessageAdded) -> None:
        self._mend_history()
        self._say(event.turn_id, event.message)

    @_apply.register
    def _(self, event: AssistantMessageAdded) -> None:
        self._mend_history()
        if not self._messages or isinstance(self._messages[-1], AssistantMessage):
            self._say(event.turn_id, UserMessage(LOST, origin="pails"))
        self._say(event.turn_id, event.message)
        self._calls = {call.id: OpenCall(call) for call in event.message.tool_calls}

    @_apply.register
    def _(self, event: ToolCallStarted) -> None:
        if event.call_id in self._calls:
            self._calls[event.call_id].effect = event.effect

    @_apply.register
    def _(self, event: ToolCallEnded) -> None:
        """Results join the conversation together and in the model's order."""
        if event.call_id in self._calls:
            result = ToolMessage(event.call_id, event.text, event.is_error)
            self._calls[event.call_id].result = result
            if not self.unanswered:
                self._take_results()

    @_apply.register
    def _(self, event: UsageReported) -> None:
        self.turn_usage += event.usage

    @_apply.register
    def _(self, event: FileChanged) -> None:
        self.turn_files[event.path] = None

    @_apply.register
    def _(self, event: ApprovalRequested) -> None:
        self.pending[event.approval_id] = event

    @_apply.register
    def _(self, event: ApprovalResolved) -> None:
        request = self.pending.pop(event.approval_id, None)
        allowed = event.choice is ApprovalChoice.ALLOW_SESSION
        if allowed and isinstance(request, ApprovalRequested) and request.rule:
            self.grants[request.rule] = None

    @_apply.register
    def _(self, event: QuestionAsked) -> None:
        self.pending[event.question_id] = event

    @_apply.register
    def _(self, event: QuestionAnswered) -> None:
        self.pending.pop(event.question_id, None)

    @_apply.register
    def _(self, event: TurnEnded) -> None:
        self.queued.pop(event.turn_id, None)
        if event.turn_id == self.turn_id:  # else a queued one, which never started
            self.turn_id = self.run_state = None

    @_apply.register
    def _(self, event: RewindStarted) -> None:
        self.rewinding = event

    @_apply.register
    def _(self, event: Rewound) -> None:
        """Whole turns leave the conversation, or come back to their places in it."""
        self.rewinding = None
        self._rewinds.add(event)
        if self.turn_id is None:
            in_talk = self._rewinds.in_talk
            self._messages = [message for turn, message in self._said if in_talk(turn)]

    def _say(self, turn_id: str, message: Message) -> None:
        self._said.append((turn_id, message))
        self._messages.append(message)

    def _take_results(self) -> None:
        turn_id = self._said[-1][0] if self._said else ""
        for call in self._calls.values():
            if call.result:
                self._say(turn_id, call.result)
        self._calls = {}

    def _mend_history(self) -> None:
        """A damaged log lacks results: the history must be sendable all the same."""
        for open_call in self.unanswered:
            open_call.result = ToolMessage(open_call.call.id, LOST, is_error=True)
        self._take_results()
