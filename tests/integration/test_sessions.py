"""Whole sessions: copied, named, deleted, restored, carried to another place."""

from pathlib import Path

import pytest

from pails.core.errors import InvalidRequestError, LogError, NotFoundError
from pails.core.events import Mode, RunState, SessionCreated, SessionRenamed, TurnEnded, TurnStarted
from pails.host.log import AppendLog
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel
from tests.support.workbench import Desk, Workbench, allow, workbench


async def titles(bench: Workbench) -> list[str]:
    return [summary.title for summary in await bench.app.sessions.list(bench.workspace)]


async def test_a_fork_goes_on_from_the_talk_and_leaves_the_first_as_it_is(tmp_path: Path) -> None:
    edit = Calls(("write_file", {"path": "a.txt", "content": "a\n"}))
    script = [edit, Say("written"), Say("two"), Say("other two")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.run("one")
        await desk.run("two")
        second = desk.of(TurnStarted)[1].turn_id
        fork = Desk(await bench.app.sessions.fork(desk.session.id, second), allow)
        assert fork.session.id != desk.session.id
        assert [turn.turn_id for turn in await fork.session.turns()] != []
        ended = await fork.run("another two")
        assert ended.state is RunState.COMPLETED
        roles = [message["role"] for message in model.requests[-1]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
        assert len(await desk.session.turns()) == 2
        assert not await fork.session.review.list(), "what was changed belongs to the first"
        first = (await fork.session.replay(0))[0].event
        assert first == SessionCreated(str(bench.workspace), Mode.AUTO, "", desk.session.id)


async def test_a_session_without_a_finished_turn_is_not_copied(tmp_path: Path) -> None:
    gate = Gate(Say("later"))
    async with ScriptedModel([gate]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("one")
        await gate.reached.wait()
        with pytest.raises(InvalidRequestError, match="no finished turn"):
            await bench.app.sessions.fork(desk.session.id)
        gate.open()
        await desk.wait_for(TurnEnded)
        assert len(await bench.app.sessions.list()) == 1


async def test_a_name_stands_in_the_list_and_survives_the_process(tmp_path: Path) -> None:
    async with ScriptedModel([Say("ok")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("一つ目")
            assert await titles(bench) == ["一つ目"]
            await bench.app.sessions.rename(desk.session.id, "  Zwei 🪣\nmore ")
            assert desk.of(SessionRenamed) == [SessionRenamed("Zwei 🪣")]
            assert await titles(bench) == ["Zwei 🪣"]
            with pytest.raises(InvalidRequestError, match="empty"):
                await bench.app.sessions.rename(desk.session.id, " \n ")
        async with workbench(tmp_path, model) as bench:
            assert await titles(bench) == ["Zwei 🪣"]
            session = await bench.app.sessions.open(desk.session.id)
            assert session.title == "Zwei 🪣"


async def test_a_deleted_session_is_in_no_list_and_can_be_restored_whole(tmp_path: Path) -> None:
    edit = Calls(("write_file", {"path": "a.txt", "content": "new\n"}))
    script = [edit, Say("written"), Say("again")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        sessions, desk = bench.app.sessions, await bench.desk()
        await desk.run("one")
        await sessions.rename(desk.session.id, "named")
        await sessions.delete(desk.session.id)
        assert await sessions.list() == []
        with pytest.raises(NotFoundError):
            await sessions.open(desk.session.id)
        with pytest.raises(NotFoundError):
            await sessions.delete(desk.session.id)
        await sessions.restore(desk.session.id)
        assert await titles(bench) == ["named"]
        back = Desk(await sessions.open(desk.session.id), allow)
        (change_set,) = await back.session.review.list()
        (file,) = change_set.files
        assert file.path == bench.workspace / "a.txt"
        assert (await back.run("two")).state is RunState.COMPLETED


async def test_a_session_that_runs_or_is_open_elsewhere_is_not_deleted(tmp_path: Path) -> None:
    gate = Gate(Say("done"))
    async with ScriptedModel([gate]) as model, workbench(tmp_path, model) as bench:
        sessions, desk = bench.app.sessions, await bench.desk()
        await desk.session.prompt("one")
        await gate.reached.wait()
        with pytest.raises(InvalidRequestError, match="running"):
            await sessions.delete(desk.session.id)
        gate.open()
        await desk.wait_for(TurnEnded)
        await sessions.close()
        (log,) = (tmp_path / "state" / "sessions").rglob("*.jsonl")
        other = AppendLog(log)
        with pytest.raises(LogError, match="open in another"):
            await sessions.delete(log.stem)
        other.close()
        assert await titles(bench) == ["one"]


async def test_a_session_nobody_asked_anything_is_deleted_without_a_trace(tmp_path: Path) -> None:
    async with ScriptedModel([]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await bench.app.sessions.delete(desk.session.id)
        assert len(bench.app.sessions) == 0
        assert not list((tmp_path / "state" / "sessions").rglob("*.jsonl"))


async def test_an_exported_session_goes_on_in_another_place(tmp_path: Path) -> None:
    async with ScriptedModel([Say("one\u2028答え"), Say("two")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("first")
            title, exported = await bench.app.sessions.export(desk.session.id, as_markdown=False)
            assert title == "first"
            _, readable = await bench.app.sessions.export(desk.session.id, as_markdown=True)
            assert "## You\n\nfirst\n\n## Pails\n\none\u2028答え\n" in readable
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        async with workbench(elsewhere, model) as bench:
            session = await bench.app.sessions.import_log(exported, bench.workspace)
            assert session.workspace == bench.workspace
            assert (await Desk(session, allow).run("second")).state is RunState.COMPLETED
            contents = [message["content"] for message in model.requests[-1]["messages"][1:]]
            assert contents == ["first", "one\u2028答え", "second"]


@pytest.mark.parametrize("text", ["", "{}", "no session", '{"seq":1}\n'])
async def test_what_is_no_session_is_not_imported(tmp_path: Path, text: str) -> None:
    async with ScriptedModel([]) as model, workbench(tmp_path, model) as bench:
        with pytest.raises(InvalidRequestError, match="Nothing was made"):
            await bench.app.sessions.import_log(text, bench.workspace)
        assert await bench.app.sessions.list() == []
