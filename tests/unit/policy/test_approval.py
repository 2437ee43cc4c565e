"""Modes and grants: only what was shown passes again, and a deny always wins."""

from pathlib import Path

import pytest

from pails.core.events import Effect, Mode
from pails.core.ports import Action, Decision
from pails.policy.approval import Grants
from pails.policy.gate import Gate, combine


@pytest.fixture
def workspace(tmp_path) -> Path:
    (tmp_path / "sub").mkdir()
    return tmp_path.resolve()


def command(workspace: Path, *argv: str, folder: str = ".") -> Action:
    return Action(
        "run_command", Effect.EXECUTE, "Run", reads=(workspace / folder,), argv=tuple(argv)
    )


def write(workspace: Path, name: str) -> Action:
    return Action("edit_file", Effect.WRITE, "Edit", writes=(workspace / name,))


def read(workspace: Path, name: str) -> Action:
    return Action("read_file", Effect.READ, "Read", reads=(workspace / name,))


TALK = Action("ask_user", Effect.INTERACT, "Ask")


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        (Mode.AUTO, ("allow", "allow", "ask", "allow")),
        (Mode.PLAN, ("allow", "deny", "deny", "allow")),
        (Mode.ASK, ("allow", "ask", "ask", "allow")),
    ],
)
def test_what_each_mode_lets_pass(mode, verdicts, workspace):
    actions = (read(workspace, "a"), write(workspace, "a"), command(workspace, "ls"), TALK)
    decisions = [Gate().judge(action, mode, workspace) for action in actions]
    assert tuple(decision.verdict for decision in decisions) == verdicts
    assert all(decision.reason.startswith("approval: ") for decision in decisions)


def test_a_tool_that_claims_less_than_it_names_gains_nothing(workspace):
    sly_write = Action("x", Effect.READ, "x", writes=(workspace / "a",))
    sly_command = Action("x", Effect.INTERACT, "x", argv=("ls",))
    assert Gate().judge(sly_write, Mode.PLAN, workspace).verdict == "deny"
    assert Gate().judge(sly_command, Mode.AUTO, workspace).verdict == "ask"


def test_who_approves_a_command_is_told_that_nothing_confines_it(workspace):
    decision = Gate().judge(command(workspace, "ls"), Mode.AUTO, workspace)
    assert decision.reason == (
        "approval: mode auto asks before every command; "
        "sandbox: none, the command runs with all your rights"
    )


def test_the_rule_is_the_whole_command_and_its_folder(workspace):
    def rule(action: Action) -> str:
        return Gate().judge(action, Mode.ASK, workspace).rule

    assert rule(command(workspace, "pytest", "-q")) == "run_command: pytest -q"
    assert rule(command(workspace, "a b", "汉", "$x")) == "run_command: 'a b' '汉' '$x'"
    assert rule(command(workspace, "ls", folder="sub")) == "run_command: ls (in sub)"
    assert rule(command(workspace, "ls", "(in sub)")) == "run_command: ls '(in sub)'"
    assert rule(command(workspace, "ls", "a\u202eb")) == "run_command: ls 'a⟨U+202E⟩b'"
    assert rule(write(workspace, "sub/../x.py")) == "edit_file: x.py"
    assert rule(write(workspace, "a b.py")) == "edit_file: 'a b.py'"


def granted(workspace: Path, action: Action) -> Gate:
    gate = Gate()
    gate.grant(gate.judge(action, Mode.ASK, workspace))
    assert gate.judge(action, Mode.ASK, workspace).verdict == "allow"
    return gate


OTHERS = [
    ("git", "log", ";", "rm", "x"),
    ("git", "log", "&&", "rm", "x"),
    ("git", "log", "|", "sh"),
    ("git", "log", "&"),
    ("git", "log", "\n", "rm"),
    ("git", "log", "$(rm x)"),
    ("git", "log", "`rm x`"),
    ("git", "log", ">", "x"),
    ("git", "log", "--output=x"),
    ("git", "log;", "rm"),
    ("git log",),
    ("git", "log", ""),
    ("git",),
    ("git", "-C", ".", "log"),
    ("git", "-c", "core.pager=sh", "log"),
    ("/usr/bin/git", "log"),
    ("./git", "log"),
    ("env", "git", "log"),
    ("timeout", "9", "git", "log"),
    ("sh", "-c", "git log"),
    ("GIT", "log"),
    ("git", "log\u200b"),
    ("git", "lоg"),  # a Cyrillic о
]


