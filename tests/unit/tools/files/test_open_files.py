"""Before a command runs the person is asked about unsaved text; afterwards told what it changed."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from pails.core.events import Event
from pails.core.ports import ToolResult
from pails.tools.command import RunCommand
from pails.tools.files.open_files import ALWAYS_SAVE, CANCEL, NEVER_ASK, RUN, SAVE
from pails.tools.registry import CallContext, Proposal
from tests.support.calls import Nobody
from tests.support.editor import MemoryEditor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="runs programs of Unix")


class Asked(Nobody):
    """A person with these answers, one after the other."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.questions: list[tuple[str, tuple[str, ...]]] = []

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        self.questions.append((question, tuple(options)))
        return self.answers.pop(0)


class Desk:
    """A workspace with a.py open, and `run_command` for one session."""

    def __init__(self, root: Path, *answers: str | None, saves: str = "writes") -> None:
        self.workspace = root.resolve()
        self.a = self.workspace / "a.py"
        self.a.write_text("disk\n")
        self.editor = MemoryEditor(saves)
        self.person = Asked(*answers)
        self._tool = RunCommand(root / "spill", (), "", 30.0, self.editor)

    async def run(self, *command: str) -> ToolResult:
        async def emit(_: Event) -> None:
            pass

        context = CallContext("t", "c", self.workspace, emit, self.person)
        args = self._tool.parameters.model_validate({"command": list(command)})
        proposal = await self._tool.propose(args, context)
        assert isinstance(proposal, Proposal)
        return await proposal.run()


async def test_nobody_is_asked_while_all_is_saved(tmp_path):
    desk = Desk(tmp_path)
    desk.editor.open(desk.a, "disk\n")
    desk.editor.open(desk.workspace / "new.py", "")
    desk.editor.open(tmp_path.parent / "elsewhere.py", "typed\n")
    assert (await desk.run("cat", "a.py")).text == "disk\nexit code 0"


async def test_save_all_and_run(tmp_path):
    desk = Desk(tmp_path, SAVE)
    desk.editor.open(desk.a, "typed\n", 2)
    result = await desk.run("cat", "a.py")
    assert result.text == "typed\nSaved before it ran: a.py\nexit code 0"
    [(question, options)] = desk.person.questions
    assert question == "a.py has unsaved text, which this command would not see: cat a.py"
    assert options == (SAVE, RUN, CANCEL, ALWAYS_SAVE, NEVER_ASK)


@pytest.mark.parametrize("answer", [RUN, None])
async def test_run_anyway_says_what_was_not_seen(tmp_path, answer):
    desk = Desk(tmp_path, answer, answer)
    desk.editor.open(desk.a, "typed\n", 2)
    for _ in range(2):
        result = await desk.run("cat", "a.py")
        assert not result.is_error
        assert result.text.startswith("disk\nUnsaved in the editor, so the command did not see")
        assert desk.a.read_text() == "disk\n"
    assert len(desk.person.questions) == 2, "this once is not for ever"


@pytest.mark.parametrize("answer", [CANCEL, "wait, I am typing"])
async def test_do_not_run(tmp_path, answer):
    desk = Desk(tmp_path, answer)
    desk.editor.open(desk.a, "typed\n", 2)
    result = await desk.run("touch", "made")
    assert result.is_error
    assert result.text.startswith("Nothing was run: the person does not want it")
    assert ("typing" in result.text) == ("typing" in answer)
    assert not (desk.workspace / "made").exists()


async def test_answers_are_remembered_for_the_session(tmp_path):
    desk = Desk(tmp_path, ALWAYS_SAVE)
    for number in range(3):
        desk.editor.open(desk.a, f"typed {number}\n", number + 2)
        assert (await desk.run("cat", "a.py")).text.startswith(f"typed {number}\nSaved")
    desk = Desk(tmp_path, NEVER_ASK)
    for number in range(3):
        desk.editor.open(desk.a, f"typed {number}\n", number + 2)
        assert (await desk.run("cat", "a.py")).text.startswith("disk\nUnsaved")
    assert len(desk.person.questions) == 1


async def test_an_editor_that_cannot_save_is_not_offered_to(tmp_path):
    desk = Desk(tmp_path, RUN, saves="cannot")
    desk.editor.open(desk.a, "typed\n", 2)
    await desk.run("true")
    [(question, options)] = desk.person.questions
    assert options == (RUN, CANCEL, NEVER_ASK)
    assert "cannot be asked to save" in question


async def test_what_could_not_be_saved_is_said(tmp_path):
    desk = Desk(tmp_path, SAVE, saves="refuses")
    desk.editor.open(desk.a, "typed\n", 2)
    assert "Unsaved in the editor" in (await desk.run("true")).text


async def test_many_files_are_named_in_one_line(tmp_path):
    desk = Desk(tmp_path, CANCEL)
    for number in range(8):
        desk.editor.open(desk.workspace / f"f{number}.py", "typed\n", 2)
    await desk.run("true")
    assert desk.person.questions[0][0].startswith(
        "f0.py, f1.py, f2.py, f3.py, f4.py and 3 more have unsaved text"
    )


async def test_open_files_that_a_command_changed_are_told_of(tmp_path):
    desk = Desk(tmp_path)
    b = desk.workspace / "b.py"
    b.write_text("b\n")
    desk.editor.open(desk.a, "disk\n")
    desk.editor.open(b, "b\n")
    result = await desk.run("sh", "-c", "echo changed > a.py; touch b.py")
    assert desk.editor.changed == [desk.a]
    assert "Changed on the disk while open in the editor" in result.text
    assert result.text.endswith("until it is reloaded: a.py\nexit code 0")
    again = await desk.run("true")
    assert desk.person.questions == [], "the person has typed nothing: there is nothing to save"
    assert again.text == "(no output)\nexit code 0"
    assert desk.editor.changed == [desk.a], "told once"


async def test_a_file_that_the_editor_has_read_again_is_not_told_of(tmp_path):
    desk = Desk(tmp_path)
    desk.editor.open(desk.a, "new\n")
    desk.a.write_text("new\n")
    await desk.run("true")
    assert desk.editor.changed == []


async def test_a_deleted_file_is_told_of(tmp_path):
    desk = Desk(tmp_path)
    desk.editor.open(desk.a, "disk\n")
    await desk.run("rm", "a.py")
    assert desk.editor.changed == [desk.a]


@pytest.mark.parametrize(("opened", "asked"), [(-60.0, 0), (60.0, 1)])
async def test_text_is_unsaved_only_if_the_file_is_not_newer(tmp_path, opened, asked):
    """A document that nobody touched and whose file was written later has nothing to save."""
    desk = Desk(tmp_path, RUN)
    desk.editor.open(desk.a, "another\n", 1, time.time() + opened)
    await desk.run("true")
    assert len(desk.person.questions) == asked
