"""The tool `grep`: lines that match a pattern, found by ripgrep."""

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from pails.context.truncation import truncate
from pails.core.errors import ConfigurationError
from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, Editor, ToolResult
from pails.host import files
from pails.host.search import SearchOutput
from pails.tools.files.searching import LONG_SECONDS, MOST_SECONDS, Search, parsed
from pails.tools.files.unsaved import UnsavedTexts, buffers_below
from pails.tools.paths import (
    WORKSPACE_GONE,
    PathOrWorkspace,
    echoed,
    is_workspace_gone,
    missing_message,
    path_for_person,
    resolve_path,
    shown_place,
)
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.globs import MAX_GLOB_CHARS, compile_glob
from pails.tools.text.matches import Found, Printed, parse_matches

# In bytes, four times as many at most, it still is an argument that systems take.
_MAX_PATTERN_CHARS = 20_000
_REASON_CHARS = 500
# With so few matches it is worth saying how many hidden or ignored files would match.
_FEW = 3
_ERROR_CODE = 2


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character; in a regular expression write \\x00")
    return text


PatternText = Annotated[
    str, Field(min_length=1, max_length=_MAX_PATTERN_CHARS), AfterValidator(_without_nul)
]
GlobText = Annotated[
    str, Field(min_length=1, max_length=MAX_GLOB_CHARS), AfterValidator(_without_nul)
]
GlobOrAll = Annotated[GlobText | None, BeforeValidator(lambda glob: None if glob == "" else glob)]


class GrepParameters(Parameters):
    pattern: PatternText = Field(description="regular expression (Rust syntax)")
    path: PathOrWorkspace = Field(".", description="file or directory")
    glob: GlobOrAll = Field(None, description="only such files: *.py, src/**")
    literal: bool = Field(False, description="pattern is plain text")
    ignore_case: bool = False
    context: int = Field(0, ge=0, le=20, description="lines around each match")


class Grep(Tool[GrepParameters]):
    name = "grep"
    effect = Effect.READ
    parameters = GrepParameters

    def __init__(self, editor: Editor | None = None) -> None:
        self._editor = editor
        self._takes_long = False
        """Whether searches take so long here that it pays to start more threads for one."""

    def action(self, args: GrepParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Search {echoed(repr(args.pattern))} in {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,))

    async def propose(self, args: GrepParameters, context: CallContext) -> Proposal:
        return Proposal(lambda: self._run(args, context))

    async def _run(self, args: GrepParameters, context: CallContext) -> ToolResult:
        glob = None if args.glob is None else compile_glob(args.glob)
        root = resolve_path(context, args.path)
        unsaved = UnsavedTexts(buffers_below(self._editor, root))
        search = Search(
            args.pattern, args.literal, args.ignore_case, glob, root, context.workspace, unsaved
        )
        try:
            return await self._search(args, context, search)
        finally:
            await unsaved.close()

    async def _search(
        self, args: GrepParameters, context: CallContext, search: Search
    ) -> ToolResult:
        if await asyncio.to_thread(files.is_special, search.root):
            where = shown_place(context, search.root)
            return ToolResult(
                f"{where} is not a regular file. Nothing was searched.", is_error=True
            )
        try:
            printed, seconds = await self._matches(search, args.context)
            found = await parsed(parse_matches, printed, search.keeps)
            output = printed.disk
            if output.cut and not output.timed_out:
                found = await search.with_exact_counts(found)
            left_out = await search.left_out(found, seconds) if found.matches <= _FEW else ""
        except (OSError, ConfigurationError) as error:
            gone = await is_workspace_gone(context)
            text = WORKSPACE_GONE if gone else f"Could not search: {error}"
            return ToolResult(text, is_error=True)
        if found.matches or found.lines:
            buffers = _from_buffers(found, printed)
            notes = [note for note in (found.note, _stopped(output), buffers, left_out) if note]
            text = "\n".join((*found.lines, *(f"[{note}]" for note in notes)))
            matches = counted(found.matches, "match", "matches")
            return ToolResult(text, summary=f"{matches} in {counted(len(found.files), 'file')}")
        notes = [note for note in (_stopped(output), left_out) if note]
        return await _nothing(args, context, search, output, notes)

    async def _matches(self, search: Search, around: int) -> tuple[Printed, float]:
        """What ripgrep prints, with so many lines around each match, and the seconds that it took.

        It sorts with one thread only. Without that the order is ours to make, but of an output that
        was cut it would be a matter of chance which files are in it.
        """
        options = ("--json", "-C", str(around))
        started = time.monotonic()
        if self._takes_long:
            printed = await search.run(*options)
            if not printed.disk.cut or printed.disk.timed_out:
                return printed, time.monotonic() - started
        printed = await search.run(*options, "--sort", "path")
        seconds = time.monotonic() - started
        self._takes_long = self._takes_long or seconds > LONG_SECONDS
        return printed, seconds


async def _nothing(
    args: GrepParameters,
    context: CallContext,
    search: Search,
    output: SearchOutput,
    notes: Sequence[str],
) -> ToolResult:
    """Why there are no matches."""
    if output.exit_code == _ERROR_CODE and output.stderr:
        reason = truncate(output.stderr.decode(errors="replace").strip(), _REASON_CHARS)
        return ToolResult(f"{reason}\nTo search for the text itself set literal.", is_error=True)
    if not search.unsaved and not await asyncio.to_thread(files.exists, search.root):
        return ToolResult(await missing_message(context, search.root), is_error=True)
    where = shown_place(context, search.root) + (f" ({echoed(args.glob)})" if args.glob else "")
    ending = "".join(f" {note}." for note in notes)
    return ToolResult(f"No matches for {echoed(repr(args.pattern))} in {where}.{ending}")


def _from_buffers(found: Found, printed: Printed) -> str:
    names = sorted(found.files & printed.unsaved_paths)
    return f"as the editor has it, not as on disk: {', '.join(names)}" if names else ""


def _stopped(output: SearchOutput) -> str:
    return f"stopped after {MOST_SECONDS:.0f} s: there may be more" if output.timed_out else ""
