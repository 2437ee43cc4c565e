"""The tool `apply_patch`: several files in one call, all or none of them."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from pails.core.events import Effect
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_path
from pails.host import files
from pails.host.paths import named_and_real
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from pails.tools.files.proposing import Plan, Planned, plan_step, propose_plan
from pails.tools.files.transaction import Step
from pails.tools.paths import path_for_person, resolve_path, unreadable_message
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.edit import EditError, changes_between
from pails.tools.text.hunk_places import apply_patch_hunks
from pails.tools.text.patch_reader import FilePatch, PatchError
from pails.tools.text.patch_text import parse_patch

_TITLE_FILES = 5


class ApplyPatchParameters(Parameters):
    patch: str = Field(description="from *** Begin Patch to *** End Patch, or a unified diff")


class ApplyPatch(Tool[ApplyPatchParameters]):
    name = "apply_patch"
    effect = Effect.WRITE
    parameters = ApplyPatchParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: ApplyPatchParameters, context: CallContext) -> Action:
        wanted = _parsed(args)
        if isinstance(wanted, ToolResult):  # which `propose` gives back
            return Action(self.name, self.effect, "Apply a patch")
        named = [resolve_path(context, name) for file in wanted for name in _names(file)]
        reads = [resolve_path(context, file.path) for file in wanted if file.kind != "add"]
        return Action(self.name, self.effect, _title(context, named), tuple(reads), tuple(named))

    async def propose(
        self, args: ApplyPatchParameters, context: CallContext
    ) -> Proposal | ToolResult:
        wanted = _parsed(args)
        if isinstance(wanted, ToolResult):
            return wanted
        found = [await self._planned(context, file) for file in wanted]
        found += await asyncio.to_thread(_named_twice, context, wanted)
        errors = [error for error in found if isinstance(error, str)]
        if errors:
            count = f"{len(errors)} of its {len(wanted)} entries cannot be applied"
            listed = "\n".join(f"- {error}" for error in errors)
            return ToolResult(
                f"Nothing of the patch was applied: {count}.\n{listed}", is_error=True
            )
        planned = tuple(one for one in found if isinstance(one, Planned))
        title = _title(context, [one.step.path for one in planned])
        return propose_plan(context, self._documents, Plan(title, "Apply a patch", planned))

    async def _planned(self, context: CallContext, file: FilePatch) -> Planned | str:
        """What is to be done with a file, or why that cannot be done."""
        path = resolve_path(context, file.path)
        shown = shown_path(path, context.workspace)
        if file.kind == "add":
            return await self._added(context, path, file.content)
        document = await self._documents.read(path)
        if isinstance(document, Unreadable):
            return await unreadable_message(context, path, document)
        is_whole = file.kind == "delete" or file.move_to is not None
        if is_whole and document.real != document.path:
            return f"{shown} is a link, and those are for move_path and delete_path."
        if file.kind == "delete":
            return await asyncio.to_thread(_deleted, context, file, document, shown)
        return await self._updated(context, file, document, shown)

    async def _added(self, context: CallContext, path: Path, content: str) -> Planned | str:
        shown = shown_path(path, context.workspace)
        document = await self._documents.read_or_new(path)
        exists = await asyncio.to_thread(files.exists, path)  # also a link that leads nowhere
        if exists or (isinstance(document, Document) and document.exists):
            return f"{shown} exists already, so it cannot be added: update it."
        if isinstance(document, Unreadable):  # such as below a file
            return await unreadable_message(context, path, document)
        step = Step(document, document.path, content)
        return await asyncio.to_thread(plan_step, context, step, f"Created {shown}: ")

    async def _updated(
        self, context: CallContext, file: FilePatch, document: Document, shown: str
    ) -> Planned | str:
        target, told = document.path, f"Updated {shown}: "
        if file.move_to is not None:
            asked = resolve_path(context, file.move_to)
            target, _ = await asyncio.to_thread(named_and_real, asked)
            moved = shown_path(target, context.workspace)
            if await asyncio.to_thread(files.exists, target):
                return f"{moved} exists already, so {shown} cannot be moved there."
            if document.dirty:
                return f"{shown} has unsaved text in the editor, so it cannot be moved."
            told = f"Moved {shown} to {moved}: "

        def plan() -> Planned | str:
            made = apply_patch_hunks(document.text, file.hunks)
            if isinstance(made, EditError):
                return f"{shown}: {made.message}"
            after, note = made
            if after == document.text and file.move_to is None:
                return f"{shown}: the patch would change nothing in it."
            step = Step(document, target, after, changes_between(document.text, after))
            return plan_step(context, step, told, note)

        return await asyncio.to_thread(plan)


def _deleted(
    context: CallContext, file: FilePatch, document: Document, shown: str
) -> Planned | str:
    """The end of a file. What a diff shows of its text must be all of it. Blocks."""
    if document.dirty:
        return f"{shown} has unsaved text in the editor, so it cannot be deleted."
    if file.hunks:
        left = apply_patch_hunks(document.text, file.hunks)
        if isinstance(left, EditError) or left[0]:
            return f"{shown} has another text than the patch takes away, so it was not deleted."
    return plan_step(context, Step(document, document.path, None), f"Deleted {shown}: ")


def _parsed(args: ApplyPatchParameters) -> tuple[FilePatch, ...] | ToolResult:
    try:
        return parse_patch(args.patch)
    except PatchError as error:
        return ToolResult(f"This is no patch. {error} Nothing was applied.", is_error=True)


def _names(file: FilePatch) -> tuple[str, ...]:
    return (file.path,) if file.move_to is None else (file.path, file.move_to)


def _named_twice(context: CallContext, wanted: Sequence[FilePatch]) -> list[str]:
    """Files that are named twice, by whatever names. Blocks, since links are followed."""
    named = (resolve_path(context, name) for file in wanted for name in _names(file))
    paths = Counter(named_and_real(path)[1] for path in named)
    shown = [shown_path(path, context.workspace) for path, count in paths.items() if count > 1]
    return [f"{name} is named by several entries: make it one." for name in shown]


def _title(context: CallContext, paths: Sequence[Path]) -> str:
    names = [path_for_person(context, path) for path in dict.fromkeys(paths)]
    more = f" and {len(names) - _TITLE_FILES} more" if len(names) > _TITLE_FILES else ""
    return f"Apply a patch to {', '.join(names[:_TITLE_FILES])}{more}"
