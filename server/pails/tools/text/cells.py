"""The format of notebooks (`.ipynb`): the cells of a text, and how one of them is named. Pure."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pails.core.numbers import counted
from pails.core.text import first_line, join_surrogates
from pails.tools.text.edit import EditError
from pails.tools.text.json_text import Node, read_json

CellType = Literal["code", "markdown", "raw"]

_LEVELS = 4  # the notebook, its cells, a cell, the lines of its source
_OLDEST = 4
_WITH_IDS = (4, 5)
_LISTED_CELLS = 50
_LISTED_CHARS = 60


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. `number` counts from 1; `id` is empty where the format has none."""

    number: int
    node: Node

    @property
    def id(self) -> str:
        return str(self.node.value.get("id") or "")

    @property
    def type(self) -> str:
        return str(self.node.value.get("cell_type") or "")

    @property
    def source(self) -> str:
        return joined(self.node.value.get("source"))

    @property
    def outputs(self) -> list[dict[str, Any]]:
        return objects(self.node.value.get("outputs"))

    @property
    def name(self) -> str:
        return cell_name(self.number, self.id)


def cell_name(number: int, cell_id: str) -> str:
    """What a cell is called in a sentence."""
    return f"cell {number} (id {cell_id})" if cell_id else f"cell {number}"


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as text, and its cells in it."""

    text: str
    root: Node
    cells: tuple[Cell, ...]

    @property
    def has_ids(self) -> bool:
        """Whether its format gives every cell an id."""
        version = [self.root.value.get("nbformat"), self.root.value.get("nbformat_minor", 0)]
        return all(isinstance(part, int) for part in version) and tuple(version) >= _WITH_IDS

    @property
    def described(self) -> str:
        """What a reader of its cells should know, on one line."""
        about = as_object(self.root.value.get("metadata"))
        spec, info = as_object(about.get("kernelspec")), as_object(about.get("language_info"))
        language = info.get("name") or spec.get("language")
        count = counted(len(self.cells), "cell")
        code = f" of {first_line(str(language), _LISTED_CHARS)}" if language else ""
        return f"notebook{code}, {count}: change them with edit_notebook, see its JSON with raw"


@dataclass(frozen=True, slots=True)
class NoNotebook:
    """Why a text is no notebook with cells. `message` completes "PATH …"."""

    message: str


def is_notebook(path: Path) -> bool:
    """Whether a file's name says that it is a notebook."""
    return path.suffix.lower() == ".ipynb"


def parse_notebook(text: str) -> Notebook | NoNotebook:
    """The notebook that a text is."""
    try:
        root = read_json(text, _LEVELS)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return NoNotebook(f"is no notebook, because it is no valid JSON: {error.msg} ({where})")
    except (ValueError, RecursionError) as error:
        return NoNotebook(f"is no notebook, because its JSON cannot be read: {error}")
    version = root.members["nbformat"].value if "nbformat" in root.members else _OLDEST
    if isinstance(version, int) and version < _OLDEST:
        return NoNotebook(f"is a notebook of the old format {version}, which has other cells")
    cells = root.members.get("cells")
    if cells is None or not isinstance(cells.value, list):
        return NoNotebook('is no notebook, because it has no list "cells"')
    if not all(isinstance(item.value, dict) for item in cells.items):
        return NoNotebook("is no notebook, because some of its cells are no objects")
    found = (Cell(number, item) for number, item in enumerate(cells.items, 1))
    return Notebook(text, root, tuple(found))


def find_cell(notebook: Notebook, wanted: str | int) -> Cell | EditError:
    """The cell with this id or, where no cell has it, with this number."""
    name = str(wanted).strip()
    by_id = [cell for cell in notebook.cells if cell.id and cell.id == name]
    if len(by_id) > 1:
        numbers = ", ".join(str(cell.number) for cell in by_id)
        return EditError(f"The cells {numbers} all have the id {name}: name one by its number.")
    if by_id:
        return by_id[0]
    number = name.lower().removeprefix("cell ")  # as read_file shows it
    for cell in notebook.cells:
        if str(cell.number) == number:
            return cell
    shown = first_line(repr(wanted), _LISTED_CHARS)
    return EditError(f"There is no cell {shown}. {_listed(notebook)}")


def _listed(notebook: Notebook) -> str:
    if not notebook.cells:
        return "The notebook has no cells."
    lines = [
        f"{cell.name}, {cell.type}: {first_line(cell.source, _LISTED_CHARS)}".rstrip()
        for cell in notebook.cells[:_LISTED_CELLS]
    ]
    more = len(notebook.cells) - len(lines)
    return "\n".join(("The cells are:", *lines, *([f"and {more} more"] if more else [])))


def joined(value: object) -> str:
    """A text of the format, which is a string or a list of its lines."""
    parts = cast("list[object]", value) if isinstance(value, list) else [value]
    return join_surrogates("".join(part for part in parts if isinstance(part, str)))


def as_object(value: object) -> dict[str, Any]:
    """The value where it is an object, as the format demands, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a value that should be a list of them."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [as_object(item) for item in items]
