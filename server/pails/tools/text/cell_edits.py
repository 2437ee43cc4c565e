"""Edits of a notebook that change one cell and not a character beside it. Pure.

A notebook is never written anew as a whole: key order, indentation, escapes and outputs stay as
they are because nobody touches them. Each edit gives the whole new text.
"""

import hashlib
from typing import Any

from pails.core.text import split_lines
from pails.tools.text.cells import Cell, CellType, Notebook, cell_name
from pails.tools.text.edit import EditError
from pails.tools.text.json_text import Node, gap, json_style, margin
from pails.tools.text.lines import dominant_line_end, fold, with_line_ends

_ID_CHARS = 8


def replace_source(notebook: Notebook, cell: Cell, source: str) -> str | EditError:
    """The text with another source in one cell, whose outputs stay."""
    old, before = cell.node.members.get("source"), cell.source
    if old is None:
        return EditError(f'The {cell.name} has no "source": mend the JSON with edit_file.')
    new = with_line_ends(fold(source).text, before, dominant_line_end(before))
    if new == before:
        return EditError(
            f"The {cell.name} has exactly this source already, so nothing would change. Send the "
            "source that it should become."
        )
    return _spliced(notebook.text, old.start, old.end, _source_json(notebook.text, old, new))


def insert_cell(notebook: Notebook, after: int, kind: CellType, source: str) -> tuple[str, str]:
    """The text with a new cell behind the one of number `after` (0: at the top), and its name."""
    cell = _new_cell(notebook, after, kind, source)
    return _with_cell(notebook, after, cell), cell_name(after + 1, cell.get("id", ""))


def _with_cell(notebook: Notebook, after: int, cell: dict[str, Any]) -> str:
    text, cells, style = notebook.text, notebook.root.members["cells"], json_style(notebook.text)
    if not cells.items:
        return _spliced(text, cells.start, cells.end, style.dumps([cell], margin(text, cells)))
    new, between = style.dumps(cell, margin(text, cells.items[0])), gap(text, cells)
    if after == 0:
        return _spliced(text, cells.items[0].start, cells.items[0].start, new + between)
    place = cells.items[after - 1].end
    return _spliced(text, place, place, between + new)


def delete_cell(notebook: Notebook, cell: Cell) -> str:
    """The text without one cell."""
    text, cells = notebook.text, notebook.root.members["cells"]
    following = cells.items[cell.number :]
    if len(cells.items) == 1:
        return _spliced(text, cells.start, cells.end, "[]")
    if following:
        return _spliced(text, cell.node.start, following[0].start, "")
    return _spliced(text, cells.items[cell.number - 2].end, cell.node.end, "")


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _source_json(text: str, old: Node, source: str) -> str:
    """A source in the manner of the old one; lines that stay keep their escapes."""
    style = json_style(text)
    if not isinstance(old.value, list):
        return style.dumps(source)
    lines = split_lines(source)
    if not lines:
        return "[]"
    if not old.items:
        return style.dumps(lines, margin(text, old))
    raw = {
        item.value: text[item.start : item.end] for item in old.items if isinstance(item.value, str)
    }
    before, behind = text[old.start : old.items[0].start], text[old.items[-1].end : old.end]
    written = (raw.get(line) or style.dumps(line) for line in lines)
    return before + gap(text, old).join(written) + behind


def _new_cell(notebook: Notebook, after: int, kind: CellType, source: str) -> dict[str, Any]:
    """A cell with all that the format demands, its keys in the order of the others of its type."""
    cell: dict[str, Any] = {"cell_type": kind}
    if kind == "code":
        cell["execution_count"] = None
    if notebook.has_ids:
        cell["id"] = _new_id(notebook, after, source)
    cell["metadata"] = {}
    if kind == "code":
        cell["outputs"] = []
    cell["source"] = split_lines(fold(source).text)
    like = next((other for other in notebook.cells if other.type == kind), None)
    order = dict.fromkeys((*(like.node.members if like else ()), *cell))
    return {name: cell[name] for name in order if name in cell}


def _new_id(notebook: Notebook, after: int, source: str) -> str:
    """An id that no cell has, the same each time that the same edit is planned."""
    taken = {cell.id for cell in notebook.cells}
    digest = hashlib.sha256(f"{after}\n{source}".encode()).hexdigest()
    while digest[:_ID_CHARS] in taken:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:_ID_CHARS]
