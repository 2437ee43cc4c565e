"""The tool `write_file`: a new file, or the whole text of one that the model has seen."""

import asyncio

from pydantic import Field

from pails.core.events import Effect
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_path
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from pails.tools.files.proposing import Plan, Planned, plan_step, propose_plan
from pails.tools.files.transaction import Step
from pails.tools.paths import PathText, path_for_person, resolve_path, unwritable
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.edit import changes_between
from pails.tools.text.lines import fitted_to


class WriteFileParameters(Parameters):
    path: PathText
    content: str = Field(description="the whole new text")


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
            return await unwritable(context, path, document)
        planned = await asyncio.to_thread(_plan, context, document, args.content, shown)
        if document.exists and planned.step.after == document.text:
            self._documents.saw(document.real, document.text)
            return ToolResult(
                f"{shown} had exactly this content already: this call changed nothing. To change "
                "it send the text that it should become."
            )
        unseen = await self._documents.unseen(document)
        if unseen:
            return ToolResult(
                f"{shown} {unseen}. Nothing was written, for all that your text lacks would be "
                "lost. Read it with read_file and send the whole text again, or change a part of "
                "it with edit_file.",
                is_error=True,
            )
        size = f"{len(planned.step.after or ''):,} characters"
        title = f"Write {path_for_person(context, path)} ({size})"
        return propose_plan(context, self._documents, Plan(title, f"Write {shown}", (planned,)))


def _plan(context: CallContext, document: Document, content: str, shown: str) -> Planned:
    """The text as the file will have it, and the diff. In a thread, as it may be large."""
    if not document.exists:
        return plan_step(context, Step(document, document.path, content), f"Created {shown}: ")
    after = fitted_to(document.text, content)
    changes = changes_between(document.text, after)
    step = Step(document, document.path, after, changes)
    return plan_step(context, step, f"Wrote {shown}: ", is_shown=True)
