"""An edit of one file that exists: from what it makes of the text to the proposal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pails.core.ports import TextChange, ToolResult
from pails.core.text import shown_path
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from pails.tools.files.proposing import Plan, Planned, plan_step, propose_plan
from pails.tools.files.transaction import Step
from pails.tools.paths import path_for_person, resolve_path, unwritable
from pails.tools.registry import CallContext, Proposal
from pails.tools.text.edit import EditError


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit makes of a text: the text after it, and the changes that lead there.

    `wanted` says for a person what is to be done, `done` for the model what was: "1 replacement".
    `note` comes behind that, as a sentence.
    """

    after: str
    changes: tuple[TextChange, ...]
    wanted: str
    done: str
    note: str = ""


async def propose_edit(
    context: CallContext,
    documents: Documents,
    name: str,
    edit: Callable[[str], Edited | EditError],
) -> Proposal | ToolResult:
    """The proposal of an edit of the file that the model calls `name`.

    `edit` is called in a thread, as the text may be large.
    """
    path = resolve_path(context, name)
    shown = shown_path(path, context.workspace)
    document = await documents.read(path)
    if isinstance(document, Unreadable):
        return await unwritable(context, path, document)
    found = await asyncio.to_thread(_planned, context, document, edit, shown)
    if isinstance(found, EditError):
        return ToolResult(f"{shown} was not edited. {found.message}", is_error=True)
    wanted, planned = found
    title = f"Edit {path_for_person(context, path)}: {wanted}"
    return propose_plan(context, documents, Plan(title, f"Edit {shown}", (planned,)))


def _planned(
    context: CallContext, document: Document, edit: Callable[[str], Edited | EditError], shown: str
) -> tuple[str, Planned] | EditError:
    """What is wanted, for a person, and the step with its diff."""
    edited = edit(document.text)
    if isinstance(edited, EditError):
        return edited
    step = Step(document, document.path, edited.after, edited.changes)
    told = f"Edited {shown}: {edited.done}, "
    return edited.wanted, plan_step(context, step, told, edited.note)
