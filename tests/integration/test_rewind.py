"""Snapshots around turns, going back to before one, and taking that back; all parts are real."""

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pails.app import App
from pails.core.errors import InvalidRequestError, NotFoundError
from pails.core.events import (
    ApprovalRequested,
    Notice,
    RewindStarted,
    Rewound,
    RunState,
    SnapshotTaken,
    TurnEnded,
    TurnStarted,
)
from pails.core.ports import Buffer, EditOutcome, TextChange
from pails.core.rewind import RewindReport
from pails.entry import load_snapshots
from pails.host.locks import locked
from pails.host.watch import Watcher
from pails.session import answered
from pails.session.rewinding import session_snapshots, workspace_snapshots
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import Limits, SnapshotError
from pails.snapshots.look import Look, Place, look_everywhere
from pails.snapshots.restore import Failure, apply_plan
from pails.snapshots.rewind import RewindPlan
from pails.snapshots.store import SnapshotStore
from pails.tools.files.writers import fingerprint
from tests.support.editor import MemoryEditor
from tests.support.event_order import EventOrder
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel
from tests.support.workbench import Desk, Workbench, allow, environment, workbench

OLD = "one\ntwo\nthree\nfour\nfive\n"


def edit(path: str, old: str, new: str) -> Calls:
    return Calls(("edit_file", {"path": path, "old": old, "new": new}))


def run(script: str) -> Calls:
    return Calls(("run_command", {"command": ["bash", "-c", script]}))


def write(path: str, content: str) -> Calls:
    return Calls(("write_file", {"path": path, "content": content}))


def turns(desk: Desk) -> list[str]:
    return [event.turn_id for event in desk.of(TurnStarted)]


def hows(report: RewindReport) -> dict[str, str]:
    return {Path(file.path).name: file.how for file in report.files}


def conflicts(report: RewindReport) -> dict[str, str]:
    return {Path(conflict.path).name: conflict.reason for conflict in report.conflicts}


def content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


async def after(desk: Desk) -> None:
    """Wait until the snapshots of the turns so far are taken."""
    await desk.wait_for(TurnEnded, len(turns(desk)))
    ended = [e for e in desk.of(SnapshotTaken) if e.moment == "after" and not e.call_id]
    async with asyncio.timeout(20):
        while len(ended) < len(turns(desk)):
            await asyncio.sleep(0.01)
            ended = [e for e in desk.of(SnapshotTaken) if e.moment == "after" and not e.call_id]


@asynccontextmanager
async def held_store(tmp_path: Path) -> AsyncIterator[None]:
    """No snapshot gets done meanwhile, as if another process were at it."""
    (store,) = (tmp_path / "state" / "snapshots").iterdir()
    let_go, held = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(store / "lock", time.monotonic() + 10):
            held.set()
            let_go.wait(20)

    holding = asyncio.create_task(asyncio.to_thread(hold))
    await asyncio.to_thread(held.wait)
    try:
        yield
    finally:
        let_go.set()
        await holding


async def check_order(desk: Desk) -> None:
    order = EventOrder()
    for envelope in await desk.session.replay(0):
        order.take(envelope.event)
    order.finish()


@asynccontextmanager
async def bench_with(tmp_path: Path, *script: object) -> AsyncIterator[Workbench]:
    async with ScriptedModel(list(script)) as model, workbench(tmp_path, model) as bench:  # type: ignore[arg-type]
        yield bench


