"""Pails in a real Neovim, with the configuration of docs/neovim.md and nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.neovim import Neovim, neovim
from tests.support.scripted_model import Calls, Gate, Say, Script, ScriptedModel
from tests.support.workbench import environment

pytestmark = pytest.mark.e2e

CALC = "def add(a, b):\n    return a - b\n\n\nGREETING = '你好 😀'\n"
FIXED = CALC.replace("a - b", "a + b")


class Scene:
    """An editor with calc.py open, and the model behind the server."""

    def __init__(self, editor: Neovim, model: ScriptedModel, path: Path) -> None:
        self.editor = editor
        self.model = model
        self.path = path

    async def play(self, *script: Script) -> None:
        """Set the script and ask for a fix of add()."""
        self.model.script = list(script)
        await self.editor.act("Pails: fix", 1, 2)

    async def ended(self) -> None:
        await self.editor.until("vim.iter(_G.seen.progress):any("
                                "function(p) return p.value.kind == 'end' end)")  # fmt: skip


def edit(old: str, new: str) -> Calls:
    return Calls(("edit_file", {"path": "calc.py", "old": old, "new": new}))


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    path = workspace / "calc.py"
    path.write_text(CALC)
    async with (
        ScriptedModel([]) as model,
        neovim(tmp_path, environment(tmp_path, model)) as editor,
    ):
        await editor.open(path)
        yield Scene(editor, model, path)


async def test_action_progress_edit_approval_and_the_end(scene: Scene) -> None:
    editor = scene.editor
    await editor.lua("_G.choose = function(labels) return 1 end")
    await scene.play(
        edit("a - b", "a + b"),
        Calls(
            ("run_command", {"command": ["python3", "-c", "import calc; print(calc.add(2, 3))"]})
        ),
        Say("add() adds now."),
    )
    await scene.ended()
    assert await editor.text() == FIXED
    assert scene.path.read_text() == FIXED
    assert not await editor.lua("return vim.bo.modified")
    kinds = await editor.progress()
    assert kinds[0] == "begin"
    assert "report" in kinds
    assert kinds[-1] == "end"
    (asked,) = (await editor.seen())["asked"]
    assert "python3 -c" in asked["prompt"]
    assert any("this session" in label for label in asked["labels"])
    result = scene.model.requests[2]["messages"][-1]["content"]
    assert "5" in result
    assert "exit code 0" in result
    selection = scene.model.requests[0]["messages"][1]["content"]
    assert "return a - b" in selection
    assert 'lines="1-2"' in selection
    await editor.lua("vim.cmd.undo()")
    assert await editor.text() == CALC


async def test_a_slip_shows_as_a_diagnostic_and_goes_when_mended(scene: Scene) -> None:
    gate = Gate(edit("(a + b", "a + b"), after=2)
    await scene.play(edit("a - b", "(a + b"), gate, Say("done"))
    await gate.reached.wait()
    await scene.editor.until("#vim.diagnostic.get(0) == 1")
    (found,) = await scene.editor.lua("return vim.diagnostic.get(0)")
    assert (found["lnum"], found["source"]) == (1, "pails")
    gate.open()
    await scene.ended()
    await scene.editor.until("#vim.diagnostic.get(0) == 0")
    assert await scene.editor.text() == FIXED


async def test_unsaved_text_is_the_truth_and_stays_unsaved(scene: Scene) -> None:
    editor = scene.editor
    await editor.lua("vim.api.nvim_buf_set_lines(0, 4, 5, true, { 'GREETING = \"😀 unsaved\"' })")
    await scene.play(Calls(("read_file", {"path": "calc.py"})), edit("a - b", "a + b"), Say("done"))
    await scene.ended()
    assert await editor.text() == FIXED.replace("'你好 😀'", '"😀 unsaved"')
    assert await editor.lua("return vim.bo.modified")
    assert scene.path.read_text() == CALC
    assert "😀 unsaved" in scene.model.requests[1]["messages"][-1]["content"]
    assert "unsaved" in scene.model.requests[2]["messages"][-1]["content"]


async def test_cancelling_the_progress_cancels_the_turn(scene: Scene) -> None:
    gate = Gate(Say("one two three four"), after=3)
    await scene.play(gate)
    await gate.reached.wait()
    await scene.editor.until("#_G.seen.progress > 0")
    await scene.editor.lua(
        """
        local client = vim.lsp.get_clients({ bufnr = 0 })[1]
        local params = { token = _G.seen.progress[1].token }
        client:notify('window/workDoneProgress/cancel', params)
        """
    )
    await gate.left.wait()
    await scene.ended()
    assert await scene.editor.text() == CALC


async def test_a_rejected_command_does_not_run(scene: Scene) -> None:
    await scene.editor.lua("_G.choose = function(labels) return #labels end")
    await scene.play(Calls(("run_command", {"command": ["touch", "marker"]})), Say("As you wish."))
    await scene.ended()
    assert not (scene.path.parent / "marker").exists()


async def test_ask_takes_the_question_from_the_person(scene: Scene) -> None:
    await scene.editor.lua("vim.fn.input = function(prompt) return 'What does it do? 日本' end")
    scene.model.script = [Say("It adds two numbers.")]
    await scene.editor.act("Pails: ask…", 1, 2)
    await scene.ended()
    assert "What does it do? 日本" in scene.model.requests[0]["messages"][1]["content"]
