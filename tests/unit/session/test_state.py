"""The state is the sum of the events, and its history is sendable whenever nothing is open."""

import itertools

import pytest

from pails.core.events import (
    ApprovalRequested,
    AssistantMessageAdded,
    Effect,
    Event,
    Mode,
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
from pails.session.ending import closing_events, interrupted_turn
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


def test_a_dead_process_leaves_an_interrupted_turn() -> None:
    state = replayed(STORY[:9])
    events = interrupted_turn(state)
    for event in events:
        state.apply(event)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].state is RunState.INTERRUPTED
    assert interrupted_turn(state) == []


def test_the_end_of_a_queued_turn_leaves_the_running_one_alone() -> None:
    state = replayed(STORY[:4])
    ended = TurnEnded("other", RunState.CANCELLED, StopReason.CANCELLED, 0, Usage(), 0.0)
    state.apply(ended)
    assert (state.turn_id, state.run_state) == ("t", RunState.RUNNING)


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