async def test_the_whole_way_and_back(tmp_path: Path) -> None:
    """The agent edits, makes and removes, by tools and by commands; the person edits too."""
    script = (
        edit("a.txt", "two", "2"),
        write("made.txt", "made\n"),
        run("rm gone.txt; echo out > by-command.txt; mkdir new; echo x > new/deep; sleep 0.01"),
        edit("by-command.txt", "out", "in"),
        Say("done"),
    )
    async with bench_with(tmp_path, *script) as bench:
        bench.put("a.txt", OLD)
        bench.put("gone.txt", "gone\r\n")
        bench.put(".gitignore", "*.log\n")
        bench.put("x.log", "log")
        desk = await bench.desk()
        await desk.run("go")
        bench.put("a.txt", OLD.replace("two", "2").replace("five", "5"))
        bench.put("mine.txt", "mine")
        bench.put("new/mine-too.txt", "mine")
        now = content(bench.workspace)
        (turn,) = turns(desk)
        expected = {
            "a.txt": "merged", "made.txt": "removed", "gone.txt": "broughtBack",
            "by-command.txt": "removed", "deep": "removed",
        }  # fmt: skip

        preview = await desk.session.rewind(turn, talk=True, files=True, preview=True)
        assert (hows(preview), preview.conflicts, preview.turns) == (expected, (), (turn,))
        assert content(bench.workspace) == now

        report = await desk.session.rewind(turn, talk=True, files=True)
        assert (hows(report), report.conflicts) == (expected, ())
        assert content(bench.workspace) == {
            "a.txt": OLD.replace("five", "5").encode(),
            "gone.txt": b"gone\r\n",
            ".gitignore": b"*.log\n",
            "x.log": b"log",
            "mine.txt": b"mine",
            "new/mine-too.txt": b"mine",
        }
        (event,) = desk.of(Rewound)
        assert (event.rewind_id, event.talk, len(event.files)) == (report.rewind_id, True, 5)

        undone = await desk.session.undo_rewind()
        assert undone.conflicts == ()
        assert content(bench.workspace) == now
        assert desk.of(Rewound)[1].undoes == report.rewind_id

        await check_order(desk)


async def test_what_the_person_saves_while_a_command_turn_runs_stays(tmp_path: Path) -> None:
    gate = Gate(Say("done"), after=2)
    async with bench_with(tmp_path, run("echo 2 > b.txt"), gate) as bench:
        bench.put("a.txt", OLD)
        bench.put("b.txt", "1\n")
        desk = await bench.desk()
        await desk.session.prompt("go")
        await gate.reached.wait()
        while not [e for e in desk.of(SnapshotTaken) if e.call_id and e.moment == "after"]:
            await asyncio.sleep(0.01)
        bench.put("a.txt", "the person's\n")
        bench.put("new.txt", "the person's\n")
        gate.open()
        await desk.wait_for(TurnEnded)
        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert hows(report) == {"b.txt": "restored"}
        assert content(bench.workspace) == {
            "a.txt": b"the person's\n", "b.txt": b"1\n", "new.txt": b"the person's\n"
        }  # fmt: skip


async def test_several_turns_with_edits_of_the_person_between_them(tmp_path: Path) -> None:
    script = (
        edit("a.txt", "one", "1"), Say("1"),
        edit("a.txt", "two", "2"), write("b.txt", "b\n"), Say("2"),
        edit("a.txt", "2", "zwei"), run("echo more >> b.txt"), Say("3"),
    )  # fmt: skip
    async with bench_with(tmp_path, *script) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("first")
        path.write_text(path.read_text().replace("four", "4"))
        await desk.run("second")
        path.write_text(path.read_text().replace("five", "5"))
        await desk.run("third")
        _, second, _ = turns(desk)

        report = await desk.session.rewind(second, talk=False, files=True)

        assert hows(report) == {"a.txt": "merged", "b.txt": "removed"}
        assert path.read_text() == "1\ntwo\nthree\n4\n5\n"
        again = await desk.session.rewind(second, talk=False, files=True, preview=True)
        assert (again.files, again.conflicts) == ((), ())


async def test_conflicts_are_told_and_left_alone(tmp_path: Path) -> None:
    script = (edit("a.txt", "two", "2"), write("made.txt", "made\n"), Say("done"))
    async with bench_with(tmp_path, *script) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        path.write_text(OLD.replace("two", "TWO"))
        bench.put("made.txt", "mine now\n")

        report = await desk.session.rewind(turns(desk)[0], talk=True, files=True)

        assert report.files == ()
        assert "same lines" in conflicts(report)["a.txt"]
        assert "you have changed it since" in conflicts(report)["made.txt"]
        assert path.read_text() == OLD.replace("two", "TWO")


