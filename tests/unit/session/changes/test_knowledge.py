"""What the model knows of its work goes and comes back with the turns in which it learned it."""

from pails.core.events import (
    Event,
    FileChanged,
    HunksResolved,
    Mode,
    Rewound,
    RunState,
    SeenText,
    StopReason,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import Usage, UserMessage
from pails.session.changes.knowledge import Knowledge
from pails.session.state import SessionState

REJECTED = HunksResolved("t1", "/a", ("h1",), "rejected", "", "2", "1")


def known(*events: Event) -> Knowledge:
    state = SessionState()
    for event in events:
        state.apply(event)
    return state.knowledge


def begun(turn_id: str, *seen: SeenText) -> list[Event]:
    message = UserMessageAdded(turn_id, UserMessage("go on"), seen)
    return [TurnStarted(turn_id, turn_id, Mode.AUTO, "m"), message]


def ended(turn_id: str) -> TurnEnded:
    return TurnEnded(turn_id, RunState.COMPLETED, StopReason.DONE, 1, Usage(), 0.0)


def wrote(turn_id: str, path: str, after: str | None, moved_from: str = "") -> FileChanged:
    return FileChanged(
        turn_id, f"c-{turn_id}", path, "", 0, 0, "disk", saved=True, deleted=after is None,
        before_id="0", after_id=after, moved_from=moved_from,
    )  # fmt: skip


def turn(turn_id: str, path: str, after: str | None) -> list[Event]:
    return [*begun(turn_id), wrote(turn_id, path, after), ended(turn_id)]


def test_a_move_is_one_step_in_whichever_order_it_is_told() -> None:
    gone, there = wrote("t2", "/a", None), wrote("t2", "/b", "2", moved_from="/a")
    for told in ((gone, there), (there, gone)):
        assert known(*turn("t1", "/a", "2"), *begun("t2"), *told).texts == {"/b": "2"}


def test_a_decision_is_told_in_the_first_message_after_it() -> None:
    late = HunksResolved("t1", "/a", ("h2",), "rejected", "", "1", "0")
    accepted = HunksResolved("t1", "/a", ("h3",), "accepted")
    events = [*turn("t1", "/a", "2"), REJECTED, accepted]
    assert known(*events).to_tell == ()
    start, message = begun("t2", SeenText("/a", "9"))
    events += [start, late]  # while the message is being written
    assert known(*events).to_tell == (REJECTED,)
    events.append(UserMessageAdded("t2", UserMessage("wrap up", "pails")))
    assert known(*events).to_tell == (REJECTED,)
    events.append(message)
    assert (known(*events).to_tell, known(*events).texts) == ((), {"/a": "9"})
    assert known(*events, *begun("t3")[:1]).to_tell == (late,)


def test_what_a_turn_could_not_tell_any_more_the_next_one_tells() -> None:
    starts = begun("t2")[0], begun("t3")[0]
    assert known(*turn("t1", "/a", "2"), REJECTED, *starts).to_tell == (REJECTED,)


def test_what_a_turn_learned_leaves_the_talk_with_it() -> None:
    events = [
        *turn("t1", "/a", "1"),
        *begun("t2", SeenText("/a", "typed")),
        wrote("t2", "/b", "2"),
        ended("t2"),
    ]
    assert known(*events).texts == {"/a": "typed", "/b": "2"}
    events.append(Rewound("r", "t2", talk=True))
    assert known(*events).texts == {"/a": "1"}
    events.append(Rewound("s", "t2", talk=True, undoes="r"))
    assert known(*events).texts == {"/a": "typed", "/b": "2"}


def test_files_that_go_back_alone_are_not_what_the_model_knows() -> None:
    events = turn("t1", "/a", "1")
    assert known(*events, Rewound("r", "t1", talk=False, files=("/a",))).texts == {"/a": "1"}


def test_what_a_tool_has_taken_back_is_told_in_its_result() -> None:
    events = [*turn("t1", "/a", "1"), *begun("t2"), Rewound("r", "t1", False, files=("/a",))]
    assert known(*events).texts == {}


def test_a_decision_is_told_again_when_the_message_that_told_it_is_gone() -> None:
    events = [*turn("t1", "/a", "2"), REJECTED, *turn("t2", "/b", "1")]
    events += [Rewound("r", "t2", talk=True), begun("t3")[0]]
    assert known(*events).to_tell == (REJECTED,)


def test_of_a_turn_that_has_left_the_talk_nothing_is_told() -> None:
    events = [*turn("t1", "/a", "2"), REJECTED, Rewound("r", "t1", talk=True), begun("t2")[0]]
    assert known(*events).to_tell == ()


def test_a_file_that_was_moved_back_is_known_where_it_is() -> None:
    back = HunksResolved("t1", "/b", ("h",), "rejected", moved_to="/a")
    events = [*begun("t1"), wrote("t1", "/b", "1", moved_from="/a"), ended("t1"), back]
    assert known(*events).texts == {"/a": "1"}
