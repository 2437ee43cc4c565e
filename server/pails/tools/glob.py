"""The tool `glob`: files by a pattern of their names, listed by ripgrep.

What the person has written and not saved yet is a file too, though only the editor has it.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from pails.core.errors import ConfigurationError
from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, Editor, ToolResult
from pails.core.text import shown_path
from pails.host.paths import normalized
from pails.host.search import LIST_FILES, SearchOutput, run_search
from pails.policy.visible import visible_line
from pails.tools.files.unsaved import UnsavedTexts, buffers_below
from pails.tools.paths import (
    PathOrWorkspace,
    echoed,
    missing_message,
    path_for_person,
    resolve_path,
    shown_place,
)
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.globs import MAX_GLOB_CHARS, Glob, compile_glob

MAX_FILES = 500
_LIMIT_BYTES = 50_000_000
_SECONDS = 20.0
# How long to look among hidden and ignored files, which may be very many.
_EVERYTHING_SECONDS = 2.0

_HIDDEN = ("--hidden", "--glob", "!.git")
_NOTHING = SearchOutput(0, b"", b"")


class GlobParameters(Parameters):
    pattern: str = Field(
        min_length=1, max_length=MAX_GLOB_CHARS, description="such as *.py or src/**/*.{ts,tsx}"
    )
    path: PathOrWorkspace = Field(".", description="directory to search")


class GlobFiles(Tool[GlobParameters]):
    name = "glob"
    effect = Effect.READ
    parameters = GlobParameters

    def __init__(self, editor: Editor | None = None) -> None:
        self._editor = editor

    def action(self, args: GlobParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Find {echoed(visible_line(args.pattern))} in {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,))

    async def propose(self, args: GlobParameters, context: CallContext) -> Proposal:
        return Proposal(lambda: self._run(args, context))

    async def _run(self, args: GlobParameters, context: CallContext) -> ToolResult:
        root = resolve_path(context, args.path)
        unsaved = UnsavedTexts(buffers_below(self._editor, root))
        try:
            return await _search(args, context, root, unsaved)
        except FileNotFoundError:
            return ToolResult(await missing_message(context, root), is_error=True)
        except NotADirectoryError:
            shown = shown_place(context, root)
            return ToolResult(f"{shown} is a file, not a directory.", is_error=True)
        except (OSError, ConfigurationError) as error:
            return ToolResult(f"Could not search: {error}", is_error=True)
        finally:
            await unsaved.close()


async def _search(
    args: GlobParameters, context: CallContext, root: Path, unsaved: UnsavedTexts
) -> ToolResult:
    glob = compile_glob(args.pattern)
    hidden = _HIDDEN if glob.names_hidden else ()
    disk, typed = await _listed((*LIST_FILES, *hidden, "--sort", "path"), root, unsaved)
    found = await asyncio.to_thread(_matching, disk, glob)
    new = sorted({*_matching(typed, glob)}.difference(found))
    if not (found or new):
        left_out = await _left_out(root, glob)
        pattern = echoed(args.pattern)
        return ToolResult(f"No file matches {pattern} in {shown_place(context, root)}.{left_out}")
    if new:
        found = sorted((*found, *new), key=lambda name: name.split("/"))
    lines = [shown_path(root / name, context.workspace) for name in found[:MAX_FILES]]
    if len(found) > MAX_FILES:
        lines.append(f"[{len(found) - MAX_FILES:,} of {len(found):,} files not shown]")
    if disk.cut:
        lines.append("[the search was stopped early: there may be more]")
    elif new:
        names = ", ".join(shown_path(root / name, context.workspace) for name in new)
        lines.append(f"[in the editor only, not saved yet: {names}]")
    return ToolResult("\n".join(lines), summary=counted(len(found), "file"))


async def _listed(
    arguments: Sequence[str], root: Path, unsaved: UnsavedTexts
) -> tuple[SearchOutput, SearchOutput]:
    """What ripgrep lists on the disk, and of the open documents that differ from it.

    Raises what `run_search` does; `FileNotFoundError` only if neither knows the folder.
    """
    shadow = await unsaved.shadow() if unsaved else None
    if shadow is None:
        return await run_search(arguments, root, _SECONDS, _LIMIT_BYTES), _NOTHING
    place = shadow.place(normalized(root))
    typed = await run_search(arguments, place, _SECONDS, _LIMIT_BYTES)
    try:
        return await run_search(arguments, root, _SECONDS, _LIMIT_BYTES), typed
    except FileNotFoundError:
        return _NOTHING, typed


def _matching(output: SearchOutput, glob: Glob) -> list[str]:
    names = output.stdout.decode("utf-8", "surrogateescape").split("\0")
    complete = names[:-1]  # behind the last NUL there is nothing, or a name that was cut off
    return [name for name in complete if glob.matches(name)]


async def _left_out(root: Path, glob: Glob) -> str:
    """How many files match among those that are hidden or ignored."""
    arguments = (*LIST_FILES, *_HIDDEN, "--no-ignore")
    try:
        output = await run_search(arguments, root, _EVERYTHING_SECONDS, _LIMIT_BYTES)
    except FileNotFoundError:  # only the editor has the folder
        return ""
    count = len(await asyncio.to_thread(_matching, output, glob))
    at_least = "at least " if output.cut else ""
    return f" Among hidden or ignored files: {at_least}{count}." if count or output.cut else ""
