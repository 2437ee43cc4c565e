"""Pails in a real Neovim, with the configuration of docs/neovim.md and nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pails.lsp.display import HOW_TO_REVIEW
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


# -- the review ---------------------------------------------------------------------------------

UNSAVED = CALC.replace("'你好 😀'", "'unsaved 😀'")
REVIEWED = UNSAVED.replace("a - b", "a + b").replace("def add", "# Adds. 😀\ndef add")
LENSES = """
vim.tbl_map(function(lens) return { lens.range.start.line, lens.command.title } end,
  vim.lsp.codelens.get(0))
"""
COUNT = "vim.tbl_count(vim.lsp.codelens.get(0)) == ..."


async def run_lens(editor: Neovim, line: int, title: str) -> None:
    """Choose a lens on a line, which counts from 1, as `grx` there does."""
    await editor.lua(
        """
        local line, title = ...
        vim.api.nvim_win_set_cursor(0, { line, 0 })
        _G.choose = function(labels)
          for index, label in ipairs(labels) do
            if label == title then return index end
          end
        end
        vim.cmd.normal('grx')
        """,
        line,
        title,
    )


async def change_two_places(scene: Scene) -> None:
    """The person types and does not save; then the agent changes two places of the buffer."""
    await scene.editor.lua(
        """
        vim.api.nvim_buf_set_lines(0, 4, 5, true, { "GREETING = 'unsaved 😀'" })
        """
    )
    await scene.play(
        edit("a - b", "a + b"),
        edit("def add", "# Adds. 😀\ndef add"),
        Say("done"),
    )
    await scene.ended()
    assert await scene.editor.text() == REVIEWED


async def test_one_change_is_rejected_by_lens_and_the_other_accepted(scene: Scene) -> None:
    editor = scene.editor
    await change_two_places(scene)
    await editor.until(COUNT, 8)
    assert await editor.lua(f"return {LENSES}") == [
        [0, "Pails: 2 changes"],
        [0, "Accept all"],
        [0, "Reject all"],
        [0, "Show before"],
        [0, "Accept"],
        [0, "Reject"],
        [2, "Accept"],
        [2, "Reject"],
    ]
    await run_lens(editor, 3, "Reject")
    await editor.until(COUNT, 6)
    assert await editor.text() == REVIEWED.replace("a + b", "a - b"), "nothing else is taken back"
    await run_lens(editor, 1, "Accept")
    await editor.until(COUNT, 0)
    assert await editor.text() == REVIEWED.replace("a + b", "a - b")
    assert await editor.lua("return vim.bo.modified")
    assert scene.path.read_text() == CALC, "what the person has not saved is not saved"
    await editor.lua("vim.cmd.undo()")
    assert await editor.text() == REVIEWED, "rejecting was one undo step"
    messages = (await editor.seen())["messages"]
    assert [HOW_TO_REVIEW in message for message in messages] == [True]


async def test_a_change_is_rejected_then_all_is_rewound_and_that_undone(scene: Scene) -> None:
    """The whole flow over a buffer that the person never saves, and in which they type on."""
    editor = scene.editor
    await change_two_places(scene)
    await editor.until(COUNT, 8)
    await run_lens(editor, 3, "Reject")
    await editor.until(COUNT, 6)
    await editor.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, { '# typed since' })")
    reviewed = REVIEWED.replace("a + b", "a - b") + "# typed since\n"
    assert await editor.text() == reviewed

    await editor.lua(
        """
        _G.choose = function(labels)
          for index, label in ipairs(labels) do
            if label:find('Rewind', 1, true) then return index end
          end
        end
        """
    )
    text = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n') .. '\\n' == ..."
    await editor.execute("pails.rewind")
    await editor.until(text, UNSAVED + "# typed since\n")
    await editor.until(COUNT, 0)
    await editor.execute("pails.undoRewind")
    await editor.until(text, reviewed)
    await editor.until(COUNT, 6)
    await run_lens(editor, 1, "Accept")
    await editor.until(COUNT, 0)
    assert await editor.text() == reviewed
    assert await editor.lua("return vim.bo.modified")
    assert scene.path.read_text() == CALC, "what the person has not saved is not saved"


async def test_what_the_person_changed_since_stays_and_is_said(scene: Scene) -> None:
    editor = scene.editor
    await change_two_places(scene)
    await editor.until(COUNT, 8)
    typed = REVIEWED.replace("return a + b", "return b + a")
    await editor.lua(
        """
        local lens = vim.iter(vim.lsp.codelens.get(0)):find(function(lens)
          return lens.range.start.line == 2 and lens.command.title == 'Reject'
        end)
        vim.api.nvim_buf_set_lines(0, 2, 3, true, { '    return b + a' })
        -- A lens of the text before, chosen as it was about to go.
        local client = vim.lsp.get_clients({ bufnr = 0 })[1]
        client:request('workspace/executeCommand', lens.command, function() end)
        """
    )
    await editor.until("#_G.seen.messages == 2")
    assert await editor.text() == typed
    await run_lens(editor, 1, "Reject all")
    await editor.until(COUNT, 0)
    assert await editor.text() == typed.replace("# Adds. 😀\n", "")


async def test_the_text_before_and_the_changes_open_as_documents(scene: Scene) -> None:
    editor = scene.editor
    await change_two_places(scene)
    await editor.until(COUNT, 8)
    await run_lens(editor, 1, "Show before")
    await editor.until("vim.api.nvim_buf_get_name(0):match('-calc%.py$')")
    assert await editor.text() == UNSAVED
    await editor.lua("vim.cmd.buffer('#')")
    await run_lens(editor, 1, "Pails: 2 changes")
    await editor.until("vim.api.nvim_buf_get_name(0):match('-calc%.py%.diff$')")
    assert "-    return a - b\n+    return a + b\n" in await editor.text()


async def test_code_actions_decide_where_no_lenses_show(scene: Scene) -> None:
    editor = scene.editor
    await change_two_places(scene)
    await editor.act("Pails: reject this change", 3, 3)
    await editor.until("vim.api.nvim_buf_get_lines(0, 2, 3, true)[1]:match('a %- b')")
    await editor.act("Pails: accept all changes in this file", 3, 3)
    await editor.until(COUNT, 0)
    assert await editor.text() == REVIEWED.replace("a + b", "a - b")