@pytest.mark.parametrize("argv", OTHERS, ids=str)
def test_a_grant_lets_no_other_command_pass(argv, workspace):
    gate = granted(workspace, command(workspace, "git", "log"))
    assert gate.judge(command(workspace, *argv), Mode.AUTO, workspace).verdict == "ask"


def test_a_grant_to_find_something_is_none_to_run_something(workspace):
    gate = granted(workspace, command(workspace, "find", ".", "-name", "x"))
    sly = command(workspace, "find", ".", "-name", "x", "-exec", "sh", "-c", "rm x", "{}", "+")
    assert gate.judge(sly, Mode.AUTO, workspace).verdict == "ask"


def test_a_grant_holds_in_its_folder_for_its_tool_and_file(workspace):
    gate = granted(workspace, command(workspace, "make"))
    assert gate.judge(command(workspace, "make", folder="sub"), Mode.AUTO, workspace).rule
    gate = granted(workspace, write(workspace, "a.py"))
    other_tool = Action("write_file", Effect.WRITE, "Write", writes=(workspace / "a.py",))
    assert gate.judge(other_tool, Mode.ASK, workspace).verdict == "ask"
    assert gate.judge(write(workspace, "b.py"), Mode.ASK, workspace).verdict == "ask"


def test_after_a_switch_to_plan_mode_no_grant_counts(workspace):
    for action in (command(workspace, "make"), write(workspace, "a.py")):
        gate = granted(workspace, action)
        decision = gate.judge(action, Mode.PLAN, workspace)
        assert decision.verdict == "deny"
        assert "read-only" in decision.reason
        assert gate.judge(action, Mode.ASK, workspace).verdict == "allow"


def test_grants_are_listed_and_revocable(workspace):
    gate = granted(workspace, command(workspace, "make"))
    assert gate.grants.list() == ("run_command: make",)
    assert gate.grants.revoke("run_command: make")
    assert not gate.grants.revoke("run_command: make")
    assert gate.judge(command(workspace, "make"), Mode.AUTO, workspace).verdict == "ask"


def test_an_empty_rule_is_no_grant():
    grants = Grants()
    grants.add("")
    assert grants.list() == ()
    assert not grants.matches("")


def test_a_refused_command_is_not_asked_again_in_its_turn(workspace):
    gate = Gate()
    action = command(workspace, "rm", "a")
    gate.refuse(action, workspace, "turn-1")
    decision = gate.judge(action, Mode.AUTO, workspace, "turn-1")
    assert decision.verdict == "deny"
    assert "refused this very command" in decision.reason
    other = command(workspace, "rm", "b")
    assert gate.judge(other, Mode.AUTO, workspace, "turn-1").verdict == "ask"
    gate.refuse(other, workspace, "turn-1")
    assert gate.judge(action, Mode.AUTO, workspace, "turn-1").verdict == "deny"
    assert gate.judge(action, Mode.AUTO, workspace, "turn-2").verdict == "ask"
    gate.refuse(other, workspace, "turn-2")
    assert gate.judge(action, Mode.AUTO, workspace, "turn-2").verdict == "ask"


def test_a_refusal_outweighs_an_older_grant(workspace):
    action = command(workspace, "make")
    gate = granted(workspace, action)
    gate.refuse(action, workspace, "turn-1")
    assert gate.judge(action, Mode.AUTO, workspace, "turn-1").verdict == "deny"


def test_a_refused_edit_may_come_again_mended(workspace):
    gate = Gate()
    gate.refuse(write(workspace, "a.py"), workspace, "turn-1")
    assert gate.judge(write(workspace, "a.py"), Mode.ASK, workspace, "turn-1").verdict == "ask"


ALLOW = Decision("allow", "origin")
ASK = Decision("ask", "approval", "the rule")
ALWAYS_ASK = Decision("ask", "paths")
DENY = Decision("deny", "late")


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ((ALLOW, ALLOW, ALLOW, ALLOW), None),
        ((ALLOW, ASK, ALLOW, ALLOW), ASK),
        ((ALLOW, ASK, ALLOW, DENY), DENY),
        ((ALLOW, ALLOW, ALWAYS_ASK, DENY), DENY),
        ((Decision("deny", "first"), ASK, DENY, ALLOW), Decision("deny", "first")),
        ((ALLOW, ASK, ALWAYS_ASK, ALLOW), Decision("ask", "approval; paths")),
        ((ALLOW, ALLOW, ALWAYS_ASK, ALLOW), ALWAYS_ASK),
    ],
)
def test_a_deny_of_any_defence_wins_and_an_ask_before_an_allow(decisions, expected):
    assert combine(decisions) == expected
