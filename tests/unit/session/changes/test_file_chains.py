"""The chains of texts are a fold of the log: what a rewind takes back leaves them, and returns."""

from pails.core.events import (
    Event,
    FileChanged,
    Mode,
    Rewound,
    TurnStarted,
)
from pails.session.changes.file_chains import FileChains


def folded(*events: Event) -> FileChains:
    changes = FileChains()
    for event in events:
        changes.apply(event)
    return changes


def turn(turn_id: str) -> TurnStarted:
    return TurnStarted(turn_id, f"Title of {turn_id}", Mode.AUTO, "m")


def wrote(turn_id: str, path: str, before: str | None, after: str | None) -> FileChanged:
    deleted = after is None
    return FileChanged(
        turn_id, f"c-{turn_id}", path, "", 0, 0, "disk", saved=True, deleted=deleted,
        before_id=before, after_id=after,
    )  # fmt: skip


def moved(turn_id: str, path: str, source: str, text: str) -> FileChanged:
    return FileChanged(
        turn_id, f"c-{turn_id}", path, "", 0, 0, "disk", saved=True, created=True,
        moved_from=source, before_id=None, after_id=text,
    )  # fmt: skip


def texts(changes: FileChains, path: str) -> list[tuple[str | None, str | None]]:
    return [(step.before_id, step.after_id) for step in changes.chains.get(path, ())]


def test_a_move_is_one_step_in_whichever_order_it_is_told() -> None:
    edit, gone = wrote("t1", "/a", "1", "2"), wrote("t2", "/a", "2", None)
    there = moved("t2", "/b", "/a", "2")
    for told in ((gone, there), (there, gone)):
        changes = folded(turn("t1"), edit, turn("t2"), *told)
        assert list(changes.chains) == ["/b"]
        assert texts(changes, "/b") == [("1", "2"), ("2", "2")]


def test_a_rewind_takes_steps_out_and_its_undo_brings_them_back() -> None:
    start = (
        turn("t1"), wrote("t1", "/a", "1", "2"), wrote("t1", "/k", "1", "2"),
        turn("t2"), wrote("t2", "/k", "2", "3"), moved("t2", "/b", "/a", "2"),
    )  # fmt: skip
    back = Rewound("r1", "t2", talk=False, files=("/b", "/a"), conflicts=("/k",))
    changes = folded(*start, back)
    assert texts(changes, "/a") == [("1", "2")]
    assert "/b" not in changes.chains
    assert len(texts(changes, "/k")) == 2  # a conflict stays as it is
    changes.apply(Rewound("r2", "t2", talk=False, files=("/b", "/a"), undoes="r1"))
    assert changes.chains == folded(*start).chains


def test_a_rewind_that_is_in_effect_again_takes_them_out_again() -> None:
    start = (turn("t1"), wrote("t1", "/a", "1", "2"), turn("t2"), wrote("t2", "/a", "2", "3"))
    back = Rewound("r1", "t2", talk=False, files=("/a",))
    again = Rewound("r3", "t2", talk=False, files=("/a",), undoes="r2")
    changes = folded(*start, back, Rewound("r2", "t2", talk=False, files=("/a",), undoes="r1"))
    changes.apply(again)
    assert texts(changes, "/a") == [("1", "2")]
    for undone in ("r1", "r3"):  # whichever of the two one names
        other = folded(*start, back, Rewound("r2", "t2", talk=False, undoes="r1"), again)
        other.apply(Rewound("r4", "t2", talk=False, files=("/a",), undoes=undone))
        assert other.chains == folded(*start).chains
