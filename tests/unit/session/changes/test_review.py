"""A review shows what each turn did, and a decision about it costs the person nothing of theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pails.core.errors import InvalidRequestError, NotFoundError, StorageError
from pails.core.ports import Change
from pails.core.review import Unresolved
from pails.tools.files.document import Unwritten
from tests.support.reviewing import ReviewDesk

TEN = "".join(f"line {number}\n" for number in range(1, 11))
CHANGED = TEN.replace("line 2\n", "agent 2\n").replace("line 8\n", "agent 8\nagent 8b\n")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[ReviewDesk]:
    desk = ReviewDesk(tmp_path)
    yield desk
    desk.close()


async def edited(desk: ReviewDesk) -> None:
    """A turn that has changed two places of a file."""
    desk.type("a.txt", TEN)
    desk.turn("t1")
    await desk.write("a.txt", CHANGED)


async def test_a_turn_is_listed_with_its_hunks(desk: ReviewDesk) -> None:
    await edited(desk)
    (turn,) = await desk.review.list()
    assert (turn.turn_id, turn.title) == ("t1", "Title of t1")
    (file,) = turn.files
    assert (file.path, file.created, file.deleted) == (desk.path("a.txt"), False, False)
    first, second = file.hunks
    assert (first.old, first.new, first.line) == ("line 2\n", "agent 2\n", 1)
    assert (second.new, second.old_line, second.line) == ("agent 8\nagent 8b\n", 7, 7)
    assert {first.state, second.state} == {"pending"}
    assert await desk.review.text_before("t1", desk.path("a.txt")) == TEN


async def test_a_rejected_hunk_goes_and_the_persons_lines_stay(desk: ReviewDesk) -> None:
    await edited(desk)
    desk.type("a.txt", "mine\n" + CHANGED.replace("line 5\n", "mine 5\n"))
    first, second = await desk.hunks("t1", "a.txt")
    assert (first.line, second.line) == (2, 8)
    done = await desk.review.resolve("t1", "rejected", hunk_ids=[second.id], feedback="not so")
    assert (done.resolved, done.unresolved) == ((second.id,), ())
    now = "mine\n" + TEN.replace("line 5\n", "mine 5\n").replace("line 2\n", "agent 2\n")
    assert desk.text("a.txt") == now
    assert await desk.states("t1", "a.txt") == ["pending", "rejected"]
    assert (await desk.hunks("t1", "a.txt"))[1].feedback == "not so"
    assert [hunk.id for _, hunk in await desk.review.pending(desk.path("a.txt"))] == [first.id]


async def test_a_hunk_whose_lines_were_changed_is_left_and_the_others_go(desk: ReviewDesk) -> None:
    await edited(desk)
    desk.type("a.txt", CHANGED.replace("agent 2\n", "agent 2, better\n"))
    first, _ = await desk.hunks("t1", "a.txt")
    assert await desk.states("t1", "a.txt") == ["superseded", "pending"]
    ids = [hunk.id for hunk in await desk.hunks("t1", "a.txt")]
    done = await desk.review.resolve("t1", "rejected", hunk_ids=ids)
    assert [left.hunk_id for left in done.unresolved] == [first.id]
    assert "changed since" in done.unresolved[0].reason
    assert desk.text("a.txt") == TEN.replace("line 2\n", "agent 2, better\n")


async def test_accepting_writes_nothing(desk: ReviewDesk) -> None:
    await edited(desk)
    before = desk.path("a.txt").stat().st_mtime_ns
    done = await desk.review.resolve("t1", "accepted", path=desk.path("a.txt"))
    assert len(done.resolved) == 2
    assert desk.path("a.txt").stat().st_mtime_ns == before
    assert await desk.states("t1", "a.txt") == ["accepted", "accepted"]
    assert await desk.review.pending(desk.path("a.txt")) == ()
    again = await desk.review.resolve("t1", "rejected")  # nothing waits any more
    assert (again.resolved, again.unresolved, desk.text("a.txt")) == ((), (), CHANGED)


async def test_who_accepted_may_change_their_mind(desk: ReviewDesk) -> None:
    await edited(desk)
    await desk.review.resolve("t1", "accepted")
    ids = [hunk.id for hunk in await desk.hunks("t1", "a.txt")]
    await desk.review.resolve("t1", "rejected", hunk_ids=ids)
    assert desk.text("a.txt") == TEN
    done = await desk.review.resolve("t1", "replaced", hunk_ids=ids[:1], text="x")
    assert [left.reason for left in done.unresolved] == ["It has been taken back already."]


async def test_a_rejection_can_itself_be_undone(desk: ReviewDesk) -> None:
    await edited(desk)
    await desk.write("new.txt", "new\n")
    await desk.review.resolve("t1", "rejected")
    desk.type("a.txt", TEN + "mine\n")
    first, second = await desk.hunks("t1", "a.txt")
    done = await desk.review.resolve("t1", "accepted", hunk_ids=[second.id])
    assert (done.resolved, done.unresolved) == ((second.id,), ())
    assert desk.text("a.txt") == CHANGED.replace("agent 2\n", "line 2\n") + "mine\n"
    assert await desk.states("t1", "a.txt") == ["rejected", "accepted"]
    runs = await desk.review.origin(desk.path("a.txt"))
    assert [(run.first, run.last, run.approved) for run in runs] == [(8, 9, "accepted")]
    desk.type("a.txt", (desk.text("a.txt") or "").replace("line 2\n", "mine 2\n"))
    done = await desk.review.resolve("t1", "accepted", hunk_ids=[first.id])
    assert [left.hunk_id for left in done.unresolved] == [first.id]
    (made,) = await desk.hunks("t1", "new.txt")
    await desk.review.resolve("t1", "accepted", hunk_ids=[made.id])
    assert desk.text("new.txt") == "new\n"


async def test_a_change_of_case_alone_is_a_move_like_any_other(desk: ReviewDesk) -> None:
    desk.type("readme.md", "one\n")
    desk.turn("t1")
    await desk.move("readme.md", "README.md")
    assert (await desk.file("t1", "README.md")).moved_from == desk.path("readme.md")
    done = await desk.review.resolve("t1", "rejected")
    assert done.unresolved == ()
    assert [path.name for path in desk.workspace.iterdir()] == ["readme.md"]


async def test_rejecting_all_touches_nothing_beside_it(desk: ReviewDesk) -> None:
    """Neither a folder whose name begins the same, nor a file that the turn did not write."""
    for name in ("src/a.txt", "src2/a.txt", "a.txt"):
        desk.path(name).parent.mkdir(exist_ok=True)
        desk.type(name, TEN)
    desk.turn("t1")
    await desk.write("src/a.txt", CHANGED)
    desk.turn("t2")
    await desk.write("src2/a.txt", CHANGED)
    desk.type("a.txt", CHANGED)
    await desk.review.resolve("t1", "rejected")
    assert [desk.text(name) for name in ("src/a.txt", "src2/a.txt", "a.txt")] == [
        TEN,
        CHANGED,
        CHANGED,
    ]


async def test_the_same_decision_twice_is_one(desk: ReviewDesk) -> None:
    await edited(desk)
    ids = [(await desk.hunks("t1", "a.txt"))[0].id]
    for _ in range(2):
        done = await desk.review.resolve("t1", "rejected", hunk_ids=ids)
        assert (done.resolved, done.unresolved) == (tuple(ids), ())
    assert len(desk.resolutions()) == 1


async def test_a_person_puts_their_own_lines_in_place_of_a_hunk(desk: ReviewDesk) -> None:
    crlf = CHANGED.replace("\n", "\r\n")
    desk.type("a.txt", TEN.replace("\n", "\r\n"))
    desk.turn("t1")
    await desk.write("a.txt", crlf)
    _, second = await desk.hunks("t1", "a.txt")
    mine = "8 is 八\n8b"  # as an editor sends it: other line ends, the last one missing
    done = await desk.review.resolve("t1", "replaced", hunk_ids=[second.id], text=mine)
    assert done.unresolved == ()
    assert desk.text("a.txt") == crlf.replace("agent 8\r\nagent 8b\r\n", "8 is 八\r\n8b\r\n")
    assert await desk.states("t1", "a.txt") == ["pending", "rejected"]
    assert [run.last for run in await desk.review.origin(desk.path("a.txt"))] == [2]


async def test_an_open_buffer_is_changed_and_not_the_file_behind_it(desk: ReviewDesk) -> None:
    await edited(desk)
    desk.editor.open(desk.path("a.txt"), CHANGED + "unsaved\n")
    await desk.review.resolve("t1", "rejected")
    assert desk.text("a.txt") == TEN + "unsaved\n"
    assert desk.path("a.txt").read_text() == CHANGED
    assert desk.editor.labels == ["Reject change in a.txt"]


async def test_what_the_editor_refuses_is_not_resolved(desk: ReviewDesk) -> None:
    await edited(desk)
    desk.editor.open(desk.path("a.txt"), CHANGED)
    desk.editor.refusal = "the document is read-only"
    done = await desk.review.resolve("t1", "rejected")
    assert done.resolved == ()
    assert ["read-only" in left.reason for left in done.unresolved] == [True, True]
    assert desk.resolutions() == []


async def test_what_changes_while_a_decision_is_carried_out_is_taken_in(
    desk: ReviewDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person types, or another session decides, between the look at the file and the write."""
    await edited(desk)
    write, once = desk.documents.write, iter([True])

    async def late(*arguments: Any) -> Change | Unwritten:
        if next(once, False):
            desk.type("a.txt", CHANGED + "mine\n")
        return await write(*arguments)

    monkeypatch.setattr(desk.documents, "write", late)
    resolution = await desk.review.resolve("t1", "rejected")
    assert (len(resolution.resolved), resolution.unresolved) == (2, ())
    assert desk.text("a.txt") == TEN + "mine\n"


