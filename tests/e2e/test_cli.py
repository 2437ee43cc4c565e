"""`pails run` and `pails doctor` as processes, against a scripted model."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import (
    SECONDS,
    Home,
    Ran,
    argv,
    at_terminal,
    make_home,
    run,
    started,
)
from tests.support.process_zoo import children_of
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel, Status

pytestmark = pytest.mark.e2e

HELLO = [sys.executable, "-c", "print('hello from the command')"]
RUN_HELLO = Calls(("run_command", {"command": HELLO}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = make_home(tmp_path)
    (home.workspace / "calc.py").write_text("def double(x):\n    return x + x + x\n")
    return home


def last_message(model: ScriptedModel) -> str:
    return model.requests[-1]["messages"][-1]["content"]


# -- without a terminal --------------------------------------------------------------------------


async def test_the_answer_goes_to_stdout_and_the_work_to_stderr(home: Home):
    edit = {"path": "calc.py", "old": "x + x + x", "new": "x + x"}
    script = [
        Calls(("read_file", {"path": "calc.py"}), text="I look first."),
        Calls(("edit_file", edit)),
        Say("修好了 ✔"),
    ]
    async with ScriptedModel(script) as model:
        ran = await run(home.environment(model), home.workspace, "run", "fix double")
    assert (ran.code, ran.out) == (0, "I look first.\n修好了 ✔\n")
    assert (home.workspace / "calc.py").read_text() == "def double(x):\n    return x + x\n"
    for row in (
        "● Read calc.py",
        "● Edit calc.py",
        "    -    return x + x + x",
        "✓ syntax (python)",
    ):
        assert row in ran.err
    assert "Done · 3 rounds · 300 tokens in, 30 out" in ran.err
    assert "\x1b" not in ran.out + ran.err


async def test_json_is_one_event_a_line_and_nothing_else(home: Home):
    async with ScriptedModel([Say("one two three")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "--json", "count")
    lines: list[dict[str, Any]] = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [line["event"]["kind"] for line in lines]
    assert all(set(line) == {"sessionId", "seq", "event"} for line in lines)
    assert kinds[0] == "sessionCreated"
    assert kinds[-1] == "turnEnded"
    assert "".join(e["event"]["text"] for e in lines if e["event"]["kind"] == "textDelta") == (
        "one two three"
    )
    assert (ran.code, ran.err) == (0, "")


async def test_what_needs_a_person_is_refused_and_said(home: Home):
    async with ScriptedModel([RUN_HELLO, Say("I could not.")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "say hello")
        assert "nobody is at a terminal" in last_message(model)
    assert (ran.code, ran.out) == (3, "I could not.\n")
    assert "! Refused, nobody is at a terminal to allow it: Run " in ran.err
    assert "! needed a person and was refused: Run " in ran.err


async def test_a_question_that_nobody_can_answer_is_said(home: Home):
    ask = Calls(("ask_user", {"question": "Which colour?", "options": ["red", "blue"]}))
    async with ScriptedModel([ask, Say("I took red.")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "--json", "paint")
    assert ran.code == 3
    assert ran.err == "! Not answered, nobody is at a terminal: Which colour?\n"


async def test_plan_mode_needs_nobody(home: Home):
    async with ScriptedModel([RUN_HELLO, Say("This is my plan.")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "--mode", "plan", "plan it")
    assert (ran.code, ran.out) == (0, "This is my plan.\n")


async def test_a_turn_that_fails_says_why(home: Home):
    refusal = Status(401, {"error": {"message": "Incorrect API key provided."}})
    async with ScriptedModel([refusal]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "hello")
    assert (ran.code, ran.out) == (1, "")
    assert "Failed" in ran.err
    assert "key" in ran.err


async def test_a_server_without_a_model_is_a_matter_of_configuration(home: Home):
    async with ScriptedModel(models=()) as model:
        ran = await run(home.environment(model), home.workspace, "run", "hello")
    assert (ran.code, ran.out) == (2, "")
    assert "PAILS_MODEL" in ran.err
    assert "Traceback" not in ran.err


async def test_a_run_that_cannot_begin_leaves_no_session(home: Home):
    async with ScriptedModel(models=()) as model:
        await run(home.environment(model), home.workspace, "run", "hello")
    assert list((home.root / "state").rglob("*.jsonl")) == [
        home.root / "state" / "logs" / "pails.jsonl"
    ]


async def test_a_dead_model_server_is_a_failure_and_no_wrong_usage(home: Home):
    async with ScriptedModel() as model:
        gone = model.base_url
    ran = await run(home.environment(None, PAILS_BASE_URL=gone), home.workspace, "run", "hello")
    assert (ran.code, ran.out) == (1, "")
    assert gone in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("taken", ["state", "state/sessions"])
async def test_a_state_folder_that_takes_no_files_is_a_failure_and_no_wrong_usage(
    home: Home, taken: str
):
    path = home.root / taken
    path.parent.mkdir(exist_ok=True)
    path.write_text("a file where the folder should be")
    async with ScriptedModel() as model:
        ran = await run(home.environment(model), home.workspace, "run", "hello")
    assert (ran.code, ran.out) == (1, "")
    assert str(path) in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "the following arguments are required: task"),
        (["run", "--mode", "yolo", "x"], "invalid choice"),
        (["run", "  "], "The task is empty"),
        (["run", "--session", "20990101-000000-nosuch", "x"], "There is no session"),
        (["run", "--workspace", "missing", "x"], "cannot be started in"),
        (["run", "x", "--attach", "missing.py"], "There is no file to attach at"),
        (["dance"], "pails run"),
    ],
)
async def test_wrong_usage_ends_with_2(home: Home, arguments: list[str], said: str):
    async with ScriptedModel() as model:
        ran = await run(home.environment(model), home.workspace, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


async def test_the_task_may_come_from_stdin(home: Home):
    async with ScriptedModel([Say("Read.")]) as model:
        environment = home.environment(model)
        ran = await run(environment, home.workspace, "run", "-", stdin="两行\nof a task\n")
        assert "两行\nof a task" in last_message(model)
    assert ran.code == 0


async def test_attached_files_go_along(home: Home):
    async with ScriptedModel([Say("Seen.")]) as model:
        environment = home.environment(model)
        ran = await run(environment, home.workspace, "run", "look", "--attach", "calc.py")
        assert "return x + x + x" in last_message(model)
    assert ran.code == 0


async def test_a_session_goes_on_and_only_the_new_turn_is_shown(home: Home):
    async with ScriptedModel([Say("First answer."), Say("Second answer.")]) as model:
        environment = home.environment(model)
        first = await run(environment, home.workspace, "run", "--json", "remember 17")
        session = json.loads(first.out.splitlines()[0])["sessionId"]
        again = await run(
            environment, home.workspace, "run", "--json", "--session", session, "--mode", "ask", "?"
        )
        told = [message["content"] for message in model.requests[1]["messages"][1:]]
    lines = [json.loads(line) for line in again.out.splitlines()]
    assert again.code == 0
    assert any("remember 17" in text for text in told)
    assert "First answer." in told
    assert {line["sessionId"] for line in lines} == {session}
    assert "First answer." not in again.out
    assert any(line["event"]["kind"] == "modeChanged" for line in lines)


async def test_configuration_warnings_are_shown(home: Home):
    async with ScriptedModel([Say("Fine.")]) as model:
        environment = home.environment(model, PAILS_MAX_ROUNDS="many")
        ran = await run(environment, home.workspace, "run", "hello")
    assert ran.code == 0
    assert "! the environment: `max_rounds` must be" in ran.err


async def test_modules_of_the_workspace_are_not_imported(home: Home):
    (home.workspace / "pails.py").write_text("raise SystemExit('imported the workspace')")
    (home.workspace / "asyncio.py").write_text("raise SystemExit('imported the workspace')")
    async with ScriptedModel([Say("Safe.")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "hello")
    assert (ran.code, ran.out) == (0, "Safe.\n")


# -- interruptions -------------------------------------------------------------------------------


async def test_ctrl_c_cancels_the_turn_and_waits_for_its_end(home: Home):
    gate = Gate(after=4)
    async with (
        ScriptedModel([gate]) as model,
        started(home.environment(model), home.workspace, "run", "count") as process,
    ):
        await gate.reached.wait()
        os.killpg(process.pid, signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 130
    assert b"Cancelling" in err
    assert b"\nCancelled" in err
    assert b"Traceback" not in err
    assert gate.left.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the server through /proc")
async def test_a_second_ctrl_c_ends_at_once_though_the_server_hangs(home: Home):
    gate = Gate(after=4)
    async with (
        ScriptedModel([gate]) as model,
        started(home.environment(model), home.workspace, "run", "count") as process,
    ):
        await gate.reached.wait()
        [server] = children_of(process.pid)
        os.kill(server, signal.SIGSTOP)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr
        await process.stderr.readuntil(b"Cancelling")
        os.killpg(process.pid, signal.SIGINT)
        _, err = await process.communicate()
        assert not Path(f"/proc/{server}").exists()
    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="finds the server through /proc")
async def test_a_server_that_dies_is_reported(home: Home):
    gate = Gate(after=4)
    async with (
        ScriptedModel([gate]) as model,
        started(home.environment(model), home.workspace, "run", "count") as process,
    ):
        await gate.reached.wait()
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"The server ended unexpectedly" in err
    assert b"--session" in err
    assert b"Traceback" not in err


async def test_a_reader_that_leaves_ends_the_run_silently(home: Home):
    gate = Gate(Say("one two three four five six"), after=3)
    ours, theirs = os.pipe()
    async with (
        ScriptedModel([gate]) as model,
        started(
            home.environment(model), home.workspace, "run", "--json", "count", stdout=theirs
        ) as process,
    ):
        os.close(theirs)
        await gate.reached.wait()
        os.close(ours)
        gate.open()
        _, err = await process.communicate()
    assert (process.returncode, err) == (1, b"")


# -- at a terminal -------------------------------------------------------------------------------


async def test_an_approval_is_answered_at_the_terminal(home: Home):
    async with ScriptedModel([RUN_HELLO, Say("It said hello.")]) as model:
        async with at_terminal(home.environment(model), home.workspace, "run", "greet") as terminal:
            await terminal.wait_for("[y] yes, once")
            await terminal.wait_for("> ")
            terminal.type("y")
            assert await terminal.end() == 0
        assert "hello from the command" in last_message(model)
    assert "\x1b[" in terminal.shown
    assert "  │ hello from the command" in terminal.plain
    assert "It said hello." in terminal.plain


async def test_an_answer_for_the_session_is_the_rule_that_was_shown(home: Home):
    async with (
        ScriptedModel([RUN_HELLO, RUN_HELLO, Say("Twice.")]) as model,
        at_terminal(home.environment(model), home.workspace, "run", "greet") as terminal,
    ):
        await terminal.wait_for("[s] yes, for this session: run_command: ")
        await terminal.wait_for("> ")
        terminal.type("s")
        assert await terminal.end() == 0
    assert terminal.plain.count("  │ hello from the command") == 2
    assert terminal.plain.count("[y] yes, once") == 1


async def test_a_refusal_tells_the_model_the_reason(home: Home):
    async with ScriptedModel([RUN_HELLO, Say("Then not.")]) as model:
        async with at_terminal(home.environment(model), home.workspace, "run", "greet") as terminal:
            await terminal.wait_for("> ")
            terminal.type("what?")
            await terminal.wait_for("Please type")
            await terminal.wait_for("> ")
            terminal.type("n 先别运行")
            assert await terminal.end() == 0
        assert "先别运行" in last_message(model)
    assert "│ hello from the command" not in terminal.plain


async def test_what_was_typed_before_the_question_does_not_answer_it(home: Home):
    gate = Gate(RUN_HELLO, after=1)
    async with ScriptedModel([gate, Say("Refused.")]) as model:
        async with at_terminal(home.environment(model), home.workspace, "run", "greet") as terminal:
            await gate.reached.wait()
            terminal.type("y")
            gate.open()
            await terminal.wait_for("[n] no")
            await terminal.wait_for("> ")
            terminal.type("n no")
            assert await terminal.end() == 0
        assert "refused" in last_message(model)


async def test_a_question_is_answered_by_number(home: Home):
    ask = Calls(("ask_user", {"question": "Which colour?", "options": ["red", "blue"]}))
    async with ScriptedModel([ask, Say("Blue it is.")]) as model:
        async with at_terminal(home.environment(model), home.workspace, "run", "paint") as terminal:
            await terminal.wait_for("[2] blue")
            await terminal.wait_for("> ")
            terminal.type("2")
            assert await terminal.end() == 0
        assert "blue" in last_message(model)


async def test_ctrl_c_while_a_question_waits_cancels(home: Home):
    async with (
        ScriptedModel([RUN_HELLO]) as model,
        at_terminal(home.environment(model), home.workspace, "run", "greet") as terminal,
    ):
        await terminal.wait_for("> ")
        terminal.interrupt()
        assert await terminal.end() == 130
    assert "no longer needed: the turn was cancelled" in terminal.plain
    assert "Traceback" not in terminal.plain


async def test_no_color_is_respected_at_a_terminal(home: Home):
    async with ScriptedModel([Say("Plain.")]) as model:
        environment = home.environment(model, NO_COLOR="1")
        async with at_terminal(environment, home.workspace, "run", "hello") as terminal:
            assert await terminal.end() == 0
            await terminal.wait_for("go on with")
    assert "\x1b" not in terminal.shown


# -- doctor --------------------------------------------------------------------------------------


async def test_doctor_finds_everything_well(home: Home):
    async with ScriptedModel() as model:
        ran = await run(home.environment(model), home.workspace, "doctor", "--json")
    report = json.loads(ran.out)
    checks = {check["name"]: check for check in report["checks"]}
    assert (ran.code, report["ok"], ran.err) == (0, True, "")
    assert checks["model"]["status"] == "ok"
    assert model.base_url in checks["model"]["detail"]
    assert checks["grammar python"]["status"] == "ok"
    assert checks["bubblewrap"]["status"] == "info"
    assert checks["bubblewrap"]["detail"].endswith("; commands run without a sandbox")
    assert checks["setting mode"]["detail"] == "auto (default)"
    assert checks["setting base_url"]["detail"].endswith("(the environment)")


async def test_doctor_says_what_to_do_and_ends_with_1(home: Home):
    (home.root / "state").write_text("a file where the folder should be")
    (home.workspace / ".pai").mkdir()
    (home.workspace / ".pai" / "config.toml").write_text('moode = "ask"\n')
    async with ScriptedModel(api_key="right") as model:
        environment = home.environment(model, PAILS_API_KEY="wrong-key-123")
        ran = await run(environment, home.workspace, "doctor")
    assert (ran.code, ran.err) == (1, "")
    assert "fail  model: " in ran.out
    assert "fail  state folder: " in ran.out
    assert "warn  configuration: " in ran.out
    assert "there is no setting `moode`" in ran.out
    assert "wrong-key-123" not in ran.out
    assert "Traceback" not in ran.out


@pytest.mark.parametrize("name", ["missing", "calc.py"])
async def test_doctor_says_that_a_workspace_is_no_folder(home: Home, name: str):
    async with ScriptedModel() as model:
        environment = home.environment(model)
        ran = await run(environment, home.workspace, "doctor", "--workspace", name)
    assert (ran.code, ran.err) == (1, "")
    assert f"fail  workspace: there is no folder at {home.workspace / name}\n" in ran.out


# -- streams that are closed, full or not UTF-8 ---------------------------------------------------


async def shell(home: Home, model: ScriptedModel, redirection: str, *arguments: str) -> Ran:
    """`pails ARGUMENTS` with its streams as the shell makes them."""
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'exec "$@" {redirection}', "sh", *argv(*arguments)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=home.environment(model),
        cwd=home.workspace,
    )
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


@pytest.mark.parametrize(
    ("redirection", "code", "out", "err"),
    [
        ("<&-", 0, "yes\n", "Done · 1 round"),
        ("2>&-", 0, "yes\n", ""),
        (">/dev/full", 1, "", "pails: No space left on device\n"),
        ("2>/dev/full", 1, "", ""),
    ],
)
async def test_a_stream_that_is_closed_or_full_is_no_crash(
    home: Home, redirection: str, code: int, out: str, err: str
):
    async with ScriptedModel([Say("yes")]) as model:
        ran = await shell(home, model, redirection, "run", "go")
    assert (ran.code, ran.out) == (code, out)
    assert err in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("redirection", "said"), [(">&-", True), ("<&- >&- 2>&-", False)])
@pytest.mark.parametrize("arguments", [("run", "go"), ("doctor",), ("--help",)], ids=" ".join)
async def test_without_a_place_for_the_output_nothing_is_done(
    home: Home, redirection: str, said: bool, arguments: tuple[str, ...]
):
    async with ScriptedModel() as model:
        ran = await shell(home, model, redirection, *arguments)
        assert model.requests == []
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == ("pails: Nothing was done: stdout is closed.\n" if said else "")


PRINTING = [("--help",), ("run", "--help"), ("run", "--json", "go"), ("doctor",)]


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
async def test_a_full_disk_under_the_output_is_said_in_one_line(
    home: Home, arguments: tuple[str, ...]
):
    async with ScriptedModel([Say("yes")]) as model:
        ran = await shell(home, model, ">/dev/full", *arguments)
    assert (ran.code, ran.err) == (1, "pails: No space left on device\n")


@pytest.mark.parametrize("arguments", [*PRINTING, ("run", "go")], ids=" ".join)
async def test_a_reader_that_has_gone_ends_a_command_in_silence(
    home: Home, arguments: tuple[str, ...]
):
    reading, writing = os.pipe()
    os.close(reading)
    async with ScriptedModel([Say("yes")]) as model:
        environment = home.environment(model)
        try:
            ran = started(environment, home.workspace, *arguments, stdout=writing)
            async with ran as process, asyncio.timeout(SECONDS):
                _, err = await process.communicate()
        finally:
            os.close(writing)
    assert process.returncode == 1
    for noise in (b"Traceback", b"Exception ignored", b"unexpectedly", b"Broken pipe"):
        assert noise not in err


@pytest.mark.parametrize(
    ("redirection", "arguments", "code"),
    [
        ("2>/dev/full", ("dance",), 1),
        ("2>&-", ("dance",), 2),
    ],
)
async def test_no_command_crashes_whatever_its_streams_are(
    home: Home, redirection: str, arguments: tuple[str, ...], code: int
):
    async with ScriptedModel() as model:
        ran = await shell(home, model, redirection, *arguments)
    assert (ran.code, ran.out, ran.err) == (code, "", "")


async def test_a_task_of_any_bytes_is_told_as_text(home: Home):
    async with ScriptedModel([Say("yes")]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "go \udcff on")
        assert last_message(model) == "go \ufffd on"
    assert (ran.code, ran.out) == (0, "yes\n")


@pytest.mark.parametrize("option", ["--workspace", "--attach"])
async def test_a_name_that_is_not_utf_8_is_refused(home: Home, option: str):
    (home.workspace / "a\udcff").mkdir()
    async with ScriptedModel([]) as model:
        ran = await run(home.environment(model), home.workspace, "run", "go", option, "a\udcff")
    assert (ran.code, ran.out) == (2, "")
    assert "a\ufffd is a name that is not UTF-8" in ran.err


async def test_a_person_who_starts_the_server_at_a_terminal_is_told_what_it_is(home: Home):
    program = argv()
    async with at_terminal(home.environment(None), home.workspace, program=program) as terminal:
        await terminal.wait_for("\n")
        for words in ("language server", 'pails run "', "pails doctor", "README"):
            assert words in terminal.plain
        assert terminal.plain.count("\n") == 1
        assert terminal.process.poll() is None
