"""`examples/try_it.py`, which `make run` calls."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.terminal import SECONDS, Home, at_terminal, make_home
from tests.support.scripted_model import Say, ScriptedModel, Status

pytestmark = pytest.mark.e2e

TRY_IT = Path(__file__).parents[2] / "examples" / "try_it.py"
REHEARSAL = "No model found: this is a rehearsal."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "tmp").mkdir()
    return make_home(tmp_path)


def environment(home: Home, model: ScriptedModel) -> dict[str, str]:
    return home.environment(model, TMPDIR=str(home.root / "tmp"))


async def run(home: Home, model: ScriptedModel) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, TRY_IT),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment(home, model),
        cwd=home.workspace,
    )
    async with asyncio.timeout(SECONDS):
        out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode()


def left_behind(home: Home) -> list[Path]:
    return [*(home.root / "tmp").iterdir(), *home.workspace.iterdir()]


def broken_server() -> ScriptedModel:
    """A configured server that does not take the key, so that no local one is looked for."""
    return ScriptedModel(api_key="another")


async def test_without_a_model_and_a_terminal_the_rehearsal_runs_to_its_end(home: Home):
    async with broken_server() as model:
        code, out = await run(home, model)
    assert code == 0, out
    assert REHEARSAL in out
    assert "Replies are rehearsed; tools, files, checks and approvals are real." in out
    assert '✗ syntax (python): 1 new\n    cart.py:37:21: "(" is not closed' in out
    assert "● Run python3 -m unittest -q\n  allowed once\n" in out
    assert "  │ OK\n" in out
    assert "All four tests pass." in out
    assert "  cart.py +2 −2 in 2 edits\n" in out
    assert "is removed." in out
    assert left_behind(home) == []


async def test_at_a_terminal_the_person_decides(home: Home):
    program = [sys.executable, str(TRY_IT)]
    async with (
        broken_server() as model,
        at_terminal(environment(home, model), home.workspace, program=program) as terminal,
    ):
        await terminal.wait_for("[s] yes, for this session: run_command: python3 -m unittest -q")
        await terminal.wait_for("> ")
        terminal.type("n not now")
        assert await terminal.end() == 0
    assert "The tests were not run, because that was not allowed." in terminal.plain
    assert left_behind(home) == []


async def test_a_person_who_leaves_the_question_open_has_not_run_the_tests(home: Home):
    program = [sys.executable, str(TRY_IT)]
    async with (
        broken_server() as model,
        at_terminal(environment(home, model), home.workspace, program=program) as terminal,
    ):
        await terminal.wait_for("[s] yes, for this session: run_command: python3 -m unittest -q")
        await terminal.wait_for("> ")
        terminal.close_input()
        await terminal.end()
    assert "The tests were not run, because that was not allowed." in terminal.plain
    assert "did not pass" not in terminal.plain


async def test_a_run_that_is_told_to_end_leaves_nothing(home: Home):
    program = [sys.executable, str(TRY_IT)]
    async with (
        broken_server() as model,
        at_terminal(environment(home, model), home.workspace, program=program) as terminal,
    ):
        await terminal.wait_for("[s] yes, for this session: run_command: python3 -m unittest -q")
        terminal.process.send_signal(signal.SIGTERM)
        assert await terminal.end() == 130
    assert "Traceback" not in terminal.plain
    assert left_behind(home) == []


async def test_a_model_that_is_there_is_used(home: Home):
    async with ScriptedModel([Say("I am real.")]) as model:
        code, out = await run(home, model)
        assert "The test fails." in model.requests[0]["messages"][-1]["content"]
    assert code == 0, out
    assert "I am real." in out
    assert REHEARSAL not in out
    assert left_behind(home) == []


async def test_a_run_that_fails_says_so_and_leaves_nothing(home: Home):
    refusal = Status(400, {"error": {"message": "no such model"}})
    async with ScriptedModel([refusal]) as model:
        code, out = await run(home, model)
    assert code == 1
    assert "no such model" in out
    assert "Traceback" not in out
    assert left_behind(home) == []
