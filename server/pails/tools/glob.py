"""The tool `glob`: files by a pattern of their names, listed by ripgrep."""

import asyncio
from pathlib import Path

from pydantic import Field

from pails.core.errors import ConfigurationError
from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_path
from pails.host.search import SearchOutput, run_search
from pails.policy.visible import visible_line
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

_LIST = ("--no-config", "--no-messages", "--files", "--null", "--path-separator=/")
_HIDDEN = ("--hidden", "--glob", "!.git")


class GlobParameters(Parameters):
    pattern: str = Field(
        min_length=1, max_length=MAX_GLOB_CHARS, description="such as *.py or src/**/*.{ts,tsx}"
    )
    path: PathOrWorkspace = Field(".", description="directory to search")


class GlobFiles(Tool[GlobParameters]):
    name = "glob"
    effect = Effect.READ
    parameters = GlobParameters

    def action(self, args: GlobParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Find {echoed(visible_line(args.pattern))} in {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,))

    async def propose(self, args: GlobParameters, context: CallContext) -> Proposal:
        return Proposal(lambda: self._run(args, context))

    async def _run(self, args: GlobParameters, context: CallContext) -> ToolResult:
        root = resolve_path(context, args.path)
        shown = shown_place(context, root)
        glob = compile_glob(args.pattern)
        hidden = _HIDDEN if glob.names_hidden else ()
        try:
            output = await run_search(
                (*_LIST, *hidden, "--sort", "path"), root, _SECONDS, _LIMIT_BYTES
            )
        except FileNotFoundError:
            return ToolResult(await missing_message(context, root), is_error=True)
        except NotADirectoryError:
            return ToolResult(f"{shown} is a file, not a directory.", is_error=True)
        except (OSError, ConfigurationError) as error:
            return ToolResult(f"Could not search: {error}", is_error=True)
        found = await asyncio.to_thread(_matching, output, glob)
        if not found:
            left_out = await _left_out(root, glob)
            pattern = echoed(args.pattern)
            return ToolResult(f"No file matches {pattern} in {shown}.{left_out}")
        lines = [shown_path(root / name, context.workspace) for name in found[:MAX_FILES]]
        if len(found) > MAX_FILES:
            lines.append(f"[{len(found) - MAX_FILES:,} of {len(found):,} files not shown]")
        if output.cut:
            lines.append("[the search was stopped early: there may be more]")
        return ToolResult("\n".join(lines), summary=counted(len(found), "file"))


def _matching(output: SearchOutput, glob: Glob) -> list[str]:
    names = output.stdout.decode("utf-8", "surrogateescape").split("\0")
    complete = names[:-1]  # behind the last NUL there is nothing, or a name that was cut off
    return [name for name in complete if glob.matches(name)]


async def _left_out(root: Path, glob: Glob) -> str:
    """How many files match among those that are hidden or ignored."""
    arguments = (*_LIST, *_HIDDEN, "--no-ignore")
    output = await run_search(arguments, root, _EVERYTHING_SECONDS, _LIMIT_BYTES)
    count = len(await asyncio.to_thread(_matching, output, glob))
    at_least = "at least " if output.cut else ""
    return f" Among hidden or ignored files: {at_least}{count}." if count or output.cut else ""
