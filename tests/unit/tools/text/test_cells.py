"""Notebooks as text: cells, and edits that leave every other character alone."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.text import split_lines
from pails.tools.text.cell_edits import delete_cell, insert_cell, replace_source
from pails.tools.text.cell_view import cells_as_text
from pails.tools.text.cells import Cell, NoNotebook, Notebook, find_cell, parse_notebook
from pails.tools.text.edit import EditError


def code(source: Any, **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": source,
        **more,
    }


def markdown(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def notebook_of(*cells: dict[str, Any], minor: int = 5) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}


def parsed(text: str) -> Notebook:
    notebook = parse_notebook(text)
    assert isinstance(notebook, Notebook), notebook
    return notebook


def cell_at(notebook: Notebook, wanted: str | int) -> Cell:
    cell = find_cell(notebook, wanted)
    assert isinstance(cell, Cell), cell
    return cell


def replaced(text: str, wanted: str | int, source: str) -> str:
    notebook = parsed(text)
    after = replace_source(notebook, cell_at(notebook, wanted), source)
    assert isinstance(after, str), after
    return after


JUPYTER = """{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "aaaa0001",
   "metadata": {},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "aaaa0002",
   "metadata": {
    "tags": ["x",   "y"]
   },
   "outputs": [
    {
     "data": {"text/plain": ["42"]},
     "execution_count": 3, "metadata": {}, "output_type": "execute_result"
    }
   ],
   "source": [
    "a = 1\\n",
    "b = 2"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "aaaa0003",
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {"z": 1, "a": 2},
 "nbformat": 4,
 "nbformat_minor": 5
}
"""


def test_a_replaced_source_stays_a_list_of_lines_and_nothing_else_changes():
    after = replaced(JUPYTER, "aaaa0002", "a = 1\nb = 3\nc = 4")
    assert after == JUPYTER.replace('"b = 2"', '"b = 3\\n",\n    "c = 4"')


def test_a_source_can_become_empty_and_come_back():
    empty = replaced(JUPYTER, 2, "")
    assert '"source": []\n  },\n  {\n   "cell_type": "code",\n   "execution_count": null' in empty
    assert replaced(empty, 2, "a = 1\nb = 2") == JUPYTER


def test_an_inserted_cell_is_written_as_the_others_are():
    notebook = parsed(JUPYTER)
    after, name = insert_cell(notebook, 1, "code", "x\ny")
    new = parsed(after).cells[1]
    assert name == f"cell 2 (id {new.id})"
    expected = f"""  {{
   "cell_type": "code",
   "execution_count": null,
   "id": "{new.id}",
   "metadata": {{}},
   "outputs": [],
   "source": [
    "x\\n",
    "y"
   ]
  }},
"""
    place = JUPYTER.index('  {\n   "cell_type": "code",\n   "execution_count": 3')
    assert after == JUPYTER[:place] + expected + JUPYTER[place:]


def test_ids_are_new_and_only_where_the_format_has_them():
    notebook = parsed(JUPYTER)
    text, _ = insert_cell(notebook, 3, "markdown", "same")
    again, _ = insert_cell(parsed(text), 3, "markdown", "same")
    ids = [cell.id for cell in parsed(again).cells]
    assert len(set(ids)) == 5
    assert all(len(cell_id) == 8 for cell_id in ids)
    old = json.dumps(notebook_of(code(["a"]), minor=4), indent=1)
    text, name = insert_cell(parsed(old), 1, "code", "b")
    assert (name, "id" in json.loads(text)["cells"][1]) == ("cell 2", False)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_deleted_cell_leaves_no_comma_and_no_gap(number):
    notebook = parsed(JUPYTER)
    after = delete_cell(notebook, notebook.cells[number - 1])
    data = json.loads(JUPYTER)
    del data["cells"][number - 1]
    assert json.loads(after) == data
    assert "\n\n" not in after
    assert after.endswith("]\n  }\n" + JUPYTER[JUPYTER.index(' ],\n "metadata": {"z"') :])


def test_the_last_cell_can_be_deleted_and_a_first_one_inserted():
    one = json.dumps(notebook_of(code(["a"])), indent=1)
    empty = delete_cell(parsed(one), parsed(one).cells[0])
    assert json.loads(empty)["cells"] == []
    again, _ = insert_cell(parsed(empty), 0, "code", "a")
    data = json.loads(again)
    assert data["cells"][0].pop("id")
    assert data["cells"] == [{**code(["a"]), "execution_count": None}]
    assert again.startswith('{\n "cells": [\n  {\n   "cell_type": "code",')


def test_new_cells_have_the_key_order_of_the_others():
    other = {"cell_type": "code", "source": ["a"], "metadata": {}, "execution_count": None}
    text = json.dumps(notebook_of({**other, "outputs": [], "id": "x"}), indent=2)
    after, _ = insert_cell(parsed(text), 1, "code", "b")
    first, second = json.loads(after)["cells"]
    assert list(first) == list(second)


def test_lines_that_stay_keep_their_escapes():
    text = r'{"cells": [{"cell_type": "code", "source": ["\u4e2d\/\n", "b"]}], "nbformat": 4}'
    after = replaced(text, 1, "中/\nc文")
    assert after == text.replace('"b"', r'"c\u6587"')


@pytest.mark.parametrize(
    ("sample", "written"),
    [('"中"', '"文"'), (r'"\u4e2d"', r'"\u6587"'), ('"x"', '"文"'), (r'"\\\\u4e2d"', '"文"')],
)
def test_other_characters_are_escaped_where_the_file_does_so(sample, written):
    text = f'{{"cells": [{{"cell_type": "code", "source": []}}], "m": {sample}, "nbformat": 4}}'
    assert replaced(text, 1, "文") == text.replace("[]", f"[{written}]")


def test_line_ends_within_a_source_and_of_the_file_are_kept():
    data = json.dumps(notebook_of(code(["a\r\n", "b\r\n"])), indent=1).replace("\n", "\r\n")
    after = replaced(data, 1, "a\nc\nd")
    assert json.loads(after)["cells"][0]["source"] == ["a\r\n", "c\r\n", "d"]
    assert "\n" not in after.replace("\r\n", "")
    inserted, _ = insert_cell(parsed(data), 0, "code", "x")
    assert "\n" not in inserted.replace("\r\n", "")


def test_cells_are_found_by_id_and_by_number():
    notebook = parsed(json.dumps(notebook_of(code("a", id="2"), code("b", id="x"), code("c"))))
    found = [find_cell(notebook, wanted) for wanted in ("2", 2, "x", 3, "1", "cell 3", "Cell 1")]
    assert [cell.number for cell in found if isinstance(cell, Cell)] == [1, 1, 2, 3, 1, 3, 1]


def test_a_cell_that_is_not_there_is_answered_with_those_that_are():
    for wanted in ("nope", 0, 4, -1, "0", ""):
        error = find_cell(parsed(JUPYTER), wanted)
        assert isinstance(error, EditError)
        assert error.message.startswith(f"There is no cell {wanted!r}. The cells are:\n")
        assert "cell 2 (id aaaa0002), code: a = 1\ncell 3 (id aaaa0003), code:" in error.message
    many = parsed(json.dumps(notebook_of(*(code("x") for _ in range(60)))))
    error = find_cell(many, "nope")
    assert isinstance(error, EditError)
    assert error.message.endswith("and 10 more")
    twice = find_cell(parsed(json.dumps(notebook_of(code("a", id="x"), code("b", id="x")))), "x")
    assert isinstance(twice, EditError)
    assert "1, 2" in twice.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no valid JSON: Expecting value (line 1, column 1)"),
        ('{\n "cells": [\n  {,}\n ]\n}', "Expecting value (line 3, column 4)"),
        ('{"cells": [] "x": 1}', "Expecting ',' (line 1, column 14)"),
        ('{"cells": []', "Expecting ','"),
        ('{"cells": [],}', "Expecting value"),
        ('{"cells": []} x', "Text after the end"),
        ("{1: 2}", "a name in quotes"),
        ("[" * 100_000, "cannot be read"),
        ('{"cells": [' + "[" * 100_000, "cannot be read"),
        ("[]", 'no list "cells"'),
        ("7", 'no list "cells"'),
        ('{"cells": 7}', 'no list "cells"'),
        ('{"cells": [7]}', "no objects"),
        ('{"worksheets": [], "nbformat": 3}', "old format 3"),
    ],
)
def test_what_is_no_notebook_is_said(text, reason):
    found = parse_notebook(text)
    assert isinstance(found, NoNotebook)
    assert reason in found.message


@pytest.mark.parametrize("source", [None, 7, ["a\n", 7, "b"], {"x": 1}])
def test_odd_sources_can_be_read_and_replaced(source):
    text = json.dumps(notebook_of(code(source)), indent=1)
    assert cells_as_text(parsed(text))
    assert json.loads(replaced(text, 1, "new"))["cells"][0]["source"] in ("new", ["new"])


def test_a_cell_without_a_source_is_not_replaced():
    notebook = parsed('{"cells": [{"cell_type": "code"}]}')
    assert isinstance(replace_source(notebook, notebook.cells[0], "x"), EditError)


def test_the_same_source_changes_nothing():
    notebook = parsed(JUPYTER)
    error = replace_source(notebook, notebook.cells[1], "a = 1\r\nb = 2")
    assert isinstance(error, EditError)
    assert "exactly this source already" in error.message


SOURCES = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@st.composite
def notebooks(draw: st.DrawFn) -> str:
    """A notebook in one of the styles that programs write."""
    as_list = st.booleans()
    cells = [
        draw(st.sampled_from([code, markdown]))(
            split_lines(source) if draw(as_list) else source, id=f"id{number}"
        )
        for number, source in enumerate(draw(st.lists(SOURCES, min_size=1, max_size=4)))
    ]
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    blank = draw(st.sampled_from(["", " "]))
    comma = f",{blank}" if indent is None else ","
    text = json.dumps(
        notebook_of(*cells),
        indent=indent,
        separators=(comma, f":{blank}"),
        ensure_ascii=draw(st.booleans()),
        sort_keys=draw(st.booleans()),
    )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return text.replace("\n", end) + draw(st.sampled_from(["", end]))


@given(notebooks(), SOURCES, st.data())
def test_a_replaced_source_is_all_that_changes(text: str, source: str, data: st.DataObject):
    notebook = parsed(text)
    cell = data.draw(st.sampled_from(notebook.cells))
    after = replace_source(notebook, cell, source)
    if isinstance(after, EditError):
        return
    span = cell.node.members["source"]
    assert after[: span.start] == text[: span.start]
    assert after.endswith(text[span.end :])
    before, now = json.loads(text), json.loads(after)
    old, new = (each["cells"][cell.number - 1].pop("source") for each in (before, now))
    assert before == now
    assert type(old) is type(new)
    assert "".join(new).replace("\r\n", "\n").replace("\r", "\n") == source.replace(
        "\r\n", "\n"
    ).replace("\r", "\n")


@given(notebooks(), SOURCES, st.sampled_from(["code", "markdown"]), st.data())
def test_inserting_and_deleting_again_is_the_identity(text, source, kind, data):
    notebook = parsed(text)
    after = data.draw(st.integers(0, len(notebook.cells)))
    inserted, _ = insert_cell(notebook, after, kind, source)
    expected = copy.deepcopy(json.loads(text))
    new = json.loads(inserted)["cells"][after]
    expected["cells"].insert(after, new)
    assert json.loads(inserted) == expected
    assert (new["cell_type"], isinstance(new["source"], list)) == (kind, True)
    again = parsed(inserted)
    assert delete_cell(again, again.cells[after]) == text
