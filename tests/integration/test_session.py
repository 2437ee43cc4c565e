"""A session with everything real below the edges: loop, tools, gate, check, log, HTTP."""

import asyncio
import contextlib
import json
import logging
import os
import time
from collections.abc import Awaitable
from pathlib import Path

import pytest

from pails.app import App
from pails.core.errors import (
    ConfigurationError,
    InvalidRequestError,
    NotFoundError,
    StorageError,
)
from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessageAdded,
    Envelope,
    FileChanged,
    Mode,
    Notice,
    PromptAccepted,
    PromptEdited,
    PromptJoined,
    QuestionAsked,
    RoundStarted,
    RunState,
    RunStateChanged,
    SnapshotTaken,
    StopReason,
    SyntaxChecked,
    TextDelta,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)
from pails.core.ports import ApprovalAnswer, Attachment
from pails.entry import load_snapshots
from pails.session.journal import Journal
from pails.session.session import PromptReceipt
from pails.telemetry.logs import FILE_NAME
from pails.tools.calls.repeats import GIVE_UP_AT, HINT_AT
from pails.tools.calls.written import IF_DONE
from tests.support import zoo
from tests.support.scripted_model import Calls, Drop, Gate, Raw, Say, ScriptedModel, Status
from tests.support.workbench import Desk, allow, environment, workbench

CALC = "def add(a, b):\n    return a - b\n"


async def test_the_main_job(tmp_path: Path) -> None:
    """Read, slip, mend, run, sum up; the file is right and every step was told in order."""
    script = [
        Calls(("read_file", {"path": "calc.py"}), text="I look first."),
        Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "(a + b"})),
        Calls(("edit_file", {"path": "calc.py", "old": "(a + b", "new": "a + b"})),
        Calls(
            ("run_command", {"command": ["python3", "-c", "import calc; print(calc.add(2, 3))"]})
        ),
        Say("add() adds now."),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("calc.py", CALC)
        desk = await bench.desk()
        ended = await desk.run("fix add()")
        assert path.read_text() == CALC.replace("a - b", "a + b")

    assert (ended.state, ended.reason, ended.rounds) == (RunState.COMPLETED, StopReason.DONE, 5)
    assert ended.files == (str(bench.workspace / "calc.py"),)
    assert ended.usage.input_tokens == 500
    read, slip, mended, ran = desk.results().values()
    assert "return a - b" in read
    assert slip.startswith("Edited calc.py: 1 replacement")
    assert '1 new problem\n  calc.py:2:12 "(" is not closed' in slip
    assert "new" not in mended.split("Syntax", 1)[1]
    assert (IF_DONE in slip, IF_DONE in mended) == (False, True)
    assert "5" in ran
    assert "exit code 0" in ran
    assert [len(e.problems) > 0 for e in desk.of(SyntaxChecked)] == [True, False]
    assert [e.added for e in desk.of(FileChanged)] == [1, 1]
    states = [e.state for e in desk.of(RunStateChanged)]
    assert states == [RunState.RUNNING, RunState.WAITING, RunState.RUNNING]
    # A snapshot is told of whenever it has been taken.
    kinds = [type(e) for e in desk.events if not isinstance(e, TextDelta | SnapshotTaken)]
    first_call = kinds.index(ToolCallPrepared)
    assert kinds[:first_call] == [
        PromptAccepted, TurnStarted, RunStateChanged, UserMessageAdded, RoundStarted,
        AssistantMessageAdded, UsageReported,
    ]  # fmt: skip
    assert kinds[first_call : first_call + 3] == [ToolCallPrepared, ToolCallStarted, ToolCallEnded]
    numbers = [envelope.seq for envelope in desk.envelopes]
    assert numbers == sorted(numbers)


