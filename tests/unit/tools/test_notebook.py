"""Notebooks through the tools: `edit_notebook`, and what the others make of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pails.core.ports import ToolResult
from pails.diagnostics.languages import candidates
from pails.tools.edit_file import EditFile
from pails.tools.files.documents import Documents
from pails.tools.notebook import EditNotebook
from pails.tools.read_file import ReadFile
from pails.tools.registry import Proposal
from tests.support.calls import call, call_context, propose
from tests.support.editor import MemoryEditor

PICTURE = "iVBORw0KGgo=" * 1000

CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": ["# 标题\n", "text"]},
    {
        "cell_type": "code",
        "execution_count": 7,
        "id": "c1",
        "metadata": {},
        "outputs": [
            {"name": "stdout", "output_type": "stream", "text": [f"line {n}\n" for n in range(12)]},
            {
                "data": {"image/png": PICTURE, "text/plain": ["<Figure>"]},
                "metadata": {},
                "output_type": "display_data",
            },
            {
                "ename": "NameError",
                "evalue": "name 'x' is not defined",
                "output_type": "error",
                "traceback": ["\x1b[0;31mNameError\x1b[0m"],
            },
        ],
        "source": ["import os\n", "print(os)"],
    },
    {"cell_type": "code", "execution_count": None, "id": "c2", "metadata": {}, "outputs": [],
     "source": "x"},
]  # fmt: skip
NOTEBOOK = {
    "cells": CELLS,
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
TEXT = json.dumps(NOTEBOOK, indent=1, ensure_ascii=False) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.ipynb"
    path.write_text(TEXT)
    return path


async def edit(path: Path, **arguments: Any) -> ToolResult:
    return await call(EditNotebook(Documents()), path.parent, path=path.name, **arguments)


async def read(path: Path, **arguments: Any) -> ToolResult:
    return await call(ReadFile(Documents()), path.parent, path=path.name, **arguments)


# -- edit_notebook --------------------------------------------------------------------------------


async def test_a_cell_is_replaced_and_the_diff_has_its_lines_only(path):
    proposal = await propose(
        EditNotebook(Documents()), path.parent,
        path="a.ipynb", action="replace", cell="c1", source="import os\nprint(1)",
    )  # fmt: skip
    assert isinstance(proposal, Proposal)
    changed = [line for line in proposal.diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == ['-    "print(os)"', '+    "print(1)"']
    assert path.read_text() == TEXT
    result = await proposal.run()
    assert result.text == (
        "Edited a.ipynb: replaced cell 2 (id c1), whose outputs are still those of its old "
        "source, +1 −1."
    )
    assert path.read_text() == TEXT.replace("print(os)", "print(1)")
    [change] = result.changes
    assert (change.before, change.after) == (TEXT, path.read_text())


async def test_a_new_cell_without_an_anchor_comes_last(path):
    result = await edit(path, action="insert", source="a = 1\nb = 2")
    cells = json.loads(path.read_text())["cells"]
    assert cells[:-1] == CELLS
    assert (cells[-1]["cell_type"], cells[-1]["source"]) == ("code", ["a = 1\n", "b = 2"])
    assert result.text == f"Edited a.ipynb: inserted cell 4 (id {cells[-1]['id']}), +11 −0."


@pytest.mark.parametrize(("cell", "place"), [(0, 0), ("0", 0), (1, 1), ("c1", 2), (3, 3)])
async def test_a_new_cell_stands_behind_the_one_that_is_named(path, cell, place):
    await edit(path, action="insert", cell=cell, source="new", type="markdown")
    cells = json.loads(path.read_text())["cells"]
    new = cells.pop(place)
    assert (new["cell_type"], new["source"], cells) == ("markdown", ["new"], CELLS)
    assert "outputs" not in new


async def test_a_cell_is_deleted(path):
    result = await edit(path, action="delete", cell=2)
    assert result.text.startswith("Edited a.ipynb: deleted cell 2 (id c1), +0 −")
    assert json.loads(path.read_text())["cells"] == [CELLS[0], CELLS[2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action": "replace", "cell": 9, "source": "x"}, "There is no cell 9. The cells are:"),
        ({"action": "insert", "cell": "no", "source": "x"}, "There is no cell 'no'."),
        ({"action": "delete", "cell": "cell 9"}, "There is no cell 'cell 9'."),
        ({"action": "delete"}, "`cell` is missing: which one is to be deleted?"),
        ({"action": "replace", "source": "x"}, "which one is to be replaced?"),
        ({"action": "replace", "cell": 1}, "`source` is missing"),
        ({"action": "insert"}, "`source` is missing"),
        ({"action": "replace", "cell": 3, "source": "x"}, "exactly this source already"),
        ({"action": "replace", "cell": 3, "source": "y", "type": "markdown"}, "is of type code"),
    ],
)
async def test_an_edit_that_cannot_be_made_writes_nothing_and_says_why(path, arguments, message):
    result = await edit(path, **arguments)
    assert result.is_error
    assert result.text.startswith("a.ipynb was not edited. ")
    assert message in result.text
    assert path.read_text() == TEXT


async def test_what_is_no_notebook_is_said_with_the_line(path):
    path.write_text('{\n "cells": [\n  {,}\n ]\n}')
    result = await edit(path, action="insert", source="x")
    assert result.is_error
    assert result.text == (
        "a.ipynb was not edited. It is no notebook, because it is no valid JSON: Expecting value "
        "(line 3, column 4)."
    )
    missing = await edit(path.parent / "b.ipynb", action="insert", source="x")
    assert "b.ipynb does not exist. Similar: a.ipynb. Nothing was written." in missing.text


async def test_an_open_notebook_is_edited_in_its_buffer(path):
    editor = MemoryEditor()
    unsaved = TEXT.replace("print(os)", "print(2)")
    editor.open(path, unsaved)
    result = await call(
        EditNotebook(Documents(editor)), path.parent,
        path="a.ipynb", action="replace", cell=3, source="y",
    )  # fmt: skip
    assert "not on disk yet" in result.text
    assert editor.text(path) == unsaved.replace('"source": "x"', '"source": "y"')
    assert path.read_text() == TEXT


async def test_a_person_may_change_what_is_written(path):
    proposal = await propose(
        EditNotebook(Documents()), path.parent,
        path="a.ipynb", action="replace", cell=3, source="y",
    )  # fmt: skip
    assert isinstance(proposal, Proposal)
    [file] = proposal.files
    assert (file.path, file.before) == (path, TEXT)
    assert file.after == TEXT.replace('"source": "x"', '"source": "y"')
    assert proposal.revise is not None
    theirs = TEXT.replace('"source": "x"', '"source": "theirs"')
    revised = proposal.revise({path: theirs})
    assert '+   "source": "theirs"' in revised.diff
    assert not (await revised.run()).is_error
    assert path.read_text() == theirs


async def test_mark_and_line_ends_of_the_file_are_kept(path):
    data = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    path.write_bytes(data)
    await edit(path, action="replace", cell="c1", source="import os\nprint(1)")
    assert path.read_bytes() == data.replace(b"print(os)", b"print(1)")


def test_the_action_names_the_file_and_hides_nothing_of_it(tmp_path):
    tool = EditNotebook(Documents())
    args = tool.parameters.model_validate({"path": "a\u202e.ipynb", "action": "delete"})
    action = tool.action(args, call_context(tmp_path))
    assert action.title == "Edit a⟨U+202E⟩.ipynb"
    assert action.reads == action.writes == (tmp_path / "a\u202e.ipynb",)


def test_a_written_notebook_is_checked_as_json():
    assert candidates(Path("a.ipynb")) == ("json",)


# -- read_file and edit_file ----------------------------------------------------------------------


async def test_a_notebook_is_read_by_its_cells(path):
    text = (await read(path)).text
    lines = [line.partition("\t")[2] for line in text.splitlines()[1:]]
    assert text.splitlines()[0] == (
        "[notebook of python, 3 cells: change them with edit_notebook, see its JSON with raw]"
    )
    assert lines == [
        "[cell 1 (id m1), markdown]", "# 标题", "text", "",
        "[cell 2 (id c1), code]", "import os", "print(os)",
        "[output: stdout, 12 lines]",
        *(f"  line {n}" for n in range(5)), "  …",
        "[output: image/png 9.0 KB]", "[output: text, 1 line]", "  <Figure>",
        "[output: error, 1 line]", "  NameError: name 'x' is not defined", "",
        "[cell 3 (id c2), code]", "x",
    ]  # fmt: skip


async def test_every_line_of_a_notebook_is_reached_by_paging_its_json(path):
    result = await read(path, raw=True, limit=5000)
    assert "[output" not in result.text
    first = await read(path, raw=True, limit=3)
    assert first.text.startswith("[lines 1-3 of ")
    assert first.text.endswith('\n1\t{\n2\t "cells": [\n3\t  {')


async def test_cells_come_in_pages(path):
    page = await read(path, offset=2, limit=2)
    assert page.text.endswith("; next: offset=4]\n2\t# 标题\n3\ttext")


async def test_attachments_and_odd_outputs_are_named(path):
    picture = {"image/png": PICTURE}
    path.write_text(
        json.dumps(
            {
                "cells": [
                    {"cell_type": "markdown", "source": "a", "attachments": {"a.png": picture}},
                    {
                        "cell_type": "code",
                        "source": "\ud83d",
                        "outputs": [
                            {"output_type": "display_data", "data": {"text/html": "<b>é</b>"}},
                            {"output_type": "stream", "name": "stderr", "text": "x" * 999},
                            {"output_type": "stream", "text": "0%\r50%\r\x1b[1m100%\n"},
                            {
                                "output_type": "execute_result",
                                "data": {"application/json": {"a": 1}},
                            },
                            7,
                        ],
                    },
                    {},
                ]
            }
        )
    )
    text = (await read(path)).text
    text.encode()
    assert "[attachment a.png: image/png 9.0 KB]" in text
    assert "[output: text/html 9 B]" in text
    assert "  " + "x" * 200 + "…" in text
    assert "  100%" in text
    assert "[output: application/json 8 B]" in text


@pytest.mark.parametrize("data", ['{"cells": 1}', "no json"])
async def test_what_is_no_notebook_is_shown_as_text(path, data):
    path.write_text(data)
    result = await read(path)
    assert not result.is_error
    assert result.text.startswith("[shown as text: it is no notebook, because ")
    assert result.text.endswith(f"]\n1\t{data}")
    path.write_text("")
    assert (await read(path)).text == "[empty file]\n"


async def test_a_notebook_without_cells_is_said(path):
    path.write_text('{"cells": [], "nbformat": 4}')
    assert "0 cells" in (await read(path)).text


async def test_the_json_can_still_be_edited_and_an_error_names_the_better_tool(path):
    tool = EditFile(Documents())
    done = await call(tool, path.parent, path="a.ipynb", old='"print(os)"', new='"print(1)"')
    assert not done.is_error
    assert path.read_text() == TEXT.replace("print(os)", "print(1)")
    lost = await call(tool, path.parent, path="a.ipynb", old="import os\nprint(1)", new="x")
    assert lost.is_error
    assert lost.text.endswith("The cells of a notebook are changed with edit_notebook.")
