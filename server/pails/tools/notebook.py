"""The tool `edit_notebook`: replace, insert or delete one cell of a notebook."""

from typing import Literal

from pydantic import Field

from pails.core.events import Effect
from pails.core.ports import Action, ToolResult
from pails.tools.files.documents import Documents
from pails.tools.files.editing import Edited, propose_edit
from pails.tools.paths import PathText, path_for_person, resolve_path
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.cell_edits import delete_cell, insert_cell, replace_source
from pails.tools.text.cells import Cell, CellType, NoNotebook, Notebook, find_cell, parse_notebook
from pails.tools.text.edit import EditError, changes_between


class EditNotebookParameters(Parameters):
    path: PathText
    action: Literal["replace", "insert", "delete"]
    cell: str | int | None = Field(None, description="id, or number from 1; insert: 0 is the top")
    source: str | None = Field(None, description="the whole source")
    type: CellType | None = Field(None, description="of a new cell, else code")


class EditNotebook(Tool[EditNotebookParameters]):
    name = "edit_notebook"
    effect = Effect.WRITE
    parameters = EditNotebookParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: EditNotebookParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Edit {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,), writes=(path,))

    async def propose(
        self, args: EditNotebookParameters, context: CallContext
    ) -> Proposal | ToolResult:
        def edit(text: str) -> Edited | EditError:
            notebook = parse_notebook(text)
            if isinstance(notebook, NoNotebook):
                return EditError(f"It {notebook.message}.")
            edited = _edited(notebook, args)
            if isinstance(edited, EditError):
                return edited
            after, done = edited
            return Edited(after, changes_between(text, after), f"{args.action} a cell", done)

        return await propose_edit(context, self._documents, args.path, edit)


def _edited(notebook: Notebook, args: EditNotebookParameters) -> tuple[str, str] | EditError:
    """The text after the edit, and what was done."""
    if args.source is None and args.action != "delete":
        return EditError("`source` is missing: it is the whole source of the cell.")
    source = args.source or ""
    if args.action == "insert":
        return _insert(notebook, args.cell, args.type or "code", source)
    if args.cell is None:
        return EditError(f"`cell` is missing: which one is to be {args.action}d?")
    cell = find_cell(notebook, args.cell)
    if isinstance(cell, EditError):
        return cell
    if args.action == "delete":
        return delete_cell(notebook, cell), f"deleted {cell.name}"
    return _replace(notebook, cell, args.type, source)


def _insert(
    notebook: Notebook, wanted: str | int | None, kind: CellType, source: str
) -> tuple[str, str] | EditError:
    if wanted is None:
        after = len(notebook.cells)
    elif str(wanted).strip() == "0":
        after = 0
    else:
        cell = find_cell(notebook, wanted)
        if isinstance(cell, EditError):
            return cell
        after = cell.number
    text, name = insert_cell(notebook, after, kind, source)
    return text, f"inserted {name}"


def _replace(
    notebook: Notebook, cell: Cell, kind: CellType | None, source: str
) -> tuple[str, str] | EditError:
    if kind is not None and kind != cell.type:
        return EditError(
            f"The {cell.name} is of type {cell.type}, which cannot be changed: delete it and "
            "insert a new one."
        )
    after = replace_source(notebook, cell, source)
    if isinstance(after, EditError):
        return after
    kept = ", whose outputs are still those of its old source" if cell.outputs else ""
    return after, f"replaced {cell.name}{kept}"