async def test_arguments_go_back_byte_for_byte_and_requests_grow_at_the_end(
    tmp_path: Path,
) -> None:
    odd = '{ "path" :"a.txt",\n "limit": 5 }'
    script = [Calls(("read_file", odd)), Calls(("read_file", {"path": "a.txt"})), Say("ok")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.txt", "日本\n")
        desk = await bench.desk()
        await desk.run("read")
        call = model.requests[1]["messages"][2]["tool_calls"][0]
        assert call["function"]["arguments"] == odd
        for earlier, later in zip(model.bodies, model.bodies[1:], strict=False):
            assert later.startswith(earlier.rstrip(b"]}"))


async def test_the_first_request_is_small(tmp_path: Path) -> None:
    async with ScriptedModel([Say("hi")]) as model, workbench(tmp_path, model) as bench:
        await (await bench.desk()).run("hello")
        body = model.requests[0]
        system = body["messages"][0]["content"]
        size = len(json.dumps(body["tools"]).encode()) + len(system.encode())
        assert size <= 12 * 1024, f"{size} bytes"
        assert {tool["function"]["name"] for tool in body["tools"]} == {
            "apply_patch", "ask_user", "delete_path", "edit_file", "edit_notebook", "glob", "grep",
            "list_dir", "list_snapshots", "move_path", "read_file", "rollback", "run_command",
            "update_plan", "write_file",
        }  # fmt: skip


async def test_the_results_of_many_reads_keep_their_order(tmp_path: Path) -> None:
    names = [f"f{n}.txt" for n in range(8)]
    calls = [("read_file", {"path": name}) for name in names]
    async with (
        ScriptedModel([Calls(*calls), Say("done")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        for name in names:
            bench.put(name, f"this is {name}\n")
        desk = await bench.desk()
        await desk.run("read all")
        results = [m["content"] for m in model.requests[1]["messages"] if m["role"] == "tool"]
        assert [name in result for name, result in zip(names, results, strict=True)] == [True] * 8


async def test_a_write_waits_for_the_reads_before_it(tmp_path: Path) -> None:
    script = [
        Calls(
            ("read_file", {"path": "a.txt"}),
            ("write_file", {"path": "a.txt", "content": "new\n"}),
            ("read_file", {"path": "a.txt"}),
        ),
        Say("done"),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.txt", "old\n")
        desk = await bench.desk()
        await desk.run("go")
        before, _, after = desk.results().values()
        assert "old" in before
        assert "new" in after
        order = [(type(e).__name__, e.call_id) for e in desk.events
                 if isinstance(e, ToolCallStarted | ToolCallEnded)]  # fmt: skip
        assert [name for name, _ in order] == ["ToolCallStarted", "ToolCallEnded"] * 3


async def test_the_limit_of_rounds_ends_with_words(tmp_path: Path) -> None:
    looking = [Calls(("glob", {"pattern": f"*{number}"})) for number in range(20)]
    async with (
        ScriptedModel([*looking, Say("I ran out of rounds.")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        ended = await desk.run("look around for ever")
        assert (ended.state, ended.reason) == (RunState.COMPLETED, StopReason.MAX_ROUNDS)
        assert ended.rounds == 20
        assert len(model.requests) == 21
        assert not model.requests[-1].get("tools")
        assert desk.of(AssistantMessageAdded)[-1].message.text == "I ran out of rounds."
        model.script.append(Say("again"))
        await desk.run("go on")


async def test_a_file_that_the_prompt_names_goes_along(tmp_path: Path) -> None:
    async with (
        ScriptedModel([Say("Seen.")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        bench.put("calc.py", CALC)
        bench.put(".env", "KEY=1\n")
        (tmp_path / "outside.py").write_text("secret\n")
        (bench.workspace / "link.py").symlink_to(tmp_path / "outside.py")
        desk = await bench.desk()
        await desk.run("Compare calc.py with .env, link.py and ../outside.py.")
        told = model.requests[0]["messages"][-1]["content"]
        assert told.startswith(f'<file path="calc.py">\n{CALC}</file>\n\nCompare calc.py')
        assert told.count("<file") == 1


async def test_a_model_that_goes_in_circles_is_told_so_and_then_stopped(tmp_path: Path) -> None:
    edit = Calls(("edit_file", {"path": "a.txt", "old": "never there", "new": "x"}))
    script = [*([edit] * GIVE_UP_AT), Say("Now I see."), *([edit] * 2), Say("Twice is no circle.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("a.txt", "text\n")
        desk = await bench.desk()
        ended = await desk.run("go")
        assert (ended.state, ended.reason) == (RunState.FAILED, StopReason.ERROR)
        assert f"same call {GIVE_UP_AT} times" in ended.error
        hinted = ["use another tool" in event.text for event in desk.of(ToolCallEnded)]
        assert hinted == [False] * (HINT_AT - 1) + [True] * (GIVE_UP_AT - HINT_AT + 1)
        assert (await desk.run("look again")).reason is StopReason.DONE
        assert (await desk.run("and again")).reason is StopReason.DONE, "each turn counts anew"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read_file", "{}", "path: Field required"),
        ("read_file", '{"path": 5}', "path: Input should be a valid string"),
        ("read_file", '{"path": "a", "colour": 1}', "colour: Extra inputs"),
        ("read_file", "[1]", "schema"),
        ("read_file", "null", "schema"),
        ("read_file", '{"path": "a', "not valid JSON"),
        ("no_such_tool", "{}", "There is no tool 'no_such_tool'"),
    ],
)
async def test_bad_arguments_are_a_result_the_model_can_mend(
    tmp_path: Path, name: str, arguments: str, expected: str
) -> None:
    script = [Calls((name, arguments)), Say("sorry")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.run("go")
        (result,) = desk.of(ToolCallEnded)
        assert result.is_error
        assert expected in result.text
        assert desk.of(ToolCallStarted) == []


async def test_a_cut_reply_runs_nothing(tmp_path: Path) -> None:
    write = ("write_file", {"path": "a.txt", "content": "half"})
    script = [Calls(write, finish="length"), Say("again")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", "whole\n")
        desk = await bench.desk()
        await desk.run("go")
        assert path.read_text() == "whole\n"
        assert "cut at the token limit" in desk.of(ToolCallEnded)[0].text


async def test_a_refused_command_is_told_with_the_reason(tmp_path: Path) -> None:
    def refuse(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.REJECT, "not on a Friday")

    command = ("run_command", {"command": ["touch", "marker"]})
    script = [Calls(command), Calls(command), Say("as you wish")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(refuse)
        ended = await desk.run("go")
        assert not (bench.workspace / "marker").exists()
        assert ended.state is RunState.COMPLETED
        assert "not on a Friday" in desk.of(ToolCallEnded)[0].text
        assert len(desk.of(ApprovalRequested)) == 1, "the same call must not be put up twice"
        assert desk.of(ToolCallStarted) == []


async def test_allowed_for_the_session_means_exactly_this_command(tmp_path: Path) -> None:
    def always(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.ALLOW_SESSION)

    script = [
        Calls(("run_command", {"command": ["echo", "one"]})),
        Calls(("run_command", {"command": ["echo", "one"]})),
        Calls(("run_command", {"command": ["echo", "one", "two"]})),
        Say("done"),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(always)
        await desk.run("go")
        assert [request.rule for request in desk.of(ApprovalRequested)] == [
            "run_command: echo one", "run_command: echo one two",
        ]  # fmt: skip


async def test_plan_mode_writes_nothing_also_right_after_a_switch(tmp_path: Path) -> None:
    gate = Gate(Calls(("write_file", {"path": "a.txt", "content": "x"})), after=2)
    script = [gate, Calls(("run_command", {"command": ["touch", "b"]})), Say("I may not.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("write")
        await gate.reached.wait()
        await desk.session.set_mode(Mode.PLAN)
        gate.open()
        await desk.wait_for(TurnEnded)
        assert list(bench.workspace.iterdir()) == []
        assert all(event.is_error for event in desk.of(ToolCallEnded))
        assert desk.of(ApprovalRequested) == []


async def test_ask_mode_shows_the_diff_before_the_write(tmp_path: Path) -> None:
    seen: list[tuple[ApprovalRequested, str]] = []
    script = [Calls(("edit_file", {"path": "a.txt", "old": "old", "new": "new"})), Say("ok")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        path = bench.put("a.txt", "old\n")

        def look(request: ApprovalRequested) -> ApprovalAnswer:
            seen.append((request, path.read_text()))
            return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)

        desk = await bench.desk(look, Mode.ASK)
        await desk.run("go")
        ((request, text_then),) = seen
        assert text_then == "old\n"
        assert "-old\n+new\n" in request.diff
        assert path.read_text() == "new\n"


async def test_a_second_prompt_is_queued_and_runs_afterwards(tmp_path: Path) -> None:
    gate = Gate(Say("first answer"))
    async with (
        ScriptedModel([gate, Say("second answer")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        first = await desk.session.prompt("one")
        second = await desk.session.prompt("two")
        assert (first.fate, second.fate, second.position) == ("started", "queued", 1)
        await gate.reached.wait()
        gate.open()
        await desk.wait_for(TurnEnded, 2)
        assert [event.turn_id for event in desk.of(TurnEnded)] == [first.turn_id, second.turn_id]
        accepted = [(event.turn_id, event.position) for event in desk.of(PromptAccepted)]
        assert accepted == [(first.turn_id, 0), (second.turn_id, 1)]
        roles = [message["role"] for message in model.requests[1]["messages"]]
        assert roles == ["system", "user", "assistant", "user"]


async def test_a_queued_prompt_can_be_taken_back(tmp_path: Path) -> None:
    gate = Gate(Say("first answer"))
    async with ScriptedModel([gate]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("one")
        second = await desk.session.prompt("two")
        assert await desk.session.cancel(second.turn_id)
        assert not await desk.session.cancel(second.turn_id)
        gate.open()
        await desk.wait_for(TurnEnded, 2)
        assert len(model.requests) == 1


async def test_a_queued_prompt_can_be_edited_until_it_starts(tmp_path: Path) -> None:
    gate = Gate(Say("first answer"))
    async with (
        ScriptedModel([gate, Say("second answer")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        first = await desk.session.prompt("one")
        second = await desk.session.prompt("two")
        await gate.reached.wait()
        assert desk.session.edit_prompt(second.turn_id, "two, changed")
        assert not desk.session.edit_prompt(first.turn_id, "too late")
        with pytest.raises(InvalidRequestError, match="empty"):
            desk.session.edit_prompt(second.turn_id, " ")
        gate.open()
        await desk.wait_for(TurnEnded, 2)
        assert desk.of(PromptEdited) == [PromptEdited(second.turn_id, "two, changed")]
        assert model.requests[1]["messages"][-1]["content"].startswith("two, changed")


# -- steering ------------------------------------------------------------------------------------


async def test_a_prompt_joins_the_running_turn_after_the_calls_of_its_round(tmp_path: Path) -> None:
    gate = Gate(Calls(("list_dir", {})))
    async with (
        ScriptedModel([gate, Say("as you say")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        first = await desk.session.prompt("one")
        await gate.reached.wait()
        second = await desk.session.prompt("rather so", steer=True)
        assert second.fate == "steered"
        gate.open()
        await desk.wait_for(TurnEnded)
        assert desk.of(PromptJoined) == [PromptJoined(first.turn_id, second.turn_id)]
        roles = [message["role"] for message in model.requests[1]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "user"]
        assert model.requests[1]["messages"][-1]["content"].startswith("rather so")
        assert [event.turn_id for event in desk.of(TurnEnded)] == [first.turn_id]


async def test_a_prompt_that_joins_after_the_last_reply_keeps_the_turn_going(
    tmp_path: Path,
) -> None:
    gate = Gate(Say("done"))
    async with ScriptedModel([gate, Say("more")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("one")
        await gate.reached.wait()
        waiting = await desk.session.prompt("and also")
        assert desk.session.steer(waiting.turn_id)
        gate.open()
        ended = await desk.wait_for(TurnEnded)
        assert (ended.rounds, len(desk.of(TurnEnded))) == (2, 1)
        roles = [message["role"] for message in model.requests[1]["messages"]]
        assert roles == ["system", "user", "assistant", "user"]


async def test_steering_that_finds_no_further_round_becomes_a_turn(tmp_path: Path) -> None:
    gate = Gate(Say("never shown"))
    async with ScriptedModel([gate, Say("second")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        first = await desk.session.prompt("one")
        await gate.reached.wait()
        second = await desk.session.prompt("instead", steer=True)
        assert await desk.session.cancel(first.turn_id)
        ended = await desk.wait_for(TurnEnded, 2)
        assert (ended.turn_id, ended.state) == (second.turn_id, RunState.COMPLETED)
        assert not desk.of(PromptJoined)


async def test_steering_with_nothing_running_is_a_plain_prompt(tmp_path: Path) -> None:
    async with ScriptedModel([Say("ok")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        receipt = await desk.session.prompt("one", steer=True)
        assert receipt.fate == "started"
        await desk.wait_for(TurnEnded)
        assert not desk.session.steer(receipt.turn_id)


# -- cancelling ----------------------------------------------------------------------------------


async def test_cancel_before_anything_has_happened(tmp_path: Path) -> None:
    async with ScriptedModel([Say("later")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("one")
        assert await desk.session.cancel()
        assert (await desk.wait_for(TurnEnded)).state is RunState.CANCELLED
        assert (await desk.run("two")).state is RunState.COMPLETED


async def test_cancel_while_the_model_speaks_keeps_what_it_said(tmp_path: Path) -> None:
    gate = Gate(Say("one two three four"), after=3)
    async with ScriptedModel([gate, Say("ok")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("go")
        await gate.reached.wait()
        await desk.wait_for(TextDelta)
        await desk.session.cancel()
        ended = await desk.wait_for(TurnEnded)
        assert (ended.state, ended.reason) == (RunState.CANCELLED, StopReason.CANCELLED)
        await gate.left.wait()
        await desk.run("hi")
        assert "[interrupted by the user]" in model.requests[1]["messages"][2]["content"]


@pytest.mark.parametrize("said", [Say("\n\n"), Say("x", reasoning="let me think about it")])
async def test_cancel_with_nothing_said_leaves_no_empty_message(tmp_path: Path, said: Say) -> None:
    gate = Gate(said, after=2)
    async with ScriptedModel([gate, Say("ok")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("go")
        await gate.reached.wait()
        await desk.session.cancel()
        await desk.run("hi")
        assert [m["role"] for m in model.requests[1]["messages"]] == ["system", "user", "user"]


async def test_cancel_in_a_command_kills_it_and_answers_every_call(tmp_path: Path) -> None:
    script = [
        Calls(
            ("run_command", {"command": ["sh", "-c", "echo $$ > pid; sleep 60"]}),
            ("read_file", {"path": "pid"}),
        ),
        Say("ok"),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.session.prompt("go")
        await desk.wait_for(ToolCallStarted)
        pid = await _content(bench.workspace / "pid")
        started = time.monotonic()
        assert await desk.session.cancel()
        assert time.monotonic() - started < 10
        with pytest.raises(ProcessLookupError):
            _signal_nothing(pid)
        texts = list(desk.results().values())
        assert "Outcome unknown: cancelled by the user" in texts[0]
        assert "Not run: cancelled by the user" in texts[1]
        await desk.run("hi")  # the strict server takes the history


async def test_cancel_while_a_person_is_asked(tmp_path: Path) -> None:
    script = [Calls(("run_command", {"command": ["touch", "x"]})), Say("ok")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(answer=lambda _: None)
        await desk.session.prompt("go")
        request = await desk.wait_for(ApprovalRequested)
        assert desk.session.run_state is RunState.WAITING
        assert desk.session.pending == (request,)
        await desk.session.cancel()
        assert desk.of(ApprovalResolved)[0].choice is ApprovalChoice.CANCELLED
        assert not desk.session.answer_approval(request.approval_id, allow(request))
        assert desk.session.pending == ()
        assert not (bench.workspace / "x").exists()
        await desk.run("hi")


async def test_a_question_waits_for_its_answer(tmp_path: Path) -> None:
    ask = ("ask_user", {"question": "Which one?", "options": ["left", "right"]})
    async with (
        ScriptedModel([Calls(ask), Say("right it is")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        await desk.session.prompt("go")
        question = await desk.wait_for(QuestionAsked)
        assert question.options == ("left", "right")
        assert desk.session.answer_question(question.question_id, "right")
        await desk.wait_for(TurnEnded)
        assert "right" in desk.of(ToolCallEnded)[0].text


# -- failures ------------------------------------------------------------------------------------


async def test_a_model_that_refuses_ends_the_turn_with_a_sentence(tmp_path: Path) -> None:
    script = [Status(401, {"error": {"message": "bad key"}}), Say("now it works")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        ended = await desk.run("one")
        assert (ended.state, ended.reason) == (RunState.FAILED, StopReason.ERROR)
        assert "key" in ended.error
        assert (await desk.run("two")).state is RunState.COMPLETED


async def test_a_broken_stream_is_tried_again_and_runs_no_half_call(tmp_path: Path) -> None:
    write = Calls(("write_file", {"path": "a.txt", "content": "once"}))
    async with (
        ScriptedModel([Drop(write, after=3), write, Say("done")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        ended = await desk.run("go")
        assert ended.state is RunState.COMPLETED
        assert len(desk.of(ToolCallStarted)) == 1


async def test_a_reply_with_stop_and_calls_runs_them(tmp_path: Path) -> None:
    script = [Calls(("list_dir", {"path": "."}), finish="stop"), Say("done")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        await desk.run("go")
        assert len(desk.of(ToolCallStarted)) == 1


async def test_no_model_says_how_to_get_one(tmp_path: Path) -> None:
    async with ScriptedModel([]) as model, workbench(tmp_path, model) as bench:
        bare = {k: v for k, v in environment(tmp_path, model).items() if "DIR" in k}
        app = App(bare, {}, None, bench.workspace, load_snapshots)
        session = await app.sessions.new(bench.workspace, None, None)
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            await session.prompt("hi")
        assert session.run_state is None
        await app.close()


async def test_what_cannot_be_closed_keeps_nothing_else_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session, here, whose log the system does not let go of."""

    def refuse(journal: Journal) -> None:
        close(journal)
        raise OSError("stuck")

    close = Journal.close
    script = [Say("1"), Say("2")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        app = App(environment(tmp_path, model), {}, None, bench.workspace, load_snapshots)
        app.start()
        desks = [Desk(await app.sessions.new(bench.workspace, None, None), None) for _ in "12"]
        for desk in desks:
            await desk.run("go")
        monkeypatch.setattr(Journal, "close", refuse)
        with pytest.raises(OSError, match="stuck"):
            await app.close()
        assert app.sessions.opened == ()
        assert not [one for one in logging.getLogger().handlers if one.name == FILE_NAME]
        monkeypatch.undo()
        again = await bench.app.sessions.open(desks[1].session.id)
        assert again.title == "go"


async def test_a_workspace_that_does_not_exist(tmp_path: Path) -> None:
    async with ScriptedModel([]) as model, workbench(tmp_path, model) as bench:
        with pytest.raises(NotFoundError, match="nowhere"):
            await bench.app.sessions.new(tmp_path / "nowhere", None, None)
        with pytest.raises(NotFoundError, match="no-such-session"):
            await bench.app.sessions.open("no-such-session")


# -- reopening -----------------------------------------------------------------------------------


async def test_a_session_reopens_where_it_was(tmp_path: Path) -> None:
    script = [Calls(("read_file", {"path": "a.txt"})), Say("I read it."), Say("Again.")]
    async with ScriptedModel(script) as model:
        async with workbench(tmp_path, model) as bench:
            bench.put("a.txt", "text\n")
            desk = await bench.desk()
            await desk.run("read a.txt")
            session_id = desk.session.id
        async with workbench(tmp_path, model) as bench:
            (summary,) = await bench.app.sessions.list(bench.workspace)
            assert (summary.session_id, summary.title) == (session_id, "read a.txt")
            session = await bench.app.sessions.open(session_id)
            replayed = await session.replay(0)
            assert [e.seq for e in replayed] == list(range(1, len(replayed) + 1))
            await Desk(session, allow).run("and again")
        assert [m["role"] for m in model.requests[-1]["messages"]] == [
            "system", "user", "assistant", "tool", "assistant", "user",
        ]  # fmt: skip
        assert model.bodies[-1].startswith(model.bodies[-2].rstrip(b"]}"))


async def test_a_call_cut_off_by_death_is_neither_lost_nor_repeated(tmp_path: Path) -> None:
    """The log ends behind the start of a command, as SIGKILL would leave it."""
    command = ("run_command", {"command": ["sh", "-c", "echo ran >> runs"]})
    async with ScriptedModel([Calls(command), Say("done"), Say("I checked.")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("go")
            session_id = desk.session.id
        (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
        lines = log.read_bytes().splitlines(keepends=True)
        cut = next(n for n, line in enumerate(lines) if b'"toolCallStarted"' in line)
        log.write_bytes(b"".join(lines[: cut + 1]))
        async with workbench(tmp_path, model) as bench:
            session = await bench.app.sessions.open(session_id)
            await Desk(session, allow).run("what happened?")
            assert (bench.workspace / "runs").read_text() == "ran\n"
        results = [m for m in model.requests[-1]["messages"] if m["role"] == "tool"]
        assert len(results) == 1
        assert "Outcome unknown" in results[0]["content"]


async def test_a_prompt_is_kept_from_the_moment_its_sender_hears_of_it(tmp_path: Path) -> None:
    async with ScriptedModel([Say("one"), Say("two")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            receipt = await desk.session.prompt("a long and careful prompt")
            (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
            killed_now = log.read_bytes()
            await desk.wait_for(TurnEnded)
        log.write_bytes(killed_now)
        async with workbench(tmp_path, model) as bench:
            session = await bench.app.sessions.open(desk.session.id)
            accepted, _, ended = (e.event for e in (await session.replay(0))[-3:])
            assert isinstance(accepted, PromptAccepted)
            assert accepted.text == "a long and careful prompt"
            assert isinstance(ended, TurnEnded)
            assert (ended.turn_id, ended.state) == (receipt.turn_id, RunState.INTERRUPTED)
            assert "Send it again" in ended.error
            await Desk(session, allow).run("again")


async def test_a_session_in_which_nothing_was_asked_leaves_nothing(tmp_path: Path) -> None:
    async with ScriptedModel([Say("one")]) as model:
        async with workbench(tmp_path, model) as bench:
            blank = await bench.desk()
            await blank.session.set_mode(Mode.ASK)
            used = await bench.desk()
            await used.run("hello")
            assert len(list((tmp_path / "state" / "sessions").glob("*/*.jsonl"))) == 2
            listed = await bench.app.sessions.list(bench.workspace)
            assert [summary.session_id for summary in listed] == [used.session.id]
        (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
        assert log.stem == used.session.id


@pytest.mark.parametrize("lost", ["promptAccepted", "turnStarted"])
async def test_a_damaged_log_is_listed_and_kept(tmp_path: Path, lost: str) -> None:
    async with ScriptedModel([Say("one")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("hello")
        (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
        log.write_bytes(log.read_bytes().replace(f'"{lost}"'.encode(), b'"?"'))
        async with workbench(tmp_path, model) as bench:
            (summary,) = await bench.app.sessions.list(bench.workspace)
            assert summary.title == "hello"
            await bench.app.sessions.open(summary.session_id)
        assert log.exists()


async def test_a_long_prompt_does_not_hide_its_session(tmp_path: Path) -> None:
    async with (
        ScriptedModel([Say("one")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        await (await bench.desk()).run("Explain this:\n" + "字" * 100_000)
        (summary,) = await bench.app.sessions.list(bench.workspace)
        assert summary.title == "Explain this:"


async def test_two_requests_to_open_open_one_session(tmp_path: Path) -> None:
    async with ScriptedModel([Say("one"), Say("two")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("hello")
            session_id = desk.session.id
        async with workbench(tmp_path, model) as bench:
            sessions = bench.app.sessions
            first, second = await asyncio.gather(
                sessions.open(session_id), sessions.open(session_id)
            )
            assert first is second
            await Desk(first, allow).run("again")
            numbers = [envelope.seq for envelope in await first.replay(0)]
            assert numbers == list(range(1, len(numbers) + 1))


async def test_an_opening_that_is_cancelled_locks_nothing(tmp_path: Path) -> None:
    async with ScriptedModel([Say("one"), Say("two")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("hello")
        async with workbench(tmp_path, model) as bench:
            for steps in range(12):
                opening = asyncio.create_task(bench.app.sessions.open(desk.session.id))
                for _ in range(steps):
                    await asyncio.sleep(0)
                opening.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await opening
                if len(bench.app.sessions):
                    break
            session = await bench.app.sessions.open(desk.session.id)
            await Desk(session, allow).run("again")


async def test_a_session_that_another_process_has_open_is_left_alone(tmp_path: Path) -> None:
    gate = Gate(Say("one two three"))
    async with (
        ScriptedModel([gate]) as model,
        workbench(tmp_path, model) as bench,
        workbench(tmp_path, model) as other,
    ):
        desk = await bench.desk()
        await desk.session.prompt("hello")
        await gate.reached.wait()
        with pytest.raises(StorageError, match="open in another Pails process"):
            await other.app.sessions.open(desk.session.id)
        gate.open()
        ended = await desk.wait_for(TurnEnded)
        assert ended.state is RunState.COMPLETED
        numbers = [envelope.seq for envelope in await desk.session.replay(0)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_prompts_that_wait_when_a_session_closes_are_not_forgotten(tmp_path: Path) -> None:
    gate = Gate(Say("one two three"))
    async with ScriptedModel([gate, Say("fresh")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            first = await desk.session.prompt("one")
            second = await desk.session.prompt("two")
            await gate.reached.wait()
        ends = [(e.turn_id, e.state) for e in desk.of(TurnEnded)]
        assert ends == [
            (first.turn_id, RunState.INTERRUPTED), (second.turn_id, RunState.INTERRUPTED),
        ]  # fmt: skip
        with pytest.raises(InvalidRequestError, match="closed"):
            await desk.session.prompt("three")
        async with workbench(tmp_path, model) as bench:
            session = await bench.app.sessions.open(desk.session.id)
            told = [e.event for e in await session.replay(0) if isinstance(e.event, TurnEnded)]
            assert [(e.turn_id, e.state) for e in told] == ends


async def test_a_log_that_lost_its_beginning_opens_in_no_other_folder(tmp_path: Path) -> None:
    """Without a workspace in the log, the session would work in the folder of the process."""
    async with ScriptedModel([Say("one")]) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk()
            await desk.run("hello")
        (log,) = (tmp_path / "state" / "sessions").glob("*/*.jsonl")
        log.write_bytes(b"garbage\n" + log.read_bytes().partition(b"\n")[2])
        async with workbench(tmp_path, model) as bench:
            with pytest.raises(StorageError, match="where it belongs"):
                await bench.app.sessions.open(desk.session.id)


# -- prompts and cancelling at awkward moments ---------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
async def test_an_empty_prompt_is_refused_and_the_history_stays_sendable(
    tmp_path: Path, text: str
) -> None:
    async with ScriptedModel([Say("ok")]) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        with pytest.raises(InvalidRequestError, match="empty"):
            await desk.session.prompt(text)
        ended = await desk.run("words")
        assert ended.state is RunState.COMPLETED


async def test_a_prompt_right_behind_the_end_of_a_turn_is_not_called_queued(
    tmp_path: Path,
) -> None:
    """The log of the last turn may still be on its way to the disk."""
    async with (
        ScriptedModel([Say("one"), Say("two")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        receipts: list[Awaitable[PromptReceipt]] = []

        def go_on(envelope: Envelope) -> None:
            if isinstance(envelope.event, TurnEnded) and not receipts:
                receipts.append(asyncio.ensure_future(desk.session.prompt("at once")))

        desk.session.subscribe(go_on)
        await desk.run("hello")
        receipt = await receipts[0]
        assert (receipt.fate, receipt.position) == ("started", 0)
        await desk.wait_for(TurnEnded, 2)
        assert [event.position for event in desk.of(PromptAccepted)] == [0, 0]


async def test_a_turn_cancelled_early_reports_nothing_of_the_one_before(tmp_path: Path) -> None:
    """However far it has come by then; at first its run exists and has not begun."""
    script = [Calls(("write_file", {"path": "a.txt", "content": "a\n"})), Say("written")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk()
        assert (await desk.run("write")).files
        for steps in range(8):
            model.script[:] = [Gate(Say("never heard"))]
            await desk.session.prompt("never mind")
            for _ in range(steps):
                await asyncio.sleep(0)
            assert await desk.session.cancel()
            ended = desk.of(TurnEnded)[-1]
            assert (ended.state, ended.files) == (RunState.CANCELLED, ())
            assert ended.usage.input_tokens == 0
        began = {event.turn_id for event in desk.of(TurnStarted)}
        rounds = [e.rounds for e in desk.of(TurnEnded) if e.turn_id not in began]
        assert rounds and not any(rounds)


async def test_a_stream_with_an_error_inside_is_no_success(tmp_path: Path) -> None:
    broken = Raw(
        {"choices": [{"index": 0, "delta": {"content": "half"}}]},
        {"error": {"message": "the server is overloaded", "code": 503}},
        done=False,
    )
    async with (
        ScriptedModel([broken, Say("whole")]) as model,
        workbench(tmp_path, model) as bench,
    ):
        desk = await bench.desk()
        await desk.run("go")
        assert [e.message.text for e in desk.of(AssistantMessageAdded)] == ["whole"]


async def _content(path: Path) -> int:
    async with asyncio.timeout(10):
        while not path.exists() or not path.read_text().strip():
            await asyncio.sleep(0.02)
    return int(path.read_text())


def _signal_nothing(pid: int) -> None:
    os.kill(pid, 0)


async def test_what_nobody_answered_is_not_put_into_the_persons_mouth(tmp_path: Path) -> None:
    def nobody(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.UNANSWERED, "nobody is at a terminal to be asked")

    command = ("run_command", {"command": ["touch", "marker"]})
    script = [Calls(command), Calls(command), Say("It could not be run.")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(nobody)
        await desk.run("go")
        assert not (bench.workspace / "marker").exists()
        (first, second) = desk.of(ToolCallEnded)
        assert "nobody is at a terminal" in first.text
        assert "refused" not in first.text
        assert first.text == second.text, "a person who comes back must be asked again"
        assert len(desk.of(ApprovalRequested)) == 2


async def test_what_was_allowed_for_the_session_outlives_the_process(tmp_path: Path) -> None:
    def always(_: ApprovalRequested) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.ALLOW_SESSION)

    command = ("run_command", {"command": ["echo", "one"]})
    other = ("run_command", {"command": ["echo", "two"]})
    script = [Calls(command), Say("ok"), Calls(command), Calls(other), Say("ok")]
    async with ScriptedModel(script) as model:
        async with workbench(tmp_path, model) as bench:
            desk = await bench.desk(always)
            await desk.run("go")
            session_id = desk.session.id
        async with workbench(tmp_path, model) as bench:
            desk = Desk(await bench.app.sessions.open(session_id), allow)
            await desk.run("again")
            assert [request.rule for request in desk.of(ApprovalRequested)] == [
                "run_command: echo two"
            ]


async def test_a_workspaces_own_settings_count_and_bad_ones_are_told(tmp_path: Path) -> None:
    async with ScriptedModel([]) as model, workbench(tmp_path, model) as bench:
        bench.put(".pai/config.toml", 'mode = "plan"\nmax_rounds = "many"\n')
        session = await bench.app.sessions.new(bench.workspace, None, None)
        assert session.mode is Mode.PLAN
        (notice,) = [e.event for e in await session.replay(0) if isinstance(e.event, Notice)]
        assert "max_rounds" in notice.text
        other = tmp_path / "other"
        other.mkdir()
        assert (await bench.app.sessions.new(other, None, None)).mode is Mode.AUTO


async def test_hidden_characters_of_a_change_are_shown(tmp_path: Path) -> None:
    seen: list[ApprovalRequested] = []

    def look(request: ApprovalRequested) -> ApprovalAnswer:
        seen.append(request)
        return allow(request)

    script = [
        Calls(("write_file", {"path": "a.txt", "content": "if x:\u202e\u200b pass\r\n"})),
        Say("ok"),
    ]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        desk = await bench.desk(look, Mode.ASK)
        await desk.run("go")
        assert "+if x:⟨U+202E⟩⟨U+200B⟩ pass\n" in seen[0].diff


async def test_a_folder_or_a_binary_where_a_file_should_be_is_said_and_the_talk_goes_on(
    tmp_path: Path,
) -> None:
    script = [Say("I see"), Say("still here")]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        bench.put("src/a.py", "x = 1\n")
        (bench.workspace / "a.png").write_bytes(zoo.PNG)
        names = ("src", "a.png", "missing.py")
        attached = [Attachment("file", bench.workspace / name) for name in names]
        desk = await bench.desk()
        await desk.session.prompt("Look at @src/ and @a.png", attached)
        assert (await desk.wait_for(TurnEnded)).state is RunState.COMPLETED
        said = model.requests[0]["messages"][-1]["content"]
        assert '<file path="src">\n[src is a directory]\n</file>' in said
        assert "[a.png is binary: 8 bytes, PNG image]" in said
        assert "[missing.py does not exist]" in said
        assert (await desk.run("and now?")).state is RunState.COMPLETED
