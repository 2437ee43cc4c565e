"""The order that the tree in `core/events.py` draws, as a check of what a session has said.

order = EventOrder()
for event in events:
    order.take(event)       # AssertionError with the event that may not stand there
order.finish()              # every turn that was promised has ended
"""

from dataclasses import dataclass, field

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    HunksResolved,
    ModeChanged,
    ModelChanged,
    Notice,
    PlanUpdated,
    PromptAccepted,
    PromptEdited,
    PromptJoined,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    ReplyDiscarded,
    RewindStarted,
    Rewound,
    RoundStarted,
    RunState,
    RunStateChanged,
    SessionCreated,
    SessionRenamed,
    SessionReopened,
    SnapshotTaken,
    SyntaxChecked,
    TextDelta,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    ToolOutputDelta,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)

_ENDS = (RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.INTERRUPTED)
_ALLOWED = (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_SESSION)


@dataclass
class _Call:
    """How far a call of the newest reply has come. `approved` is None where nobody was asked."""

    effect: Effect | None = None
    started: bool = False
    ended: bool = False
    approval_id: str | None = None
    approved: bool | None = None
    files: set[str] = field(default_factory=set[str])

    @property
    def is_under_way(self) -> bool:
        return self.effect is not None and not self.ended


@dataclass
class _Turn:
    id: str
    state: RunState = RunState.QUEUED
    messages: int = 0
    joins: int = 0  # prompts that joined and whose message has not come
    heard: bool = False  # the person has spoken since the last round
    rounds: int = 0
    wraps_up: bool = False
    in_reply: bool = False  # a round has started, its reply has not come
    after_reply: bool = False  # the reply was the last event
    calls: dict[str, _Call] = field(default_factory=dict[str, _Call])
    questions: set[str] = field(default_factory=set[str])
    files: set[str] = field(default_factory=set[str])

    @property
    def open_calls(self) -> list[_Call]:
        return [call for call in self.calls.values() if not call.ended]

    @property
    def waits(self) -> bool:
        return bool(self.questions) or any(call.approval_id for call in self.calls.values())


class EventOrder:
    """Takes the events of one session from the first on."""

    def __init__(self) -> None:
        self._began = False
        self._promised: set[str] = set()
        self._known: set[str] = set()
        self._turn: _Turn | None = None
        self._rewinding: RewindStarted | None = None

    def take(self, event: Event) -> None:
        try:
            self._take(event)
        except AssertionError as error:
            raise AssertionError(f"{error or 'out of order'}: {event}") from error

    def finish(self) -> None:
        assert self._turn is None, f"turn {self._turn} has no end"
        assert not self._promised, f"promised, and no end: {self._promised}"
        assert self._rewinding is None, f"a rewind has no end: {self._rewinding}"

    def _take(self, event: Event) -> None:
        assert self._began != isinstance(event, SessionCreated), "SessionCreated comes first, once"
        self._began = True
        match event:
            case (
                SessionCreated()
                | SessionReopened()
                | SessionRenamed()
                | ModeChanged()
                | ModelChanged()
                | Notice()
            ):
                pass
            case HunksResolved() | SnapshotTaken():
                assert event.turn_id in self._known, "of a turn that nobody asked for"
            case RewindStarted():
                assert self._rewinding is None, "one rewind at a time"
                self._rewinding = event
            case Rewound():
                assert self._turn is None or not event.talk, "in the middle of a turn"
                if self._rewinding is not None:
                    assert event.rewind_id == self._rewinding.rewind_id, "another one is under way"
                else:
                    assert not event.files, "files went back before the log said so"
                self._rewinding = None
            case PromptAccepted():
                assert event.turn_id not in self._known, "accepted before"
                self._known.add(event.turn_id)
                self._promised.add(event.turn_id)
            case PromptEdited():
                assert event.turn_id in self._promised, "it does not wait"
            case PromptJoined():
                assert self._turn is not None and self._turn.id == event.turn_id
                assert event.joined_id in self._promised, "it does not wait"
                self._promised.remove(event.joined_id)
                self._turn.joins += 1
            case TurnStarted():
                assert self._turn is None, "one turn at a time"
                assert event.turn_id in self._promised, "not promised"
                self._promised.remove(event.turn_id)
                self._turn = _Turn(event.turn_id)
            case TurnEnded() if event.turn_id in self._promised:
                assert (event.rounds, event.files) == (0, ()), "nothing of it has happened"
                assert event.state in _ENDS
                self._promised.remove(event.turn_id)
            case _:
                turn = self._turn
                assert turn is not None, "outside of a turn"
                assert event.turn_id == turn.id, "of another turn"
                if isinstance(event, TurnEnded):
                    _end_turn(turn, event)
                    self._turn = None
                else:
                    _in_turn(turn, event)