async def test_what_the_person_typed_while_the_turn_was_at_work_is_theirs(desk: ReviewDesk) -> None:
    await edited(desk)
    typed = CHANGED.replace("line 5\n", "line 5\nmine\n").replace("agent 2\n", "mine 2\n")
    desk.type("a.txt", typed)
    await desk.write("a.txt", typed.replace("line 10\n", "agent 10\n"))
    hunks = await desk.hunks("t1", "a.txt")
    assert [hunk.new for hunk in hunks] == ["agent 8\nagent 8b\n", "agent 10\n"]
    await desk.review.resolve("t1", "rejected")
    mine = TEN.replace("line 5\n", "line 5\nmine\n").replace("line 2\n", "mine 2\n")
    assert desk.text("a.txt") == mine


async def test_a_file_that_the_turn_made_goes_when_it_is_rejected(desk: ReviewDesk) -> None:
    desk.turn("t1")
    await desk.write("new/a.txt", "one\ntwo\n")
    await desk.write("empty.txt", "")
    assert (await desk.file("t1", "new/a.txt")).created
    assert await desk.review.text_before("t1", desk.path("new/a.txt")) is None
    done = await desk.review.resolve("t1", "rejected")
    assert (len(done.resolved), done.unresolved) == (2, ())
    assert (desk.text("new/a.txt"), desk.text("empty.txt")) == (None, None)
    assert await desk.states("t1", "new/a.txt") == ["rejected"]