async def test_an_edit_after_a_rewind_is_not_taken_for_undone(tmp_path: Path) -> None:
    script = (edit("a.txt", "two", "2"), Say("1"), edit("a.txt", "two", "2"), Say("2"))
    async with bench_with(tmp_path, *script) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        await desk.session.rewind(turns(desk)[0], talk=True, files=True)
        await desk.run("again")
        assert path.read_text() == OLD.replace("two", "2")

        await desk.session.rewind(turns(desk)[1], talk=True, files=True)
        assert path.read_text() == OLD


# -- the talk -----------------------------------------------------------------------------------


def asked(model: ScriptedModel, number: int) -> list[str]:
    """What the person says in this request."""
    messages = model.requests[number]["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


async def test_the_talk_goes_back_and_comes_back(tmp_path: Path) -> None:
    script = (Say("1"), Say("2"), Say("3"), Say("4"))
    async with bench_with(tmp_path, *script) as bench:
        desk = await bench.desk()
        await desk.run("first")
        await desk.run("second")
        first, second = turns(desk)
        report = await desk.session.rewind(second, talk=True, files=False)
        assert report.turns == (second,)
        await desk.run("other")
        assert asked(bench.model, 2) == ["first", "other"]
        undone = await desk.session.undo_rewind(report.rewind_id)
        assert undone.turns == (second,)
        await desk.run("last")
        assert asked(bench.model, 3) == ["first", "second", "other", "last"]
        await after(desk)
        points = await desk.session.turns()
        assert [point.title for point in points] == ["first", "second", "other", "last"]
        assert all(point.in_talk and point.before for point in points)
        assert first


async def test_a_prompt_from_an_older_turn_forks_the_talk_there(tmp_path: Path) -> None:
    script = (Say("1"), write("a.txt", "a\n"), Say("2"), Say("3"))
    async with bench_with(tmp_path, *script) as bench:
        desk = await bench.desk()
        await desk.run("first")
        await desk.run("second")
        await desk.session.prompt("instead", from_turn_id=turns(desk)[0])
        await desk.wait_for(TurnEnded, 3)
        assert asked(bench.model, -1) == ["first", "instead"]
        assert (bench.workspace / "a.txt").exists()
        with pytest.raises(NotFoundError):
            await desk.session.prompt("x", from_turn_id="turn-unknown")


async def test_a_reopened_session_has_gone_back_too(tmp_path: Path) -> None:
    script = (Say("1"), edit("a.txt", "two", "2"), Say("2"), Say("3"))
    async with ScriptedModel(script) as model:
        async with workbench(tmp_path, model) as bench:
            bench.put("a.txt", OLD)
            desk = await bench.desk()
            await desk.run("first")
            await desk.run("second")
            await desk.session.rewind(turns(desk)[1], talk=True, files=True)
            session_id = desk.session.id
        async with workbench(tmp_path, model) as bench:
            session = await bench.app.sessions.open(session_id)
            desk = Desk(session, allow)
            await desk.run("third")
            assert asked(model, -1) == ["first", "third"]
            await session.undo_rewind()
            assert "2" in (bench.workspace / "a.txt").read_text()


async def test_nothing_goes_back_while_a_turn_runs(tmp_path: Path) -> None:
    gate = Gate(Say("one two three"), after=2)
    async with bench_with(tmp_path, gate) as bench:
        desk = await bench.desk()
        receipt = await desk.session.prompt("go")
        await gate.reached.wait()
        with pytest.raises(InvalidRequestError, match="turn is running"):
            await desk.session.rewind(receipt.turn_id, talk=True, files=True)
        with pytest.raises(InvalidRequestError, match="turn is running"):
            await desk.session.undo_rewind()
        gate.open()
        await desk.wait_for(TurnEnded)
        with pytest.raises(NotFoundError, match="no rewind"):
            await desk.session.undo_rewind()
        with pytest.raises(NotFoundError, match="no turn"):
            await desk.session.rewind("turn-x", talk=True, files=False)
        report = await desk.session.rewind(receipt.turn_id, talk=True, files=False)
        await desk.session.undo_rewind(report.rewind_id)
        with pytest.raises(InvalidRequestError, match="already"):
            await desk.session.undo_rewind(report.rewind_id)


# -- what the model knows ------------------------------------------------------------------------


def prompts(model: ScriptedModel) -> list[str]:
    """What the model was told in the person's name, with its last request."""
    return [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "user"]


async def test_the_model_is_told_of_files_that_went_back_without_the_talk(tmp_path: Path) -> None:
    script = (edit("a.txt", "two", "2"), Say("done"), Say("I see"), Say("I see"), Say("quiet"))
    async with bench_with(tmp_path, *script) as bench:
        bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        await desk.run("second")
        assert "\n-2\n+two\n" in prompts(bench.model)[-1]
        await desk.session.undo_rewind()
        await desk.run("third")
        assert "\n-two\n+2\n" in prompts(bench.model)[-1]
        await desk.run("fourth")
        assert prompts(bench.model)[-1] == "fourth"


async def test_what_the_model_did_in_turns_that_left_the_talk_is_news_to_it(tmp_path: Path) -> None:
    script = (
        *(edit("a.txt", "two", "2"), Say("done")),
        *(edit("a.txt", "four", "4"), Calls(("read_file", {"path": "a.txt"})), Say("done")),
        *(write("a.txt", "all of it\n"), Say("I see")),
    )
    async with bench_with(tmp_path, *script) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("first")
        await desk.run("second")
        await desk.session.rewind(turns(desk)[1], talk=True, files=False)
        await desk.run("third")
        assert "\n-four\n+4\n" in prompts(bench.model)[-1]
        # It had read the whole file, but that is gone from its conversation.
        assert path.read_text() == OLD.replace("two", "2").replace("four", "4")


async def test_what_the_model_may_not_see_is_in_no_news(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("SECRET\n")
    script = (write("a.txt", "made\n"), write("b.txt", "made\n"), Say("done"), Say("I see"))
    async with bench_with(tmp_path, *script) as bench:
        desk = await bench.desk()
        await desk.run("go")
        path = bench.workspace / "a.txt"
        path.unlink()
        path.symlink_to(secret)
        bench.put("b.txt", "typed\n")
        await desk.run("second")
        told = prompts(bench.model)[-1]
        assert "a.txt" in told
        assert "+typed" in told
        assert "SECRET" not in told


# -- what is done is told, whatever happens ------------------------------------------------------


async def test_a_file_that_was_written_by_way_of_a_link_leaves_the_review(tmp_path: Path) -> None:
    async with bench_with(tmp_path, edit("link.txt", "two", "2"), Say("done")) as bench:
        path = bench.put("a.txt", OLD)
        (bench.workspace / "link.txt").symlink_to("a.txt")
        desk = await bench.desk()
        await desk.run("go")
        listed = await desk.session.review.list()
        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert [file.path for file in report.files] == [str(path)]
        assert await desk.session.review.list() == ()
        await desk.session.undo_rewind()
        assert await desk.session.review.list() == listed


async def test_nothing_changes_when_a_rewind_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise SnapshotError("The disk is full.")

    async with bench_with(tmp_path, edit("a.txt", "two", "2"), Say("done")) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        await after(desk)
        monkeypatch.setattr(SnapshotStore, "amend", full)
        with pytest.raises(SnapshotError):
            await desk.session.rewind(turns(desk)[0], talk=True, files=True)
        assert path.read_text() == OLD.replace("two", "2")
        assert desk.of(Rewound) == []


async def test_a_rewind_that_was_cut_off_can_be_finished_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.txt" for number in range(4)]
    calls = Calls(*(("write_file", {"path": name, "content": "made\n"}) for name in names))

    def cut_off(plan: RewindPlan, workspace: Path) -> tuple[Failure, ...]:
        apply_plan(replace(plan, steps=plan.steps[:2]), workspace)
        raise KeyError("as if the process had died")

    async with ScriptedModel([calls, Say("done")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("go")
            turn_id = turns(desk)[0]
            made = content(bench.workspace)
            with monkeypatch.context() as patch:
                patch.setattr("pails.session.rewinding.carrying_out.apply_plan", cut_off)
                with pytest.raises(KeyError):
                    await desk.session.rewind(turn_id, talk=True, files=True)
            assert len(content(bench.workspace)) == 2
            assert isinstance(desk.events[-1], RewindStarted)
        async with workbench(tmp_path, model) as bench:
            session = await bench.app.sessions.open(desk.session.id)
            again = Desk(session, allow)
            told = [e.event for e in await session.replay(0) if isinstance(e.event, Notice)]
            assert "in the middle of a rewind" in told[-1].text
            report = await session.rewind(turn_id, talk=True, files=True)
            assert len(report.files) == 2
            assert content(bench.workspace) == {}
            await session.undo_rewind()
            await session.undo_rewind()
            assert content(bench.workspace) == made
            await check_order(again)


async def test_two_sessions_that_go_back_at_once_lose_nothing(tmp_path: Path) -> None:
    first, second = edit("a.txt", "two", "2"), edit("a.txt", "four", "4")
    async with bench_with(tmp_path, first, Say("done"), second, Say("done")) as bench:
        path = bench.put("a.txt", OLD)
        desks = [await bench.desk(), await bench.desk()]
        for desk in desks:
            await desk.run("go")
            await after(desk)
        reports = await asyncio.gather(
            *(desk.session.rewind(turns(desk)[0], talk=False, files=True) for desk in desks)
        )
        went_back = ["a.txt" in hows(report) for report in reports]
        assert ["a.txt" in conflicts(report) for report in reports] == [not w for w in went_back]
        expected = OLD if went_back[0] else OLD.replace("two", "2")
        assert path.read_text() == (expected if went_back[1] else expected.replace("four", "4"))


async def test_a_file_that_another_process_writes_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pails.tools.files.writers._WAIT_SECONDS", 0.05)
    script = (edit("a.txt", "two", "2"), edit("b.txt", "two", "2"), Say("done"))
    async with bench_with(tmp_path, *script) as bench:
        path, other = bench.put("a.txt", OLD), bench.put("b.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        lock = next(
            lock
            for lock in (tmp_path / "state").rglob("*.lock")
            if fingerprint(path.read_text()) in lock.read_text()
        )
        with locked(lock, time.monotonic() + 5):
            report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert list(conflicts(report).values()) == [
            "another process is writing it and does not come to an end"
        ]
        assert sorted([path.read_text(), other.read_text()]) == [OLD.replace("two", "2"), OLD]


# -- open documents -----------------------------------------------------------------------------


@asynccontextmanager
async def bench_with_editor(
    tmp_path: Path, editor: MemoryEditor, *script: object
) -> AsyncIterator[Workbench]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with ScriptedModel(list(script)) as model:  # type: ignore[arg-type]
        app = App(environment(tmp_path, model), {}, editor, workspace, load_snapshots)
        try:
            yield Workbench(app, workspace, model)
        finally:
            await app.close()


async def test_an_open_document_goes_back_through_the_editor(tmp_path: Path) -> None:
    editor = MemoryEditor()
    script = (edit("a.txt", "two", "2"), Say("done"))
    async with bench_with_editor(tmp_path, editor, *script) as bench:
        path = bench.put("a.txt", OLD)
        editor.open(path, OLD)
        desk = await bench.desk()
        await desk.run("go")
        await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert editor.labels[-1] == "Rewind"
        assert (editor.text(path), path.read_text()) == (OLD, OLD)
        await desk.session.undo_rewind()
        assert editor.text(path) == path.read_text() == OLD.replace("two", "2")


class SilentEditor(MemoryEditor):
    """Answers no edit any more, once it is `silent`."""

    silent = False

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        if self.silent:
            await asyncio.Event().wait()
        return await super().apply(buffer, changes, label)


async def test_an_editor_that_never_answers_does_not_hold_up_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answered, "ANSWER_SECONDS", 0.1)
    editor = SilentEditor()
    script = (edit("a.txt", "two", "2"), edit("b.txt", "two", "2"), Say("done"), Say("again"))
    async with bench_with_editor(tmp_path, editor, *script) as bench:
        path, other = bench.put("a.txt", OLD), bench.put("b.txt", OLD)
        editor.open(path, OLD)
        desk = await bench.desk()
        await desk.run("go")
        editor.silent = True
        turn_id = turns(desk)[0]
        resolution = await desk.session.review.resolve(turn_id, "rejected", path=path)
        assert "does not answer" in resolution.unresolved[0].reason
        report = await desk.session.rewind(turn_id, talk=False, files=True)
        assert "does not answer" in conflicts(report)["a.txt"]
        assert (editor.text(path), other.read_text()) == (OLD.replace("two", "2"), OLD)
        assert (await desk.run("still there?")).error == ""


async def test_a_buffer_without_a_file_goes_back_too(tmp_path: Path) -> None:
    editor = MemoryEditor()
    async with bench_with_editor(
        tmp_path, editor, write("new.txt", "made\n"), Say("done")
    ) as bench:
        path = bench.workspace / "new.txt"
        editor.open(path, "")
        desk = await bench.desk()
        await desk.run("go")
        assert (editor.text(path), path.exists()) == ("made\n", False)
        editor.open(path, "made\nmine\n", version=9)
        await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert (editor.text(path), path.exists()) == ("mine\n", False)
        await desk.session.undo_rewind()
        assert (editor.text(path), path.exists()) == ("made\nmine\n", False)


async def test_a_byte_order_mark_never_gets_into_a_buffer(tmp_path: Path) -> None:
    """The person's editor has left it out when it saved."""
    editor = MemoryEditor()
    async with bench_with_editor(tmp_path, editor, edit("a.txt", "two", "2"), Say("done")) as bench:
        path = bench.put("a.txt", "\ufeff" + OLD)
        desk = await bench.desk()
        await desk.run("go")
        path.write_text(OLD.replace("two", "2"))
        editor.open(path, path.read_text())
        await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert "\ufeff" not in editor.text(path)


async def test_unsaved_text_of_the_person_stays_and_nothing_is_saved(tmp_path: Path) -> None:
    editor = MemoryEditor()
    script = (edit("a.txt", "two", "2"), Say("done"))
    async with bench_with_editor(tmp_path, editor, *script) as bench:
        path = bench.put("a.txt", OLD)
        editor.open(path, OLD.replace("five", "5"), version=7)
        desk = await bench.desk()
        await desk.run("go")
        dirty = OLD.replace("five", "5").replace("two", "2")
        assert (editor.text(path), path.read_text()) == (dirty, OLD)

        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)

        assert hows(report) == {"a.txt": "restored"}
        assert (editor.text(path), path.read_text()) == (OLD.replace("five", "5"), OLD)
        await desk.session.undo_rewind()
        assert (editor.text(path), path.read_text()) == (dirty, OLD)


# -- the model ----------------------------------------------------------------------------------


async def test_the_model_rolls_back_when_the_person_allows_it_each_time(tmp_path: Path) -> None:
    def roll(request: dict[str, object]) -> Calls:
        listed = request["messages"][-1]["content"]  # type: ignore[index]
        turn = next(word for word in listed.split() if word.startswith("turn-"))
        return Calls(("rollback", {"turn_id": turn}))

    script = (
        edit("a.txt", "two", "2"), run("echo x > b.txt"),
        Calls(("list_snapshots", {})), roll, edit("a.txt", "two", "zwei"), Say("better"),
    )  # fmt: skip
    async with bench_with(tmp_path, *script) as bench:
        path = bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        (wanted,) = [e for e in desk.of(ApprovalRequested) if e.tool == "rollback"]
        assert wanted.rule == ""
        assert wanted.text.startswith("Back to before “go”:")
        assert "1 file back as before: a.txt" in wanted.text
        assert "b.txt" in wanted.text
        assert path.read_text() == OLD.replace("two", "zwei")
        assert not (bench.workspace / "b.txt").exists()
        (event,) = desk.of(Rewound)
        assert not event.talk
        await check_order(desk)
        await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert path.read_text() == OLD


# -- where snapshots are slow, partial or refused -----------------------------------------------


async def test_a_turn_goes_on_without_a_snapshot_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tools wrote can be taken back all the same."""
    monkeypatch.setattr(session_snapshots, "PATIENCE_SECONDS", 0.3)
    script = (Say("0"), edit("a.txt", "two", "2"), run("echo x > b.txt"), Say("done"))
    async with bench_with(tmp_path, *script) as bench:
        bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("nothing")
        await after(desk)
        async with held_store(tmp_path):
            await desk.run("go")

        assert [e.text for e in desk.of(Notice)] == [session_snapshots.LATE]
        report = await desk.session.rewind(turns(desk)[1], talk=False, files=True)
        assert hows(report) == {"a.txt": "restored"}
        assert len(report.notes) == 1 and "is not known" in report.notes[0]
        assert (bench.workspace / "b.txt").exists()


async def test_a_prompt_that_waits_for_a_rewind_is_refused_when_the_session_closes(
    tmp_path: Path,
) -> None:
    async with bench_with(tmp_path, Say("1")) as bench:
        desk = await bench.desk()
        await desk.run("go")
        await after(desk)
        async with held_store(tmp_path):
            rewind = asyncio.create_task(desk.session.rewind(turns(desk)[0], talk=True, files=True))
            await asyncio.sleep(0)
            prompt = asyncio.create_task(desk.session.prompt("again"))
            await asyncio.sleep(0)
            closing = asyncio.create_task(bench.app.sessions.close())
            await asyncio.sleep(0)
        await asyncio.gather(rewind, closing)
        with pytest.raises(InvalidRequestError, match="closed"):
            await prompt


async def test_the_whole_folder_is_looked_at_once_and_then_only_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def look(place: Place, deadline: Deadline) -> Look:
        looks.append(str(place.root))
        return look_everywhere(place, deadline)

    monkeypatch.setattr("pails.snapshots.taking.look_everywhere", look)
    script = (edit("a.txt", "two", "2"), run("echo x > b.txt"), Say("1"), Say("2"))
    async with bench_with(tmp_path, *script) as bench:
        bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        bench.put("mine.txt", "mine")
        await desk.run("again")
        await after(desk)
        assert looks == [str(bench.workspace)]
        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert hows(report) == {"a.txt": "restored", "b.txt": "removed"}


async def test_old_snapshots_of_other_sessions_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pails.snapshots.store.Limits", lambda: Limits(store_bytes=1))
    monkeypatch.setattr(workspace_snapshots, "_CLEANING_EVERY_SECONDS", 0.0)
    async with bench_with(tmp_path, Say("1"), edit("a.txt", "two", "2"), Say("2")) as bench:
        bench.put("a.txt", OLD)
        first, second = await bench.desk(), await bench.desk()
        await first.run("go")
        await after(first)
        await second.run("go")
        await after(second)
        (folder,) = (tmp_path / "state" / "snapshots").iterdir()
        async with asyncio.timeout(20):
            while any(name.startswith(first.session.id) for name in kept(folder, bench.workspace)):
                await asyncio.sleep(0.01)
        taken = [event.snapshot_id for event in second.of(SnapshotTaken)]
        assert len(taken) == 2, "before and after"
        assert kept(folder, bench.workspace) == {*taken}, "its own stay, whatever the limit"
        report = await second.session.rewind(turns(second)[0], talk=False, files=True)
        assert hows(report) == {"a.txt": "restored"}


def kept(folder: Path, workspace: Path) -> set[str]:
    return {*SnapshotStore.open(folder, workspace).names()}


async def test_what_a_command_changed_is_caught_though_the_watcher_lost_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watcher, "changed", lambda *_: None)
    async with bench_with(tmp_path, run("echo x > a.txt; echo y > b.txt"), Say("done")) as bench:
        bench.put("a.txt", OLD)
        desk = await bench.desk()
        await desk.run("go")
        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert hows(report) == {"a.txt": "restored", "b.txt": "removed"}


async def test_a_home_folder_has_no_snapshots_and_is_told_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "workspace"))
    script = (write("a.txt", "a\n"), Say("1"), Say("2"))
    async with bench_with(tmp_path, *script) as bench:
        desk = await bench.desk()
        await desk.run("go")
        await desk.run("again")
        with pytest.raises(SnapshotError, match="your home folder"):
            await desk.session.rewind(turns(desk)[0], talk=True, files=True)
        assert (bench.workspace / "a.txt").exists()
        await desk.session.rewind(turns(desk)[0], talk=True, files=False)
        (notice,) = desk.of(Notice)
        assert "Open the folder of one project" in notice.text


@pytest.mark.parametrize(
    "failure",
    [ImportError("no git here"), OSError(5, "no git here"), RuntimeError("no git here")],
)
async def test_a_turn_goes_on_where_snapshots_cannot_be_loaded_and_it_is_told_once(
    tmp_path: Path, failure: Exception
) -> None:
    def load() -> tuple[type[SnapshotStore], type[Watcher]]:
        raise failure

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with ScriptedModel([run("echo x > a.txt"), Say("1"), Say("2")]) as model:
        app = App(environment(tmp_path, model), {}, None, workspace, load)
        try:
            desk = Desk(await app.sessions.new(workspace, None, None), allow)
            assert (await desk.run("go")).state is RunState.COMPLETED
            assert (await desk.run("again")).state is RunState.COMPLETED
            assert (workspace / "a.txt").exists()
            await desk.wait_for(Notice)
            (notice,) = desk.of(Notice)
            assert "no git here" in notice.text and "work goes on" in notice.text
        finally:
            await app.close()


async def test_what_no_snapshot_has_is_told_once_and_never_touched(tmp_path: Path) -> None:
    script = (run("echo 2 > sub/code; echo 2 > a.txt"), Say("1"), Say("2"))
    async with bench_with(tmp_path, *script) as bench:
        bench.put("a.txt", "1\n")
        bench.put("sub/.git/HEAD", "ref: refs/heads/main\n")
        bench.put("sub/code", "1\n")
        bench.put("large", "x" * 5_000_001)
        desk = await bench.desk()
        await desk.run("go")
        await desk.run("again")
        await after(desk)
        (notice,) = desk.of(Notice)
        assert "sub (a repository of its own)" in notice.text
        assert "large (too large)" in notice.text
        report = await desk.session.rewind(turns(desk)[0], talk=False, files=True)
        assert hows(report) == {"a.txt": "restored"}
        assert (bench.workspace / "sub/code").read_text() == "2\n"


async def test_git_variables_and_the_project_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(elsewhere))
    script = (edit("a.txt", "two", "2"), run("echo x > b.txt"), Say("done"))
    async with bench_with(tmp_path, *script) as bench:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        subprocess.run(["git", "init", "-q"], cwd=bench.workspace, env=clean, check=True)
        bench.put("a.txt", OLD)
        git = {n: d for n, d in content(bench.workspace).items() if n.startswith(".git/")}
        desk = await bench.desk()
        await desk.run("go")
        report = await desk.session.rewind(turns(desk)[0], talk=True, files=True)
        assert (report.conflicts, report.notes, desk.of(Notice)) == ((), (), [])
        assert content(bench.workspace) == {"a.txt": OLD.encode(), **git}
        assert list(elsewhere.iterdir()) == []


async def test_nothing_is_watched_any_more_when_the_app_is_closed(tmp_path: Path) -> None:
    async with bench_with(tmp_path, Say("done")) as bench:
        desk = await bench.desk()
        await desk.run("go")
        await after(desk)
        assert watches()
    async with asyncio.timeout(20):
        while watches():  # the system closes the last one a moment later
            await asyncio.sleep(0.01)


def watches() -> int:
    """How many folders this process watches."""
    found = 0
    for info in Path("/proc/self/fdinfo").iterdir():
        with suppress(FileNotFoundError):
            found += info.read_text().count("inotify wd:")
    return found
