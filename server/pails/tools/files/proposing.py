"""Proposals of calls that write texts: the diff, then the write, perhaps changed by a person.

Every tool that writes texts says what it wants as steps, and gets from here the proposal that shows
them, writes them, and can be made anew with a person's texts in place of its own.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pails.context.truncation import truncate
from pails.core.ports import Change, ToolResult
from pails.core.text import shown_path
from pails.tools.files.documents import Documents
from pails.tools.files.transaction import Done, Step, carry_out
from pails.tools.paths import WORKSPACE_GONE, is_workspace_gone
from pails.tools.registry import CallContext, Proposal, ProposedFile
from pails.tools.text.diff import DiffText, unified
from pails.tools.text.edit import changes_between

_SHOWN_CHARS = 1500
"""How much of a diff a result shows."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A step with its diff, and what the model is told of it when it is done.

    `told` begins a sentence that the counts of the diff end: "Edited a.py: 1 replacement, ".
    `note` comes behind it. A diff is repeated to the model where `is_shown`.
    """

    step: Step
    diff: DiffText
    told: str
    note: str = ""
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole call: its title for the person, its label in the editor's undo, its steps."""

    title: str
    label: str
    planned: tuple[Planned, ...]
    revised: str = ""
    """What a person has changed about it, for the model."""


def plan_step(
    context: CallContext, step: Step, told: str, note: str = "", *, is_shown: bool = False
) -> Planned:
    """A step with its diff. Takes time with the size of the text: call it in a thread."""
    old, new = step.document.path, step.path
    if step.is_move and step.before == step.after:
        diff = DiffText("", 0, 0)
    else:
        diff = unified(shown_path(new, context.workspace), step.before, step.after)
    if step.is_move:
        names = f"rename from {shown_path(old, context.workspace)}\n"
        names += f"rename to {shown_path(new, context.workspace)}\n"
        diff = replace(diff, text=names + diff.text)
    return Planned(step, diff, told, note, is_shown)


def propose_plan(context: CallContext, documents: Documents, plan: Plan) -> Proposal:
    """The proposal of a plan."""

    async def run() -> ToolResult:
        # A write makes the folders above a file, but a workspace that is gone is not ours.
        if any(one.step.makes_name for one in plan.planned) and await is_workspace_gone(context):
            return ToolResult(f"{WORKSPACE_GONE} Nothing was written.", is_error=True)
        done = await carry_out(documents, [one.step for one in plan.planned], plan.label)
        return _result(plan, done)

    def revise(texts: Mapping[Path, str]) -> Proposal:
        return _propose_revised(context, documents, plan, texts)

    diff = "".join(one.diff.text for one in plan.planned)
    files = tuple(file for one in plan.planned for file in _files(one.step))
    return Proposal(run, plan.title, diff, files, revise)


def _files(step: Step) -> tuple[ProposedFile, ...]:
    if not step.is_move:
        return (ProposedFile(step.path, step.before, step.after),)
    return (
        ProposedFile(step.document.path, step.before, None),
        ProposedFile(step.path, None, step.after),
    )


def _propose_revised(
    context: CallContext, documents: Documents, plan: Plan, texts: Mapping[Path, str]
) -> Proposal:
    """The same call with a person's texts; a file whose text they left as it was is left alone."""
    kept: list[Planned] = []
    said: list[str] = []
    for one in plan.planned:
        revised = _revised(one.step, texts)
        if revised == one.step:
            kept.append(one)
            continue
        shown = shown_path(one.step.path, context.workspace)
        if revised is None:
            said.append(f"They left {shown} as it was.")
            continue
        kept.append(plan_step(context, revised, one.told))
        diff = unified(shown, one.step.after, revised.after)
        said.append(f"From your text to what they wrote instead:\n{diff.text}".rstrip())
    if not said:
        return propose_plan(context, documents, plan)
    words = "The person changed this call before they allowed it. " + "\n".join(said)
    if not kept:
        return Proposal(_nothing_taken(words), plan.title)
    return propose_plan(context, documents, replace(plan, planned=tuple(kept), revised=words))


def _nothing_taken(words: str) -> Callable[[], Awaitable[ToolResult]]:
    async def run() -> ToolResult:
        text = f"Nothing was written. {words}"
        return ToolResult(text, is_error=True, summary="the person took nothing of it")

    return run


def _revised(step: Step, texts: Mapping[Path, str]) -> Step | None:
    """The step with a person's text; None where the file is to be left as it was."""
    if step.is_move and texts.get(step.document.path) == step.before:
        return None
    text = texts.get(step.path)
    if text is None or text == step.after:
        return step
    if text == ((not step.is_move and step.before) or ""):
        return None
    changes = None if step.before is None else changes_between(step.before, text)
    return replace(step, after=text, changes=changes)


def _result(plan: Plan, done: Done) -> ToolResult:
    """What came of it, which says first that it happened, or that it did not."""
    if done.failure:
        return ToolResult(done.failure, is_error=True, changes=done.changes)
    changes = {change.path: change for change in done.changes}
    told = [_told(one, changes) for one in plan.planned]
    if len(told) > 1:
        told = [f"Changed {len(told)} files:", *(f"- {line}" for line in told)]
    text = "\n".join([*told, *filter(None, [plan.revised])])
    counts = _counts(
        sum(one.diff.added for one in plan.planned), sum(one.diff.removed for one in plan.planned)
    )
    unsaved = next((change.unsaved for change in done.changes if change.unsaved), None)
    summary = f"{counts}, not saved: {unsaved}" if unsaved else counts
    return ToolResult(text, summary=summary, changes=done.changes)


def _told(one: Planned, changes: Mapping[Path, Change]) -> str:
    step = one.step
    message = f"{one.told}{_counts(one.diff.added, one.diff.removed)}."
    if one.note:
        message += f" {one.note}"
    change = changes.get(step.path) or changes.get(step.document.real)
    if change and change.unsaved:
        message += f" It is in the editor's buffer, not on disk yet, because {change.unsaved}."
    elif change and change.after != step.after:
        message += " The editor changed the text when it saved it: read it again."
    # A model seldom sees by itself what its rewrite has lost.
    shown = f"\n{truncate(one.diff.text, _SHOWN_CHARS)}" if one.is_shown else ""
    return message + shown.rstrip()


def _counts(added: int, removed: int) -> str:
    return f"+{added} −{removed}"