async def test_of_a_file_with_lines_of_the_person_only_the_agents_lines_go(
    desk: ReviewDesk,
) -> None:
    desk.turn("t1")
    await desk.write("a.txt", "one\ntwo\nthree\n")
    desk.type("a.txt", "mine\none\nmy two\nthree\n")
    assert await desk.states("t1", "a.txt") == ["pending"]
    await desk.review.resolve("t1", "rejected")
    assert desk.text("a.txt") == "mine\nmy two\n"


async def test_a_deleted_file_comes_back_unless_there_is_another(desk: ReviewDesk) -> None:
    desk.type("a.txt", "one\n")
    desk.type("b.txt", "two\n")
    desk.turn("t1")
    await desk.delete("a.txt")
    await desk.delete("b.txt")
    desk.type("b.txt", "mine\n")
    assert (await desk.file("t1", "a.txt")).deleted
    done = await desk.review.resolve("t1", "rejected")
    assert (desk.text("a.txt"), desk.text("b.txt")) == ("one\n", "mine\n")
    assert len(done.resolved) == 1
    (hunk,) = await desk.hunks("t1", "b.txt")
    assert hunk.state == "superseded"
    done = await desk.review.resolve("t1", "rejected", hunk_ids=[hunk.id])
    assert "of that name again" in done.unresolved[0].reason


