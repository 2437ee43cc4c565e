"""What real sessions say, live and in their logs, has the order that `core/events.py` draws."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pails.core.events import (
    TRANSIENT,
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    FileChanged,
    Mode,
    PlanUpdated,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    ReplyDiscarded,
    RoundStarted,
    RunStateChanged,
    SessionCreated,
    SnapshotTaken,
    SyntaxChecked,
    TextDelta,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    ToolOutputDelta,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)
from pails.core.ports import ApprovalAnswer
from tests.support.event_order import EventOrder
from tests.support.scripted_model import Calls, Drop, Gate, Say, ScriptedModel, Status
from tests.support.workbench import Desk, Workbench, allow, workbench

READ = ("read_file", {"path": "a.py"})
EDIT = ("edit_file", {"path": "a.py", "old": "1", "new": "(2"})
ECHO = ("run_command", {"command": ["echo", "hello"]})
SLEEP = ("run_command", {"command": ["sh", "-c", "echo on; sleep 60"]})
ASK = ("ask_user", {"question": "Which one?", "options": ["left", "right"]})
PLAN = ("update_plan", {"steps": [{"text": "look", "status": "active"}]})


def check(events: Sequence[Event]) -> None:
    order = EventOrder()
    for event in events:
        order.take(event)
    order.finish()


async def said(desk: Desk) -> list[Event]:
    """All events of a session, in order; what was heard live agrees with the log."""
    logged = await desk.session.replay(0)
    assert [envelope.seq for envelope in logged] == list(range(1, len(logged) + 1))
    first = desk.envelopes[0].seq
    heard = [e for e in desk.envelopes if e.seq <= len(logged)]  # snapshots may still be told
    live = [e for e in heard if not isinstance(e.event, TRANSIENT)]
    assert live == logged[first - 1 :]
    for before, after in pairwise(heard):
        step = 0 if isinstance(after.event, TRANSIENT) else 1
        assert after.seq == before.seq + step
    return [e.event for e in (*logged[: first - 1], *heard)]


async def checked(desk: Desk) -> set[type[Event]]:
    """Check what a session has said; returns the kinds that occurred."""
    events = await said(desk)
    check(events)
    return {type(event) for event in events}


async def test_words_only(tmp_path: Path) -> None:
    script = [Say("hello there", reasoning="a greeting"), Drop(Say("one two"), 2), Say("again")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.run("hello")
        await desk.session.set_mode(Mode.ASK)
        await desk.run("and again")
        kinds = await checked(desk)
    assert {TextDelta, ReasoningDelta, ReplyDiscarded, UsageReported, UserMessageAdded} <= kinds


async def test_tools_with_approvals_questions_and_mistakes(tmp_path: Path) -> None:
    script = [
        Calls(READ, READ, ("glob", {"pattern": "*.py"}), EDIT, ECHO, READ),
        Calls(ASK, PLAN, ("no_such_tool", {}), ("read_file", "{")),
        Calls(EDIT, READ, finish="length"),
        Say("Done."),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.py", "x = 1\n")
        desk = await bench.desk()
        await desk.session.prompt("go")
        question = await desk.wait_for(QuestionAsked)
        desk.session.answer_question(question.question_id, "left")
        await desk.wait_for(TurnEnded)
        kinds = await checked(desk)
        assert len(desk.of(ToolCallEnded)) == 12
        assert len(desk.of(ToolCallPrepared)) == 8
    assert {ApprovalResolved, ToolOutputDelta, FileChanged, SyntaxChecked, PlanUpdated} <= kinds


async def test_what_is_refused(tmp_path: Path) -> None:
    def refuse(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.REJECT, "no")

    script = [Calls(ECHO, EDIT, ECHO), Say("Nothing then.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.py", "x = 1\n")
        desk = await bench.desk(refuse, Mode.ASK)
        await desk.run("go")
        assert ToolCallStarted not in await checked(desk)


async def test_a_turn_at_its_limit(tmp_path: Path) -> None:
    script = [Calls(READ), Calls(READ), Calls(READ, text="I ran out of rounds.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put(".pai/config.toml", "max_rounds = 2\n")
        bench.put("a.py", "x = 1\n")
        desk = await bench.desk()
        await desk.run("go")
        await checked(desk)
        assert [event.wrap_up for event in desk.of(RoundStarted)] == [False, False, True]


async def test_a_model_that_fails(tmp_path: Path) -> None:
    script = [Calls(READ), Status(401, {"error": {"message": "bad key"}}), Say("better")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        assert (await desk.run("one")).error
        await desk.run("two")
        await checked(desk)


@pytest.mark.parametrize("moment", [TurnStarted, RoundStarted, TextDelta, ToolOutputDelta])
async def test_cancelled(tmp_path: Path, moment: type[Event]) -> None:
    gate = Gate(Calls(SLEEP, READ, text="I run it."), after=3)
    async with ScriptedModel([gate, Say("ok")]) as model, workbench(tmp_path, model) as bench:
        if moment is ToolOutputDelta:
            gate.open()
        desk = await bench.desk()
        await desk.session.prompt("go")
        await desk.wait_for(moment)
        assert await desk.session.cancel()
        await checked(desk)
        model.script[:] = [Say("ok")]
        await desk.run("go on")
        await checked(desk)


@pytest.mark.parametrize(("call", "asked"), [(ECHO, ApprovalRequested), (ASK, QuestionAsked)])
async def test_cancelled_while_a_person_is_asked(
    tmp_path: Path, call: tuple[str, dict[str, object]], asked: type[Event]
) -> None:
    script = [Calls(READ, call, READ)]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(answer=lambda _: None)
        await desk.session.prompt("go")
        await desk.wait_for(asked)
        await desk.session.cancel()
        assert {asked, RunStateChanged} <= await checked(desk)
        assert len(desk.of(ApprovalResolved)) + len(desk.of(QuestionAnswered)) == 1


async def test_prompts_that_were_dropped(tmp_path: Path) -> None:
    gate = Gate(Say("one two three"))
    async with ScriptedModel([gate]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        for text in ("one", "two", "three"):
            receipt = await desk.session.prompt(text)
        await gate.reached.wait()
        await desk.session.cancel(receipt.turn_id)
        await bench.app.close()
        check([SessionCreated("", Mode.AUTO, ""), *desk.events])
        assert len(desk.of(TurnStarted)) == 1
        assert len(desk.of(TurnEnded)) == 3


async def test_a_log_that_ends_anywhere(tmp_path: Path) -> None:
    """As SIGKILL would leave it: opening it brings what is missing."""
    script = [Calls(READ, READ, EDIT, ECHO, ASK), Say("Done.")]
    async with ScriptedModel(script) as model:
        async with workbench(tmp_path, model) as bench:
            lines = await _recorded(bench)
        (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
        for count in range(1, len(lines) + 1):
            log.write_bytes(b"".join(lines[:count]))
            async with workbench(tmp_path, model) as bench:
                session = await bench.app.sessions.open(log.stem)
                check([envelope.event for envelope in await session.replay(0)])


async def _recorded(bench: Workbench) -> list[bytes]:
    """The lines of the log of a turn with a bit of everything."""
    bench.put("a.py", "x = 1\n")
    desk = await bench.desk(allow)
    await desk.session.prompt("go")
    question = await desk.wait_for(QuestionAsked)
    desk.session.answer_question(question.question_id, "left")
    await desk.wait_for(TurnEnded)
    paths = bench.workspace.parent.glob("state/sessions/*/*.jsonl")
    return next(paths).read_bytes().splitlines(keepends=True)


# -- and the check can fail ----------------------------------------------------------------------


async def _good(tmp_path: Path) -> list[Event]:
    script = [Calls(READ, READ, EDIT, ECHO), Say("Done.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.py", "x = 1\n")
        desk = await bench.desk()
        await desk.run("go")
        return [e for e in await said(desk) if not isinstance(e, TRANSIENT)]


async def test_no_event_may_be_missing_or_come_twice(tmp_path: Path) -> None:
    events = await _good(tmp_path)
    check(events)
    may_be_missing = (UsageReported, RunStateChanged, SyntaxChecked, SnapshotTaken)
    may_come_twice = (SyntaxChecked, FileChanged, SnapshotTaken)
    for number, event in enumerate(events):
        if not isinstance(event, may_be_missing):
            with pytest.raises(AssertionError):
                check([*events[:number], *events[number + 1 :]])
        if not isinstance(event, may_come_twice):
            with pytest.raises(AssertionError):
                check([*events[:number], event, *events[number:]])


async def test_no_two_durable_events_of_a_call_may_change_places(tmp_path: Path) -> None:
    events = await _good(tmp_path)
    kinds = (ToolCallPrepared, ApprovalRequested, ApprovalResolved, ToolCallStarted, ToolCallEnded)
    last = max(n for n, event in enumerate(events) if isinstance(event, ToolCallPrepared))
    places = [n for n in range(last, len(events)) if isinstance(events[n], kinds)]
    assert len(places) == len(kinds)
    for one, other in pairwise(places):
        swapped = list(events)
        swapped[one], swapped[other] = events[other], events[one]
        with pytest.raises(AssertionError):
            check(swapped)
