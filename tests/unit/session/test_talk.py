"""What a copy of a session begins with, and its text for people."""

from typing import Any

import pytest

from pails.core.errors import NotFoundError
from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    Mode,
    PromptAccepted,
    PromptEdited,
    PromptJoined,
    Rewound,
    RoundStarted,
    RunState,
    SessionCreated,
    SnapshotTaken,
    StopReason,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import AssistantMessage, ToolCall, Usage, UserMessage
from pails.session.talk import markdown_of, talk_of


def turn(turn_id: str, *inner: Event, ended: bool = True) -> list[Event]:
    events: list[Event] = [
        PromptAccepted(turn_id, f"ask {turn_id}", 0),
        TurnStarted(turn_id, f"ask {turn_id}", Mode.AUTO, "m"),
        UserMessageAdded(turn_id, UserMessage(f"ask {turn_id}")),
        RoundStarted(turn_id, 1),
        *inner,
    ]
    end = TurnEnded(turn_id, RunState.COMPLETED, StopReason.DONE, 1, Usage(), 1.0)
    return [*events, end] if ended else events


def said(turn_id: str, text: str, *calls: ToolCall) -> Event:
    return AssistantMessageAdded(turn_id, AssistantMessage(text, calls))


def edit(turn_id: str) -> list[Event]:
    return [
        said(turn_id, "I edit.", ToolCall("c1", "edit_file", "{}")),
        ToolCallPrepared(turn_id, "c1", "edit_file", "Edit a.py", Effect.WRITE),
        ApprovalRequested(turn_id, "c1", "a1", "edit_file", "Edit a.py", "", "edit a.py", "asks"),
        ApprovalResolved(turn_id, "a1", ApprovalChoice.ALLOW_SESSION),
        ToolCallStarted(turn_id, "c1", Effect.WRITE),
        FileChanged(turn_id, "c1", "/w/a.py", "", 1, 1, "disk", True),
        ToolCallEnded(turn_id, "c1", "Edited.", summary="+1 −1"),
    ]


CREATED = SessionCreated("/w", Mode.AUTO, "")


def turns_of(events: list[Event]) -> list[str]:
    return [event.turn_id for event in events if isinstance(event, TurnStarted)]


def test_a_copy_has_the_talk_and_nothing_of_changes_grants_and_snapshots() -> None:
    first = turn("t1", *edit("t1"), said("t1", "Done."))
    copied = talk_of([CREATED, SnapshotTaken("t1", "before", "s1"), *first])
    gone = (FileChanged, ApprovalRequested, ApprovalResolved, SnapshotTaken, SessionCreated)
    assert not [event for event in copied if isinstance(event, gone)]
    assert copied == [event for event in first if not isinstance(event, gone)]


def test_a_copy_ends_before_the_turn_that_is_named() -> None:
    events = [CREATED, *turn("t1", said("t1", "1")), *turn("t2", said("t2", "2"))]
    assert turns_of(talk_of(events, "t2")) == ["t1"]
    assert turns_of(talk_of(events)) == ["t1", "t2"]
    with pytest.raises(NotFoundError, match="no turn 't9'"):
        talk_of(events, "t9")


def test_what_has_not_ended_or_was_taken_back_is_left_out() -> None:
    back = Rewound("r1", "t2", talk=True)
    events = [
        *(CREATED, *turn("t1"), *turn("t2"), back),
        *(*turn("t3"), *turn("t4", ended=False), PromptAccepted("t5", "waits", 1)),
    ]
    copied = talk_of(events)
    assert {getattr(event, "turn_id", "") for event in copied} == {"t1", "t3"}
    undone = [*events, Rewound("r2", "t2", talk=True, undoes="r1")]
    assert turns_of(talk_of(undone)) == ["t1", "t2", "t3"]


def test_a_prompt_that_joined_goes_with_the_turn_it_joined() -> None:
    waiting: list[Any] = [PromptAccepted("t2", "also", 1), PromptEdited("t2", "also this")]
    joined = [PromptJoined("t1", "t2"), UserMessageAdded("t1", UserMessage("also this"))]
    events = [CREATED, *turn("t1", *waiting, *joined, said("t1", "Both done."))]
    assert talk_of(events) == events[1:]
    assert "## You, meanwhile\n\nalso this" in markdown_of("x", events)


def test_the_talk_as_a_text() -> None:
    events = talk_of([CREATED, *turn("t1", *edit("t1"), said("t1", "Done: `a`."))])
    assert markdown_of("Fix it", events) == (
        "# Fix it\n\n## You\n\nask t1\n\n## Pails\n\nI edit.\n\n- Edit a.py: +1 −1\n\n"
        "## Pails\n\nDone: `a`.\n"
    )
