"""The tools `move_path` and `delete_path`: files, links and folders as a whole."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_path
from pails.host import moving
from pails.host.paths import named_and_real
from pails.policy.paths import judge_paths, resolve
from pails.tools.files.document import Unwritten
from pails.tools.files.documents import Documents
from pails.tools.files.places import Leaf, Place, find_place, move, remove
from pails.tools.paths import (
    WORKSPACE_GONE,
    PathText,
    is_workspace_gone,
    missing_message,
    path_for_person,
    resolve_path,
)
from pails.tools.registry import CallContext, Parameters, Proposal, ProposedFile, Tool
from pails.tools.text.diff import unified

_LISTED = 100


class MovePathParameters(Parameters):
    path: PathText
    to: PathText = Field(description="the new path, name included")


class DeletePathParameters(Parameters):
    path: PathText
    recursive: bool = Field(False, description="also what is in the folder")


class MovePath(Tool[MovePathParameters]):
    name = "move_path"
    effect = Effect.WRITE
    parameters = MovePathParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: MovePathParameters, context: CallContext) -> Action:
        path, target = resolve_path(context, args.path), resolve_path(context, args.to)
        title = f"Move {path_for_person(context, path)} to {path_for_person(context, target)}"
        return Action(self.name, self.effect, title, (path,), (path, target))

    async def propose(
        self, args: MovePathParameters, context: CallContext
    ) -> Proposal | ToolResult:
        place = await _found(self._documents, context, resolve_path(context, args.path))
        if isinstance(place, ToolResult):
            return place
        target = resolve_path(context, args.to)
        wanted = await asyncio.to_thread(_planned, context, place, target)
        if isinstance(wanted, ToolResult):
            return wanted
        shown, there = (shown_path(each, context.workspace) for each in (place.path, target))

        async def run() -> ToolResult:
            if await is_workspace_gone(context):
                return _refused(WORKSPACE_GONE)
            moved = await move(self._documents, place, wanted.target, f"Move {shown}")
            if isinstance(moved, Unwritten):
                return ToolResult(moved.message, is_error=True)
            for leaf, path in wanted.leaves:
                if leaf.document and self._documents.knows(leaf.document):
                    self._documents.saw(path, leaf.document.text)
            text = f"Moved {shown} to {there}{_with_files(place)}."
            if wanted.links:
                text += await asyncio.to_thread(_lost_links, context, wanted)
            return ToolResult(text, summary=f"moved to {there}", changes=moved)

        text = self.action(args, context).title + _with_files(place)
        return Proposal(run, text, f"rename from {shown}\nrename to {there}\n")


@dataclass(frozen=True, slots=True)
class _Move:
    """A move that may be made, to the path `target`.

    `leaves` are those of the place with their new paths; `links` has by its new path what each
    link among them leads to, if that is anything.
    """

    target: Path
    leaves: tuple[tuple[Leaf, Path], ...]
    links: Mapping[Path, tuple[int, int]]


def _planned(context: CallContext, place: Place, target: Path) -> _Move | ToolResult:
    """The move of what stands there, or why it may not be made. Blocks."""
    there = shown_path(target, context.workspace)
    new_place = moving.new_place(place.path, target)
    if new_place is None:
        return _refused(f"{there} exists already, and nothing is moved onto anything.")
    if new_place.is_relative_to(place.path) and new_place != place.path:
        return _refused(f"{there} is inside of what is to be moved.")
    leaves = [(leaf, new_place / leaf.path.relative_to(place.path)) for leaf in place.leaves]
    refusal = _guarded(context, place, [path for _, path in leaves])
    if refusal:
        return refusal
    led = {path: moving.led_to(leaf.path) for leaf, path in leaves if leaf.document is None}
    links = {path: end for path, end in led.items() if end is not None}
    return _Move(new_place, tuple(leaves), links)


def _lost_links(context: CallContext, moved: _Move) -> str:
    """A sentence about the links that do not lead where they did. Blocks."""
    lost = [path for path, end in moved.links.items() if moving.led_to(path) != end]
    if not lost:
        return ""
    names = ", ".join(shown_path(path, context.workspace) for path in lost[:_LISTED])
    more = f" and {len(lost) - _LISTED} more" if len(lost) > _LISTED else ""
    return (
        f"\nThese links are relative and no longer lead where they did: {names}{more}. Mend them "
        "with run_command."
    )


class DeletePath(Tool[DeletePathParameters]):
    name = "delete_path"
    effect = Effect.WRITE
    parameters = DeletePathParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: DeletePathParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Delete {path_for_person(context, path)}"
        if args.recursive:
            title += " with all that is in it"
        return Action(self.name, self.effect, title, writes=(path,), final=args.recursive)

    async def propose(
        self, args: DeletePathParameters, context: CallContext
    ) -> Proposal | ToolResult:
        place = await _found(self._documents, context, resolve_path(context, args.path))
        if isinstance(place, ToolResult):
            return place
        shown = shown_path(place.path, context.workspace)
        is_empty = not place.leaves and not place.below.folders
        if place.is_folder and not is_empty and not args.recursive:
            return _refused(
                f"{shown} is a folder{_with_files(place)}: set recursive to delete all."
            )
        refusal = await asyncio.to_thread(_guarded, context, place, [])
        if refusal:
            return refusal

        async def run() -> ToolResult:
            gone, failure = await remove(self._documents, place, f"Delete {shown}")
            if failure:
                left = f" Gone by now: {counted(len(gone), 'file')}." if gone else ""
                return ToolResult(failure.message + left, is_error=True, changes=gone)
            return ToolResult(
                f"Deleted {shown}{_with_files(place)}.", summary="deleted", changes=gone
            )

        text = self.action(args, context).title + _listed(context, place)
        diff, files = "", ()
        if not place.is_folder and (document := place.leaves[0].document):
            diff = (await asyncio.to_thread(unified, shown, document.text, None)).text
            files = (ProposedFile(place.path, document.text, None),)
        return Proposal(run, text, diff, files)


async def _found(documents: Documents, context: CallContext, path: Path) -> Place | ToolResult:
    """What stands at the path, if it may be moved or deleted as a whole."""
    named, _ = await asyncio.to_thread(named_and_real, path)
    if context.workspace.is_relative_to(named):
        return _refused("This is the workspace itself, or holds it.")
    place = await find_place(documents, path)
    if isinstance(place, Unwritten):
        exists = await asyncio.to_thread(moving.kind_of, named)
        return _refused(place.message if exists else await missing_message(context, path))
    return place


def _guarded(context: CallContext, place: Place, new: list[Path]) -> ToolResult | None:
    """Refuse a folder as a whole when each write of something in it would ask, or be denied.

    The gate has judged the folder alone. Blocks, since links are followed.
    """
    if not place.is_folder:
        return None
    paths = (*(leaf.path for leaf in place.leaves), *new)
    touched = Action("", Effect.WRITE, "", writes=paths)
    decision = judge_paths(resolve(touched, context.workspace), ())
    if decision.verdict == "allow":
        return None
    return _refused(
        f"{decision.reason.rstrip('.')}. Leave the folder, or take its other files one by one."
    )


def _refused(message: str) -> ToolResult:
    return ToolResult(f"{message} Nothing was done.", is_error=True)


def _with_files(place: Place) -> str:
    if not place.is_folder:
        return ""
    return f" with {counted(len(place.leaves), 'file')}"


def _listed(context: CallContext, place: Place) -> str:
    """All that goes with a folder, for the person."""
    if not place.is_folder:
        return ""
    names = [path_for_person(context, leaf.path) for leaf in place.leaves[:_LISTED]]
    more = len(place.leaves) - len(names)
    return "".join(f"\n{name}" for name in names) + (f"\nand {more} more files" if more > 0 else "")