async def test_a_moved_file_goes_back_when_all_of_it_is_rejected(desk: ReviewDesk) -> None:
    desk.type("a.txt", TEN)
    desk.type("p.txt", "pure\n")
    desk.turn("t1")
    await desk.move("a.txt", "b.txt")
    await desk.write("b.txt", CHANGED)
    await desk.move("p.txt", "q.txt")
    (turn,) = await desk.review.list()
    assert {(file.path.name, file.moved_from and file.moved_from.name) for file in turn.files} == {
        ("b.txt", "a.txt"),
        ("q.txt", "p.txt"),
    }
    first, second = await desk.hunks("t1", "b.txt")
    await desk.review.resolve("t1", "rejected", hunk_ids=[first.id])
    assert desk.text("a.txt") is None
    await desk.review.resolve("t1", "rejected", hunk_ids=[second.id])
    await desk.review.resolve("t1", "rejected")
    assert (desk.text("a.txt"), desk.text("b.txt")) == (TEN, None)
    assert (desk.text("p.txt"), desk.text("q.txt")) == ("pure\n", None)
    assert await desk.states("t1", "a.txt") == ["rejected", "rejected"]


async def test_a_moved_file_stays_where_its_old_place_is_taken(desk: ReviewDesk) -> None:
    desk.type("a.txt", TEN)
    desk.turn("t1")
    await desk.move("a.txt", "b.txt")
    desk.type("a.txt", "mine\n")
    done = await desk.review.resolve("t1", "rejected")
    assert done.resolved == ()
    assert "not moved back" in done.unresolved[0].reason
    assert (desk.text("a.txt"), desk.text("b.txt")) == ("mine\n", TEN)


async def test_earlier_turns_follow_a_moved_file(desk: ReviewDesk) -> None:
    await edited(desk)
    ids = [hunk.id for hunk in await desk.hunks("t1", "a.txt")]
    desk.turn("t2")
    await desk.move("a.txt", "b.txt")
    assert [hunk.id for hunk in await desk.hunks("t1", "b.txt")] == ids
    assert [run.turn_id for run in await desk.review.origin(desk.path("b.txt"))] == ["t1", "t1"]
    await desk.review.resolve("t1", "rejected")
    assert desk.text("b.txt") == TEN


async def test_a_hunk_rejected_while_the_turn_goes_on_stays_in_the_list(desk: ReviewDesk) -> None:
    await edited(desk)
    first, second = await desk.hunks("t1", "a.txt")
    await desk.review.resolve("t1", "rejected", hunk_ids=[first.id], feedback="no")
    await desk.write("a.txt", (desk.text("a.txt") or "").replace("line 10", "agent 10"))
    found = await desk.hunks("t1", "a.txt")
    assert [hunk.state for hunk in found] == ["rejected", "pending", "pending"]
    assert [hunk.id for hunk in found[:2]] == [first.id, second.id]
    await desk.write("a.txt", CHANGED)  # the agent insists
    states = {hunk.id: hunk.state for hunk in await desk.hunks("t1", "a.txt")}
    assert len(states) == 3
    assert list(states.values()).count("rejected") == 1
    await desk.review.resolve("t1", "rejected")
    assert desk.text("a.txt") == TEN


async def test_a_reopened_session_knows_what_was_decided(desk: ReviewDesk) -> None:
    await edited(desk)
    first, _ = await desk.hunks("t1", "a.txt")
    await desk.review.resolve("t1", "rejected", hunk_ids=[first.id], feedback="why?")
    await desk.review.resolve("t1", "accepted")
    assert await desk.reopened().list() == await desk.review.list()
    assert await desk.states("t1", "a.txt") == ["rejected", "accepted"]