def _end_turn(turn: _Turn, event: TurnEnded) -> None:
    assert event.state in _ENDS
    assert not turn.open_calls, "a call has no end"
    assert not turn.waits, "somebody is still asked"
    assert event.rounds == turn.rounds - turn.wraps_up, "the rounds are not those that started"
    assert set(event.files) == turn.files
    if event.state is RunState.COMPLETED:
        assert turn.rounds and not turn.in_reply, "the last round has no reply"


def _in_turn(turn: _Turn, event: Event) -> None:
    after_reply, turn.after_reply = turn.after_reply, False
    match event:
        case RunStateChanged():
            allowed = (RunState.RUNNING, RunState.WAITING)
            assert event.state in allowed and event.state is not turn.state
            assert turn.state is not RunState.QUEUED or event.state is RunState.RUNNING
            assert event.state is RunState.WAITING or not turn.waits
            turn.state = event.state
        case UserMessageAdded():
            assert turn.state is RunState.RUNNING and not turn.open_calls and not turn.in_reply
            if turn.joins:
                assert event.message.origin == "person" and turn.rounds
                turn.joins, turn.heard = turn.joins - 1, True
                return
            expected = "pails" if turn.messages else "person"
            assert event.message.origin == expected
            assert turn.messages == 0 or (turn.messages == 1 and turn.calls), "not at the limit"
            turn.messages += 1
        case RoundStarted():
            assert turn.messages and not turn.in_reply and not turn.open_calls
            assert turn.rounds == 0 or turn.calls or turn.heard, "the reply asked for nothing"
            assert not turn.joins, "a prompt joined without its words"
            turn.heard = False
            assert event.number == turn.rounds + 1
            assert event.wrap_up == (turn.messages == 2)
            assert not turn.wraps_up, "it was the last"
            turn.rounds, turn.wraps_up, turn.in_reply = event.number, event.wrap_up, True
        case TextDelta() | ReasoningDelta() | ReplyDiscarded():
            assert turn.in_reply, "no reply is under way"
        case AssistantMessageAdded():
            assert turn.in_reply, "no reply is under way"
            turn.in_reply, turn.after_reply = False, True
            turn.calls = {call.id: _Call() for call in event.message.tool_calls}
        case UsageReported():
            assert after_reply, "usage follows its reply"
        case QuestionAsked() | QuestionAnswered() | PlanUpdated():
            _interact(turn, event)
        case ApprovalResolved():
            asked = [c for c in turn.calls.values() if c.approval_id == event.approval_id]
            assert asked, "not asked"
            asked[0].approval_id, asked[0].approved = None, event.choice in _ALLOWED
        case _:
            _in_call(turn, event)


def _interact(turn: _Turn, event: QuestionAsked | QuestionAnswered | PlanUpdated) -> None:
    calls = [call for call in turn.open_calls if call.started]
    assert [call.effect for call in calls] == [Effect.INTERACT], "no such call runs"
    if isinstance(event, QuestionAsked):
        assert turn.state is RunState.WAITING and not turn.questions
        turn.questions.add(event.question_id)
    elif isinstance(event, QuestionAnswered):
        assert event.question_id in turn.questions, "not asked"
        turn.questions.remove(event.question_id)


def _in_call(turn: _Turn, event: Event) -> None:
    call_id = getattr(event, "call_id", "")
    assert call_id in turn.calls, "of no call of the newest reply"
    call = turn.calls[call_id]
    assert not call.ended, "its call has ended"
    match event:
        case ToolCallPrepared():
            assert call.effect is None, "prepared before"
            others = [other.effect for other in turn.calls.values() if other.is_under_way]
            assert not others or {*others, event.effect} == {Effect.READ}, "only reads overlap"
            call.effect = event.effect
        case ApprovalRequested():
            assert call.effect and not call.started and call.approved is None
            assert call.approval_id is None and turn.state is RunState.WAITING
            call.approval_id = event.approval_id
        case ToolCallStarted():
            assert call.effect is event.effect and not call.started
            assert call.approval_id is None and call.approved is not False, "not allowed"
            call.started = True
        case ToolOutputDelta():
            assert call.started
        case FileChanged():
            assert call.started and call.effect is Effect.WRITE
            call.files.add(event.path)
            turn.files.add(event.path)
        case SyntaxChecked():
            assert event.path in call.files, "checked, and not written"
        case ToolCallEnded():
            assert call.approval_id is None and not (call.effect and turn.questions)
            assert call.started or event.is_error, "it never ran, so it cannot have succeeded"
            call.ended = True
        case _:
            raise AssertionError("unknown here")
