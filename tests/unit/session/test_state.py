"""The state is the sum of the events, and its history is sendable whenever nothing is open."""

import itertools

import pytest

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    Mode,
    PromptAccepted,
    QuestionAnswered,
    QuestionAsked,
    RunState,
    RunStateChanged,
    SessionCreated,
    StopReason,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import (
    AssistantMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
    check_sendable,
)
from pails.session.ending import closing_events, missing_end
from pails.session.run import Signal
from pails.session.state import SessionState

A, B = ToolCall("a", "read_file", "{}"), ToolCall("b", "run_command", "{}")

STORY: list[Event] = [
    SessionCreated("/w", Mode.AUTO, ""),
    TurnStarted("t", "do it", Mode.AUTO, "m"),
    RunStateChanged("t", RunState.RUNNING),
    UserMessageAdded("t", UserMessage("do it")),
    AssistantMessageAdded("t", AssistantMessage("", (A, B))),
    ToolCallStarted("t", "a", Effect.READ),
    ToolCallEnded("t", "a", "text"),
    ApprovalRequested("t", "b", "ap", "run_command", "Run x", "x", "run_command: x", "asks"),
    ToolCallStarted("t", "b", Effect.EXECUTE),
    QuestionAsked("t", "q", "why?"),
    ToolCallEnded("t", "b", "done"),
]

TWO_TURNS: list[Event] = [
    *STORY[:8],
    ApprovalResolved("t", "ap", ApprovalChoice.ALLOW_ONCE),
    *STORY[8:10],
    QuestionAnswered("t", "q", "so"),
    STORY[10],
    AssistantMessageAdded("t", AssistantMessage("Done.")),
    TurnEnded("t", RunState.COMPLETED, StopReason.DONE, 2, Usage(), 1.0),
    TurnStarted("t2", "more", Mode.AUTO, "m"),
    RunStateChanged("t2", RunState.RUNNING),
    UserMessageAdded("t2", UserMessage("more")),
    AssistantMessageAdded("t2", AssistantMessage("Done again.")),
    TurnEnded("t2", RunState.COMPLETED, StopReason.DONE, 1, Usage(), 1.0),
]


def replayed(events: list[Event]) -> SessionState:
    state = SessionState()
    for event in events:
        state.apply(event)
    return state


def test_results_join_the_history_in_the_models_order() -> None:
    events = [*STORY[:5], ToolCallEnded("t", "b", "second"), ToolCallEnded("t", "a", "first")]
    state = replayed(events)
    assert state.messages[-2:] == (ToolMessage("a", "first"), ToolMessage("b", "second"))


@pytest.mark.parametrize("length", range(4, len(STORY) + 1))
@pytest.mark.parametrize("signal", [Signal.CANCEL, Signal.FAIL, Signal.INTERRUPT])
def test_a_turn_that_stops_anywhere_leaves_a_sendable_history(length: int, signal: Signal) -> None:
    state = replayed(STORY[:length])
    for event in closing_events(state, "t", signal):
        state.apply(event)
    check_sendable(state.messages)
    assert state.unanswered == ()
    assert state.pending == {}


def test_what_is_known_of_a_cut_off_call_is_said() -> None:
    started = replayed(STORY[:9])
    (ended,) = [
        e for e in closing_events(started, "t", Signal.INTERRUPT) if isinstance(e, ToolCallEnded)
    ]
    assert ended.call_id == "b"
    assert "Outcome unknown" in ended.text
    waiting = replayed(STORY[:8])
    (ended,) = [
        e for e in closing_events(waiting, "t", Signal.CANCEL) if isinstance(e, ToolCallEnded)
    ]
    assert ended.text.startswith("Not run: cancelled by the user")


def test_a_dead_process_leaves_an_missing_end() -> None:
    state = replayed(STORY[:9])
    events = missing_end(state)
    for event in events:
        state.apply(event)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].state is RunState.INTERRUPTED
    assert missing_end(state) == []


def test_the_end_of_a_queued_turn_leaves_the_running_one_alone() -> None:
    state = replayed(STORY[:4])
    ended = TurnEnded("other", RunState.CANCELLED, StopReason.CANCELLED, 0, Usage(), 0.0)
    state.apply(ended)
    assert (state.turn_id, state.run_state) == ("t", RunState.RUNNING)


def test_queued_turns_end_with_the_process_that_promised_them() -> None:
    queued = [PromptAccepted("q1", "one", 1), PromptAccepted("q2", "two", 2)]
    cancelled = TurnEnded("q1", RunState.CANCELLED, StopReason.CANCELLED, 0, Usage(), 0.0)
    ends = missing_end(replayed([*STORY, *queued, cancelled]))
    assert [e.turn_id for e in ends if isinstance(e, TurnEnded)] == ["t", "q2"]
    assert isinstance(ends[-1], TurnEnded)
    assert (ends[-1].state, ends[-1].rounds) == (RunState.INTERRUPTED, 0)
    assert "Send it again" in ends[-1].error
    assert missing_end(replayed([*STORY, *queued, cancelled, *ends])) == []


@pytest.mark.parametrize("lost", range(len(TWO_TURNS)))
def test_a_log_that_lacks_any_record_gives_a_history_that_can_be_sent(lost: int) -> None:
    state = replayed(TWO_TURNS[:lost] + TWO_TURNS[lost + 1 :])
    for event in missing_end(state):
        state.apply(event)
    check_sendable(state.messages)
    before = [None, *state.messages]
    for previous, message in zip(before, state.messages, strict=False):
        if isinstance(message, AssistantMessage):
            assert isinstance(previous, UserMessage | ToolMessage), state.messages
    assert state.unanswered == ()
    assert state.pending == {}
    assert state.run_state is None


def test_orders_of_parallel_results_do_not_matter() -> None:
    calls = tuple(ToolCall(str(n), "read_file", "{}") for n in range(3))
    histories = set()
    for order in itertools.permutations(calls):
        state = replayed(STORY[:4])
        state.apply(AssistantMessageAdded("t", AssistantMessage("", calls)))
        for call in order:
            state.apply(ToolCallEnded("t", call.id, f"result {call.id}"))
        histories.add(state.messages)
    assert len(histories) == 1