async def test_what_a_person_allowed_does_not_wait(desk: ReviewDesk) -> None:
    desk.type("a.txt", TEN)
    desk.turn("t1")
    await desk.write("a.txt", TEN.replace("line 2\n", "asked\n"), asked=True)
    await desk.write("a.txt", TEN.replace("line 2\n", "asked\n").replace("line 8\n", "unasked\n"))
    assert await desk.states("t1", "a.txt") == ["accepted", "pending"]
    runs = await desk.review.origin(desk.path("a.txt"))
    assert [(run.first, run.approved) for run in runs] == [(2, "asked"), (8, "unreviewed")]


async def test_line_origin_follows_later_edits(desk: ReviewDesk) -> None:
    await edited(desk)
    _, second = await desk.hunks("t1", "a.txt")
    await desk.review.resolve("t1", "accepted", hunk_ids=[second.id])
    desk.type("a.txt", "mine\n" + CHANGED.replace("agent 8b\n", "mine 8b\n"))
    desk.turn("t2")
    await desk.write("a.txt", (desk.text("a.txt") or "").replace("agent 2\n", "better 2\n"))
    runs = await desk.review.origin(desk.path("a.txt"))
    assert [(run.first, run.last, run.turn_id, run.approved) for run in runs] == [
        (3, 3, "t2", "unreviewed"),
        (9, 9, "t1", "accepted"),
    ]
    await desk.review.resolve("t2", "rejected")  # and the line is the first turn's again
    runs = await desk.review.origin(desk.path("a.txt"))
    assert [(run.first, run.turn_id) for run in runs] == [(3, "t1"), (9, "t1")]
    exported = await desk.review.export_origin()
    assert exported["turns"] == {"t1": "Title of t1"}


async def test_what_is_not_kept_is_said(desk: ReviewDesk) -> None:
    await edited(desk)
    for kept in (desk.root / "texts").iterdir():
        kept.unlink()
    review = desk.reopened()
    ((file,),) = [turn.files for turn in await review.list()]
    assert (file.hunks, file.created, file.deleted) == ((), False, False)
    assert "kept no longer" in file.note
    with pytest.raises(StorageError, match="kept no longer"):
        await review.text_before("t1", desk.path("a.txt"))
    assert await review.origin(desk.path("a.txt")) == ()
    assert (await review.resolve("t1", "rejected")).resolved == ()


async def test_what_does_not_exist_is_said(desk: ReviewDesk) -> None:
    await edited(desk)
    path = desk.path("a.txt")
    with pytest.raises(NotFoundError):
        await desk.review.resolve("t9", "accepted")
    with pytest.raises(NotFoundError):
        await desk.review.resolve("t1", "accepted", path=desk.path("b.txt"))
    with pytest.raises(NotFoundError):
        await desk.review.text_before("t9", path)
    with pytest.raises(InvalidRequestError):
        await desk.review.resolve("t1", "replaced", hunk_ids=["x", "y"], text="")
    with pytest.raises(InvalidRequestError):
        await desk.review.resolve("t1", "replaced", hunk_ids=["x"])
    done = await desk.review.resolve("t1", "accepted", hunk_ids=["x"])
    reason = "The turn has no such hunk (any more). List the changes again."
    assert done.unresolved == (Unresolved("x", path, reason),)
    assert await desk.review.pending(desk.path("other.txt")) == ()


async def test_a_file_is_found_by_way_of_a_link(desk: ReviewDesk) -> None:
    await edited(desk)
    link = desk.root / "link"
    link.symlink_to(desk.workspace)
    assert len(await desk.review.pending(link / "a.txt")) == 2
    assert len(await desk.review.origin(link / "a.txt")) == 2


async def test_a_last_line_without_end_does_not_run_into_the_persons(desk: ReviewDesk) -> None:
    desk.type("a.txt", "one\nlast")
    desk.turn("t1")
    await desk.write("a.txt", "one\nagent\n")
    desk.type("a.txt", "one\nagent\nmine\n")
    done = await desk.review.resolve("t1", "rejected")
    assert done.resolved == ()
    assert "run into" in done.unresolved[0].reason
    assert desk.text("a.txt") == "one\nagent\nmine\n"
