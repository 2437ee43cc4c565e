"""The tool `edit_file`: one or several edits of one file, all or none of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import Field, model_validator
from pydantic_core import from_json

from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, TextChange, ToolResult
from pails.tools.files.documents import Documents
from pails.tools.files.editing import Edited, propose_edit
from pails.tools.paths import PathText, path_for_person, resolve_path
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.cells import is_notebook
from pails.tools.text.edit import EditError, apply_changes, changes_between, find_edit

_NOTEBOOK_HINT = " The cells of a notebook are changed with edit_notebook."


class Edit(Parameters):  # a docstring would be sent to the model with every request
    old: str
    new: str
    replace_all: bool = False


class EditFileParameters(Parameters):
    path: PathText
    old: str = Field(description="the lines that must change, exactly, without line numbers")
    new: str = Field(description="these lines as they should be")
    replace_all: bool = Field(False, description="replace every occurrence")
    edits: tuple[Edit, ...] = Field((), description="further edits, each made after the one before")

    @model_validator(mode="before")
    @classmethod
    def _with_first_edit(cls, data: object) -> object:
        """Models also send all edits as the list, the first one among them or there alone."""
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, object]", data)
        edits = _listed(given.get("edits"))
        if not edits:
            return given
        first, *others = edits
        if all(name in given and given[name] == first.get(name) for name in ("old", "new")):
            replaces_all = given.get("replace_all") or first.get("replace_all")
            return {**given, "replace_all": replaces_all, "edits": others}
        if given.get("old") or given.get("new"):
            return {**given, "edits": edits}
        return {**given, **first, "edits": others}

    @property
    def all_edits(self) -> tuple[Edit, ...]:
        return (Edit(old=self.old, new=self.new, replace_all=self.replace_all), *self.edits)


class EditFile(Tool[EditFileParameters]):
    name = "edit_file"
    effect = Effect.WRITE
    parameters = EditFileParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: EditFileParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Edit {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,), writes=(path,))

    async def propose(
        self, args: EditFileParameters, context: CallContext
    ) -> Proposal | ToolResult:
        def edit(text: str) -> Edited | EditError:
            edited = _edited(text, args.all_edits)
            if isinstance(edited, EditError) and is_notebook(Path(args.path)):
                return EditError(edited.message + _NOTEBOOK_HINT)
            return edited

        return await propose_edit(context, self._documents, args.path, edit)


def _listed(edits: object) -> list[dict[str, object]]:
    """Edits in any of the shapes in which models send them: also as a string of JSON, or one
    without its brackets. Empty where they are something else."""
    if isinstance(edits, str):
        try:
            edits = from_json(edits)
        except ValueError:
            return []
    items = cast("list[object]", edits) if isinstance(edits, list) else [edits]
    found = [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]
    return found if len(found) == len(items) else []


def _edited(text: str, edits: Sequence[Edit]) -> Edited | EditError:
    """What the edits make of a text, each in the outcome of the one before.

    One that cannot be made is an error for all.
    """
    count, after, notes = 0, text, list[str]()
    changes: tuple[TextChange, ...] = ()
    for number, edit in enumerate(edits, 1):
        found = find_edit(after, edit.old, edit.new, replace_all=edit.replace_all)
        which = f"Edit {number} of {len(edits)}" if len(edits) > 1 else ""
        if isinstance(found, EditError):
            failed = f"{which} cannot be made, so none of them was: " if which else ""
            return EditError(f"{failed}{found.message}")
        if found.note:
            notes.append(f"{which}: {found.note}" if which else found.note)
        changes = found.changes
        after, count = apply_changes(after, changes), count + len(changes)
    if after == text:
        return EditError("The edits undo each other: together they would change nothing.")
    if len(edits) > 1:
        changes = changes_between(text, after)
    replaced = counted(count, "replacement")
    return Edited(after, changes, replaced, replaced, " ".join(notes))
