"""`run_command`: what is shown is what runs, and the result says how it ended."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pails.core.events import Event, Mode, ToolOutputDelta
from pails.core.ports import Action, ApprovalAnswer, ToolResult
from pails.host.process_tree import kill_tree
from pails.policy.gate import Gate
from pails.tools.command import RunCommand, RunCommandParameters
from pails.tools.registry import CallContext, Proposal
from tests.support import process_zoo as zoo

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="runs programs of Unix")


class Nobody:
    """Approvals are the executor's business, not the tool's."""

    async def approve(self, *_: Any) -> ApprovalAnswer:
        raise AssertionError("a tool asks nobody")

    async def ask(self, *_: Any) -> str | None:
        raise AssertionError("a tool asks nobody")


@dataclass
class Bench:
    workspace: Path
    spill: Path
    events: list[Event] = field(default_factory=list)
    owner: str = ""
    passthrough: tuple[str, ...] = ()
    call_id: str = "call/../1"

    async def _emit(self, event: Event) -> None:
        self.events.append(event)

    @property
    def context(self) -> CallContext:
        return CallContext("turn-1", self.call_id, self.workspace, self._emit, Nobody())

    @property
    def tool(self):
        return RunCommand(self.spill, self.passthrough, self.owner, 30.0)

    def action(self, *command: str, **options: Any) -> Action:
        return self.tool.action(parameters(list(command), **options), self.context)

    async def propose(self, *command: str, **options: Any) -> Proposal | ToolResult:
        return await self.tool.propose(parameters(list(command), **options), self.context)

    async def run(self, *command: str, **options: Any) -> ToolResult:
        proposal = await self.propose(*command, **options)
        return await proposal.run() if isinstance(proposal, Proposal) else proposal


@pytest.fixture
def bench(tmp_path) -> Bench:
    workspace = tmp_path.resolve() / "ws"
    (workspace / "sub").mkdir(parents=True)
    return Bench(workspace, tmp_path / "spill")


def parameters(command: object, **options: Any) -> RunCommandParameters:
    return RunCommandParameters.model_validate({"command": command, **options})


@pytest.mark.parametrize(
    ("given", "argv"),
    [
        (["pytest", "-q"], ["pytest", "-q"]),
        (["pytest -q"], ["pytest", "-q"]),
        ("pytest -q", ["pytest", "-q"]),
        (
            ["git commit -m 'two words' -a \"A B\""],
            ["git", "commit", "-m", "two words", "-a", "A B"],
        ),
        (["git show HEAD~1 a#b"], ["git", "show", "HEAD~1", "a#b"]),
        ([" ls "], ["ls"]),
        (["bash", "-c", "a && b | c > d"], ["bash", "-c", "a && b | c > d"]),
        (["grep", "a|b", "$x", "*"], ["grep", "a|b", "$x", "*"]),
        (["find", ".", "-exec", "ls", "{}", ";"], ["find", ".", "-exec", "ls", "{}", ";"]),
        (["echo", "\ud83d\ude00"], ["echo", "😀"]),
        (["echo", "\ud83d"], ["echo", "�"]),
        (["echo", ""], ["echo", ""]),
        ('["git", "show", "a b"]', ["git", "show", "a b"]),
        ('["git status"]', ["git", "status"]),
    ],
)
def test_a_command_is_normalised_before_anybody_judges_it(given, argv):
    assert parameters(given).command == argv


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "names no program"),
        ([""], "names no program"),
        (["  "], "names no program"),
        (["", "x"], "names no program"),
        ("", "names no program"),
        (["ls a\0b"], "NUL"),
        (["ls", "a\0b"], "NUL"),
        (["cd x && make"], "bash"),
        (["cd", "x", "&&", "make"], "holds &&"),
        (["make", "2>&1"], "holds 2>&1"),
        (["ls | wc"], "bash"),
        (["ls *.py"], "bash"),
        (["X=1 make"], "bash"),
        (["echo $HOME"], "bash"),
        (["cat ~/x"], "bash"),
        (["ls\nrm x"], "bash"),
        (["echo 'open"], "quotation"),
        ("ls; rm x", "bash"),
        ('["ls", 1]', "string"),
        ('["ls", "&&", "rm"]', "holds &&"),
        ("[ -f x ]", "bash"),
        (None, "list"),
        ([1], "string"),
        ({"a": 1}, "list"),
    ],
)
def test_what_only_a_shell_could_run_is_refused_with_the_way_out(given, reason):
    with pytest.raises(ValidationError, match=reason):
        parameters(given)


@pytest.mark.parametrize("seconds", [0, -1, 601, "soon"])
def test_the_time_limit_has_limits(seconds):
    with pytest.raises(ValidationError):
        parameters(["ls"], timeout_seconds=seconds)
    assert parameters(["ls"]).timeout_seconds is None


def test_the_action_is_the_command_itself(bench):
    action = bench.action("ls", "-l", cwd="sub")
    assert action.argv == ("ls", "-l")
    assert action.reads == (bench.workspace / "sub",)
    assert action.title == "Run ls -l"
    decision = Gate().judge(action, Mode.AUTO, bench.workspace)
    assert (decision.verdict, decision.rule) == ("ask", "run_command: ls -l (in sub)")


def test_a_title_is_one_line_and_hides_nothing(bench):
    title = bench.action("bash", "-c", "a\n\u202eb" + "x" * 500).title
    assert title.startswith("Run bash -c 'a⟨U+000A⟩⟨U+202E⟩bxxx")
    assert len(title) == 120


async def test_the_whole_command_is_put_up_for_approval(bench):
    script = "x" * 300 + "\n" * 41 + " " * 300 + "; rm -rf y\u200b"
    proposal = await bench.propose("bash", "-c", script, cwd="sub", timeout_seconds=5)
    assert isinstance(proposal, Proposal)
    assert proposal.text == (
        f"bash -c '{'x' * 300}\n⟨40 blank lines⟩\n⟨300 blanks⟩; rm -rf y⟨U+200B⟩'\n"
        "in sub, for 5 s at most"
    )


async def test_a_program_of_the_workspace_is_named(bench):
    programs = bench.workspace / ".venv" / "bin"
    programs.mkdir(parents=True)
    (bench.workspace / ".venv" / "pyvenv.cfg").touch()
    (programs / "ls").write_text("#!/bin/sh\necho mine\n")
    (programs / "ls").chmod(0o755)
    proposal = await bench.propose("ls")
    assert isinstance(proposal, Proposal)
    assert (
        proposal.text
        == "ls\nin the workspace, for 30 s at most\nruns .venv/bin/ls of this workspace"
    )
    assert (await proposal.run()).text == "mine\nexit code 0"


async def test_what_runs_is_what_was_looked_up(bench):
    """A virtual environment that appears after the approval changes nothing."""
    proposal = await bench.propose("ls")
    assert isinstance(proposal, Proposal)
    programs = bench.workspace / ".venv" / "bin"
    programs.mkdir(parents=True)
    (bench.workspace / ".venv" / "pyvenv.cfg").touch()
    (programs / "ls").write_text("#!/bin/sh\necho hijacked\n")
    (programs / "ls").chmod(0o755)
    assert "hijacked" not in (await proposal.run()).text


@pytest.mark.parametrize(
    ("command", "options", "reason"),
    [
        (["no-such-program"], {}, "There is no program `no-such-program`"),
        (["cd", "sub"], {}, "part of the shell"),
        (["ls"], {"cwd": "missing"}, "does not exist"),
    ],
)
async def test_nobody_is_asked_about_what_cannot_start(command, options, reason, bench):
    result = await bench.propose(*command, **options)
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert result.text.startswith("Nothing was run. ")
    assert reason in result.text


async def test_the_result_has_the_output_and_the_exit_code(bench):
    result = await bench.run("sh", "-c", "echo out; echo err >&2")
    assert (result.text, result.is_error) == ("out\nerr\nexit code 0", False)
    assert result.summary.startswith("exit code 0, after ")


async def test_a_failure_is_an_error_with_the_same_text(bench):
    result = await bench.run("sh", "-c", "echo no; exit 3")
    assert (result.text, result.is_error) == ("no\nexit code 3", True)


async def test_silence_is_said(bench):
    assert (await bench.run("true")).text == "(no output)\nexit code 0"


async def test_a_signal_is_named(bench):
    result = await bench.run("sh", "-c", "kill -SEGV $$")
    assert result.text.endswith("exit code 139 (killed by SIGSEGV)")


async def test_the_time_limit_is_told_with_what_was_printed(bench):
    result = await bench.run("sh", "-c", "echo begun; sleep 300", timeout_seconds=1)
    assert result.is_error
    assert result.text.startswith("begun\ntimed out after 1 s; process tree ended\nexit code 143")
    assert result.summary.startswith("timed out after 1 s")


async def test_a_long_output_says_where_the_rest_is(bench):
    result = await bench.run(
        sys.executable, "-c", "for n in range(30000): print('noise', n)\nprint('error: E'); exit(1)"
    )
    *_, error, note, ending = result.text.splitlines()
    assert (error, ending) == ("error: E", "exit code 1")
    (spill,) = bench.spill.iterdir()  # whatever the call's id, the file stays in its folder
    whole = "".join(f"noise {n}\n" for n in range(30000)) + "error: E\n"
    assert spill.read_text() == whole
    dropped = int(note.split()[0])
    assert note == f"{dropped} bytes of the output are left out above; all of it is in {spill}"
    shown = result.text.partition(note)[0].replace(f"[… {dropped} bytes left out …]\n", "")
    assert len(shown) == len(whole) - dropped


async def test_two_calls_of_one_id_keep_their_own_outputs(bench):
    for _ in range(2):
        assert "all of it is in" in (await bench.run("seq", "30000")).text
    assert len(list(bench.spill.iterdir())) == 2


async def test_background_processes_are_told_and_carry_the_owner(bench):
    bench.owner = zoo.new_tag()
    try:
        result = await bench.run("sh", "-c", "sleep 60 & echo done")
        (pid,) = zoo.alive(bench.owner)
        assert result.text == (
            f"done\nStill running in the background, its output no longer read: pid {pid}\n"
            "exit code 0"
        )
    finally:
        await asyncio.to_thread(kill_tree, None, bench.owner)
    assert zoo.alive(bench.owner) == []


async def test_operators_that_went_as_text_are_explained(bench):
    result = await bench.run("echo", "a", ">", "b")
    assert result.text.startswith("a > b\nNote: > went to the program as text; no shell runs it.")
    assert not (bench.workspace / "b").exists()


async def test_the_output_is_shown_while_it_comes_but_not_a_flood(bench):
    result = await bench.run("sh", "-c", "echo 汉字; yes | head -c 1000000")
    shown = [event for event in bench.events if isinstance(event, ToolOutputDelta)]
    assert {(event.turn_id, event.call_id) for event in shown} == {("turn-1", bench.call_id)}
    text = "".join(event.text for event in shown)
    assert text.startswith("汉字\ny\n")
    assert text.endswith("no longer shown live …]\n")
    assert len(text) < 100_100
    assert result.text.startswith("汉字\ny\n")


async def test_only_named_variables_pass_besides_the_usual_ones(bench, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("MY_SETTING", "seen")
    bench.passthrough = ("MY_SETTING",)
    text = (await bench.run("env")).text
    assert "MY_SETTING=seen" in text
    assert "MY_TOKEN" not in text


async def test_cancelled_it_leaves_nothing(bench):
    bench.owner = zoo.new_tag()
    task = asyncio.create_task(bench.run("sh", "-c", "setsid sleep 300 & wait"))
    await zoo.until_alive(bench.owner, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert zoo.alive(bench.owner) == []


def test_the_model_sees_a_plain_schema(bench):
    spec = bench.tool.spec
    assert spec.name == "run_command"
    assert spec.parameters["required"] == ["command"]
    assert "no shell" in spec.description
    limit = spec.parameters["properties"]["timeout_seconds"]
    assert limit.pop("description")
    assert limit == {"type": "integer", "minimum": 1, "maximum": 600}


def test_null_leaves_out_what_is_optional():
    assert parameters(["ls"], cwd=None, timeout_seconds=None) == parameters(["ls"])
    with pytest.raises(ValidationError, match="list"):
        parameters(None, cwd=None)
