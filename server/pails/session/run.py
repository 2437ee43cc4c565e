"""The life of a run as a table: which signal leads from which state to which.

A run is the execution of one turn. Its state is never held in a coroutine's locals only: each
transition is an event in the log.
"""

from enum import StrEnum

from pails.core.errors import InternalError
from pails.core.events import RunState


class Signal(StrEnum):
    """What can happen to a run."""

    START = "start"
    WAIT = "wait"  # for a person
    PROCEED = "proceed"  # the person answered
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    INTERRUPT = "interrupt"  # the process ends or died


_ENDINGS = {
    Signal.FAIL: RunState.FAILED,
    Signal.CANCEL: RunState.CANCELLED,
    Signal.INTERRUPT: RunState.INTERRUPTED,
}

TRANSITIONS: dict[RunState, dict[Signal, RunState]] = {
    RunState.QUEUED: {Signal.START: RunState.RUNNING, **_ENDINGS},
    RunState.RUNNING: {
        Signal.WAIT: RunState.WAITING,
        Signal.COMPLETE: RunState.COMPLETED,
        **_ENDINGS,
    },
    RunState.WAITING: {
        Signal.WAIT: RunState.WAITING,  # a second call of the batch waits too
        Signal.PROCEED: RunState.RUNNING,
        **_ENDINGS,
    },
    RunState.COMPLETED: {},
    RunState.FAILED: {},
    RunState.CANCELLED: {},
    RunState.INTERRUPTED: {},
}


class TransitionError(InternalError):
    """A signal that means nothing in the state it met: a bug of ours."""


def next_state(state: RunState, signal: Signal) -> RunState:
    """The state after the signal; raises `TransitionError` and names the valid ones."""
    allowed = TRANSITIONS[state]
    if signal not in allowed:
        valid = ", ".join(allowed) or "none"
        raise TransitionError(f"A run that is {state} cannot {signal}; valid here: {valid}.")
    return allowed[signal]
