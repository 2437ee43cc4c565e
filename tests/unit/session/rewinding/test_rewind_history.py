"""What is taken back, brought back, and taken back again: of the talk and of the files."""

import pytest

from pails.core.errors import NotFoundError
from pails.core.events import (
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    Mode,
    Rewound,
    RunState,
    SnapshotTaken,
    StopReason,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import AssistantMessage, ToolCall, Usage, UserMessage, check_sendable
from pails.session.rewinding.deeds import CommandRun, Deeds, FileWrite
from pails.session.state import SessionState


def turn(name: str) -> list[Event]:
    call = ToolCall(f"call-{name}", "read_file", "{}")
    return [
        TurnStarted(name, name, Mode.AUTO, "m"),
        UserMessageAdded(name, UserMessage(name)),
        AssistantMessageAdded(name, AssistantMessage("", (call,))),
        ToolCallStarted(name, call.id, Effect.READ),
        ToolCallEnded(name, call.id, "text"),
        AssistantMessageAdded(name, AssistantMessage(f"done {name}")),
        TurnEnded(name, RunState.COMPLETED, StopReason.DONE, 2, Usage(), 0.0),
    ]


def said(events: list[Event]) -> list[str]:
    """What the person said, as the model sees it; each turn comes and goes as a whole."""
    state = SessionState()
    for event in events:
        state.apply(event)
    check_sendable(state.messages)
    asked = [m.text for m in state.messages if isinstance(m, UserMessage)]
    assert len(state.messages) == 4 * len(asked)
    return asked


def test_turns_leave_the_talk_and_come_back_to_their_places() -> None:
    events = [*turn("1"), *turn("2"), *turn("3"), Rewound("r1", "2", talk=True)]
    assert said(events) == ["1"]
    events += turn("4")
    assert said(events) == ["1", "4"]
    undone = [*events, Rewound("r2", "2", talk=True, undoes="r1")]
    assert said(undone) == ["1", "2", "3", "4"]
    again = [*undone, Rewound("r3", "2", talk=True, undoes="r2")]
    assert said(again) == ["1", "4"]
    assert said([*again, Rewound("r4", "1", talk=True)]) == []


def test_files_alone_leave_the_talk_as_it_is() -> None:
    assert said([*turn("1"), Rewound("r", "1", talk=False, files=("/a",))]) == ["1"]


def changed(name: str, path: str) -> FileChanged:
    return FileChanged(name, "c", path, "", 1, 1, "disk", True, before_id="b", after_id="a")


def started(name: str) -> TurnStarted:
    return TurnStarted(name, name, Mode.AUTO, "m")


def test_what_a_rewind_left_alone_can_be_taken_back_later() -> None:
    events = [started("1"), changed("1", "/a"), changed("1", "/b")]
    deeds = Deeds([*events, Rewound("r", "1", talk=True, files=("/a",), conflicts=("/b",))])
    assert deeds.rewinds.undone_files("1", at=1) == {"/a"}
    assert not deeds.rewinds.undone_files("1", at=4), "what comes behind it is not undone"
    undone = Deeds([*events, Rewound("r", "1", True, ("/a",)), Rewound("s", "1", True, undoes="r")])
    assert not undone.rewinds.undone_files("1", at=1)
    assert undone.rewinds.last is None


def test_a_turn_that_came_later_is_not_undone() -> None:
    rewound = Rewound("r", "1", talk=True, files=("/a",))
    deeds = Deeds([started("1"), changed("1", "/a"), rewound, started("2"), changed("2", "/a")])
    assert not deeds.rewinds.undone_files("2", at=4)
    assert [turn.turn_id for turn in deeds.since("1")] == ["1", "2"]
    with pytest.raises(NotFoundError):
        deeds.since("3")


def test_commands_stand_between_the_snapshots_around_them() -> None:
    deeds = Deeds(
        [
            started("1"),
            SnapshotTaken("1", "before", "b"),
            SnapshotTaken("1", "before", "1b", "x"),
            ToolCallStarted("1", "x", Effect.EXECUTE),
            SnapshotTaken("1", "after", "1a", "x"),
            changed("1", "/a"),
            ToolCallStarted("1", "late", Effect.EXECUTE),
            SnapshotTaken("1", "before", "2b", "cut"),
            ToolCallStarted("1", "cut", Effect.EXECUTE),
            SnapshotTaken("1", "after", "a"),
        ]
    )
    (turn,) = deeds.since("1")
    assert (turn.before, turn.after) == ("b", "a")
    assert turn.deeds == [
        CommandRun(2, "x", "1b", "1a"),
        FileWrite(5, "/a", "b", "a"),
        CommandRun(6, "late"),
        CommandRun(7, "cut", "2b", "a"),
    ]
    (point,) = deeds.points()
    assert (point.files, point.ran_commands, point.before) == (("/a",), True, "b")
