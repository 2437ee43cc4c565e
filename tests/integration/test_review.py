"""Reviews of real turns: parts of a write are allowed, and the model hears what became of it."""

from pathlib import Path

import pytest

from pails.core.errors import InvalidRequestError
from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    FileChanged,
    Mode,
    TurnEnded,
    UserMessageAdded,
)
from pails.core.ports import ApprovalAnswer
from tests.support.scripted_model import Calls, Say, ScriptedModel
from tests.support.workbench import Desk, workbench

BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "1\ntwo\nthree\nfour\n5\n"
EDIT = ("write_file", {"path": "a.txt", "content": AFTER})
READ = ("read_file", {"path": "a.txt"})


def last_prompt(model: ScriptedModel) -> str:
    """What the model read as the newest prompt."""
    messages = model.requests[-1]["messages"]
    return next(m["content"] for m in reversed(messages) if m["role"] == "user")


async def test_some_hunks_of_a_write_are_allowed(tmp_path: Path) -> None:
    def second(request: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=(request.hunks[1].id,))

    script = [Calls(READ), Calls(EDIT), Say("done")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", BEFORE)
        desk = await bench.desk(second, Mode.ASK)
        await desk.run("change it")
        assert path.read_text() == BEFORE.replace("five", "5")
        result = list(desk.results().values())[-1]
        assert "The person changed this call" in result
        (file,) = (await desk.session.review.list())[0].files
        assert [(hunk.new, hunk.state) for hunk in file.hunks] == [("5\n", "accepted")]
        (origin,) = await desk.session.review.origin(path)
        assert (origin.first, origin.approved) == (5, "asked")
        (resolved,) = desk.of(ApprovalResolved)
        assert resolved.hunk_ids == (desk.of(ApprovalRequested)[0].hunks[1].id,)


async def test_a_person_writes_the_text_themselves(tmp_path: Path) -> None:
    mine = "1\ntwo\nmine\nfour\n5, mine\n"

    def own(request: ApprovalRequested) -> ApprovalAnswer:
        texts = {request.hunks[0].path: mine}
        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, texts=texts)

    script = [Calls(READ), Calls(EDIT), Say("done")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", BEFORE)
        desk = await bench.desk(own, Mode.ASK)
        await desk.run("change it")
        assert path.read_text() == mine
        assert desk.of(ApprovalResolved)[0].typed == (str(path),)
        (origin,) = await desk.session.review.origin(path)
        assert (origin.first, origin.last) == (1, 1)  # the rest is the person's


async def test_no_hunk_is_a_refusal(tmp_path: Path) -> None:
    def none(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, "leave it", hunk_ids=())

    script = [Calls(READ), Calls(EDIT), Say("done")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", BEFORE)
        desk = await bench.desk(none, Mode.ASK)
        await desk.run("change it")
        assert path.read_text() == BEFORE
        assert "They say: leave it" in list(desk.results().values())[-1]
        assert desk.of(FileChanged) == []


async def test_a_hunk_that_was_not_offered_leaves_the_approval_waiting(tmp_path: Path) -> None:
    script = [Calls(READ), Calls(EDIT), Say("done")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", BEFORE)
        desk = await bench.desk(None, Mode.ASK)
        await desk.session.prompt("change it")
        asked = await desk.wait_for(ApprovalRequested)
        for answer in (
            ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=("no such",)),
            ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, texts={"/etc/passwd": "x"}),
        ):
            with pytest.raises(InvalidRequestError, match="still waits"):
                desk.session.answer_approval(asked.approval_id, answer)
        assert desk.session.pending == (asked,)
        assert desk.session.answer_approval(
            asked.approval_id, ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
        )
        await desk.wait_for(TurnEnded)
        assert path.read_text() == AFTER


async def test_the_model_hears_once_what_became_of_its_work(tmp_path: Path) -> None:
    script = [Calls(READ), Calls(EDIT), *(Say(f"answer {n}") for n in range(5))]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", BEFORE)
        desk = await bench.desk()
        await desk.run("change it")
        assert "<review>" not in last_prompt(model)
        (turn,) = await desk.session.review.list()
        first, _ = turn.files[0].hunks
        await desk.session.review.resolve(
            turn.turn_id, "rejected", hunk_ids=[first.id], feedback="words, not numbers"
        )
        path.write_text(path.read_text() + "mine\n")
        await desk.run("and now?")
        told = last_prompt(model)
        assert told.endswith("</review>\n\nand now?")
        assert "a.txt: the person rejected this change of yours" in told
        assert "“words, not numbers”" in told
        assert "\n-1\n+one\n" in told
        assert told.count("+mine") == 1
        assert "+one" not in told.partition("since you wrote it:")[2]
        await desk.run("still there?")
        assert last_prompt(model) == "still there?"

        path.unlink()
        await desk.run("look")
        assert "a.txt: somebody else has deleted or moved it." in last_prompt(model)
        session_id = desk.session.id
        await bench.app.sessions.close()
        again = Desk(await bench.app.sessions.open(session_id), None)
        await again.run("once more")
        assert last_prompt(model) == "once more"


async def test_a_session_that_wrote_nothing_says_nothing(tmp_path: Path) -> None:
    script = [Say("hi"), Say("ho")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.txt", BEFORE)
        desk = await bench.desk()
        await desk.run("hello")
        bench.put("a.txt", AFTER)
        await desk.run("hello again")
        assert last_prompt(model) == "hello again"
        assert all(event.seen == () for event in desk.of(UserMessageAdded))
