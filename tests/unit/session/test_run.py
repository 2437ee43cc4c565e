"""The run's state table."""

import pytest

from pails.core.events import RunState
from pails.session.run import TRANSITIONS, Signal, TransitionError, next_state

ENDED = {RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.INTERRUPTED}


def test_a_run_from_start_to_end() -> None:
    state = RunState.QUEUED
    for signal in (Signal.START, Signal.WAIT, Signal.WAIT, Signal.PROCEED, Signal.COMPLETE):
        state = next_state(state, signal)
    assert state is RunState.COMPLETED


def test_an_invalid_signal_names_the_valid_ones() -> None:
    with pytest.raises(TransitionError, match="queued cannot proceed; valid here: start, fail"):
        next_state(RunState.QUEUED, Signal.PROCEED)


def test_every_state_has_a_row() -> None:
    assert set(TRANSITIONS) == set(RunState)


@pytest.mark.parametrize("state", sorted(ENDED))
def test_nothing_leads_out_of_an_ended_run(state: RunState) -> None:
    assert TRANSITIONS[state] == {}


@pytest.mark.parametrize("state", sorted(set(RunState) - ENDED))
@pytest.mark.parametrize("signal", [Signal.FAIL, Signal.CANCEL, Signal.INTERRUPT])
def test_a_living_run_can_always_be_ended(state: RunState, signal: Signal) -> None:
    assert next_state(state, signal) in ENDED
