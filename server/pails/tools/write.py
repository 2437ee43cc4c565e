"""The tools `write_file` and `edit_file`. Both propose a diff first and write what was proposed."""

import asyncio
from pathlib import Path

from pydantic import Field

from pails.context.truncation import truncate
from pails.core.events import Effect
from pails.core.ports import Action, Change, ToolResult
from pails.core.text import shown_path
from pails.tools.diff import DiffText, unified
from pails.tools.documents import Document, Documents, Unreadable, Unwritten
from pails.tools.edit import EditError, EditPlan, apply_changes, find_edit
from pails.tools.lines import fitted_to
from pails.tools.paths import (
    WORKSPACE_GONE,
    PathText,
    is_workspace_gone,
    path_for_person,
    resolve_path,
    unreadable_message,
)
from pails.tools.registry import CallContext, Parameters, Proposal, Tool

_SHOWN_CHARS = 1500
"""How much of its diff the result of a rewrite shows."""


class WriteFileParameters(Parameters):
    path: PathText
    content: str = Field(description="the whole new text")


class EditFileParameters(Parameters):
    path: PathText
    old: str = Field(description="the lines that must change, exactly, without line numbers")
    new: str = Field(description="these lines as they should be")
    replace_all: bool = Field(False, description="replace every occurrence")


class WriteFile(Tool[WriteFileParameters]):
    name = "write_file"
    effect = Effect.WRITE
    parameters = WriteFileParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: WriteFileParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Write {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, writes=(path,))

    async def propose(
        self, args: WriteFileParameters, context: CallContext
    ) -> Proposal | ToolResult:
        path = resolve_path(context, args.path)
        shown = shown_path(path, context.workspace)
        document = await self._documents.read_or_new(path)
        if isinstance(document, Unreadable):
            return await _unreadable(context, path, document)
        after, diff = await asyncio.to_thread(_plan_rewrite, document, args.content, shown)
        if document.exists and after == document.text:
            return ToolResult(
                f"{shown} had exactly this content already: this call changed nothing. To change "
                "it send the text that it should become."
            )
        verb = "Wrote" if document.exists else "Created"
        # A model seldom sees by itself what its rewrite has lost.
        changed = "\n" + truncate(diff.text, _SHOWN_CHARS) if document.exists else ""

        async def run() -> ToolResult:
            # A write makes the folders above the file, but a workspace that is gone is not ours.
            if await is_workspace_gone(context):
                return ToolResult(f"{WORKSPACE_GONE} Nothing was written.", is_error=True)
            written = await self._documents.write(document, after, f"Write {shown}")
            return _result(written, after, diff, f"{verb} {shown}: {_counts(diff)}.", changed)

        return Proposal(
            run, f"Write {path_for_person(context, path)} ({len(after):,} characters)", diff.text
        )


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
        path = resolve_path(context, args.path)
        shown = shown_path(path, context.workspace)
        document = await self._documents.read(path)
        if isinstance(document, Unreadable):
            return await _unreadable(context, path, document)
        planned = await asyncio.to_thread(_plan_edit, document, args, shown)
        if isinstance(planned, EditError):
            text = f"{shown} was not edited. {planned.message}"
            return ToolResult(text, is_error=True)
        plan, after, diff = planned
        count = len(plan.changes)
        replaced = "1 replacement" if count == 1 else f"{count} replacements"
        message = f"Edited {shown}: {replaced}, {_counts(diff)}."
        if plan.note:
            message += f" {plan.note}"

        async def run() -> ToolResult:
            written = await self._documents.write(document, plan.changes, f"Edit {shown}")
            return _result(written, after, diff, message)

        return Proposal(run, f"Edit {path_for_person(context, path)}: {replaced}", diff.text)


async def _unreadable(context: CallContext, path: Path, found: Unreadable) -> ToolResult:
    text = await unreadable_message(context, path, found)
    return ToolResult(f"{text} Nothing was written.", is_error=True)


def _plan_edit(
    document: Document, args: EditFileParameters, shown: str
) -> tuple[EditPlan, str, DiffText] | EditError:
    """The changes, the text after them, and the diff. In a thread, as the text may be large."""
    plan = find_edit(document.text, args.old, args.new, replace_all=args.replace_all)
    if isinstance(plan, EditError):
        return plan
    after = apply_changes(document.text, plan.changes)
    return plan, after, unified(shown, document.text, after)


def _plan_rewrite(document: Document, content: str, shown: str) -> tuple[str, DiffText]:
    """The text as the file will have it, and the diff; as above."""
    if not document.exists:
        return content, unified(shown, None, content)
    after = fitted_to(document.text, content)
    return after, unified(shown, document.text, after)


def _counts(diff: DiffText) -> str:
    return f"+{diff.added} −{diff.removed}"


def _result(
    written: Change | Unwritten, after: str, diff: DiffText, message: str, changed: str = ""
) -> ToolResult:
    """The result of a write, which says first that it happened, or that it did not."""
    if isinstance(written, Unwritten):
        return ToolResult(written.message, is_error=True)
    summary = _counts(diff)
    if written.unsaved:
        message += f" It is in the editor's buffer, not on disk yet, because {written.unsaved}."
        summary += f", not saved: {written.unsaved}"
    elif written.after != after:
        message += " The editor changed the text when it saved it: read it again."
    return ToolResult(message + changed.rstrip(), summary=summary, changes=(written,))
