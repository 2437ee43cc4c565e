"""How a turn that stops in the middle is closed, so that its history can be sent again.

The same for a turn that was cancelled, one that failed, and one whose process died: nobody is
asked any more, and every call has a result that says what is known of it.
"""

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    Effect,
    Event,
    Notice,
    QuestionAnswered,
    Rewound,
    RunState,
    StopReason,
    ToolCallEnded,
    TurnEnded,
)
from pails.core.messages import Usage
from pails.session.run import Signal, next_state
from pails.session.state import OpenCall, SessionState

HALF_REWOUND = (
    "Pails ended in the middle of a rewind: some files have gone back, others may not have. Go "
    "back again to finish it, or undo the rewind to have all files as they were."
)
ENDED_FIRST = "Pails ended before this turn began. Send it again."

STOP_REASONS = {
    Signal.CANCEL: StopReason.CANCELLED,
    Signal.INTERRUPT: StopReason.INTERRUPTED,
    Signal.FAIL: StopReason.ERROR,
}


def closing_events(state: SessionState, turn_id: str, signal: Signal) -> list[Event]:
    """Resolve what waits for a person and end the calls without a result, in order."""
    events: list[Event] = []
    for pending in state.pending.values():
        if isinstance(pending, ApprovalRequested):
            choice = ApprovalChoice.CANCELLED
            events.append(ApprovalResolved(turn_id, pending.approval_id, choice))
        else:
            events.append(QuestionAnswered(turn_id, pending.question_id, None))
    for call in state.unanswered:
        text, summary = _cut_off(call, signal)
        events.append(ToolCallEnded(turn_id, call.call.id, text, is_error=True, summary=summary))
    return events


def never_started(turn_id: str, signal: Signal, error: str = "") -> TurnEnded:
    """The end of a turn of which nothing has happened."""
    state = next_state(RunState.QUEUED, signal)
    return TurnEnded(turn_id, state, STOP_REASONS[signal], 0, Usage(), 0.0, error=error)


def missing_end(state: SessionState) -> list[Event]:
    """What a log lacks whose process died: the ends of a rewind, of its turn and those behind."""
    rewound = _cut_off_rewind(state)
    queued = [never_started(turn, Signal.INTERRUPT, ENDED_FIRST) for turn in state.queued]
    if state.turn_id is None or state.run_state is None:
        return [*rewound, *queued]
    return [
        *rewound,
        *closing_events(state, state.turn_id, Signal.INTERRUPT),
        TurnEnded(
            state.turn_id,
            next_state(state.run_state, Signal.INTERRUPT),
            StopReason.INTERRUPTED,
            state.turn_rounds,
            state.turn_usage,
            0.0,
            tuple(state.turn_files),
            "The process ended in the middle of this turn. What was done so far is kept.",
        ),
        *queued,
    ]


def _cut_off_rewind(state: SessionState) -> list[Event]:
    """It names no file, since nobody knows which have gone back, but it can be taken back."""
    begun = state.rewinding
    if begun is None:
        return []
    rewound = Rewound(
        begun.rewind_id,
        begun.to_turn_id,
        talk=False,
        snapshot_id=begun.snapshot_id,
        after_id=begun.after_id,
    )
    return [rewound, Notice("warning", HALF_REWOUND)]


def _cut_off(call: OpenCall, signal: Signal) -> tuple[str, str]:
    """The result of a call without one: its words for the model, and for the person."""
    who = "cancelled by the user" if signal is Signal.CANCEL else "interrupted"
    if call.effect is None:
        return f"Not run: {who} before it started. Nothing was done.", f"{who}, not run"
    if call.effect in (Effect.READ, Effect.INTERACT):
        return f"No result: {who} while it ran.", who
    text = f"Outcome unknown: {who} while it ran. Check what it did before you repeat it."
    return text, f"{who}, outcome unknown"
