"""The tool `grep`: lines that match a pattern, found by ripgrep."""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from pails.context.truncation import truncate
from pails.core.errors import ConfigurationError
from pails.core.events import Effect
from pails.core.ports import Action, Editor, ToolResult
from pails.host import files
from pails.host.paths import normalized
from pails.host.search import SearchOutput, run_search
from pails.policy.names import is_secret
from pails.tools.files.unsaved import UnsavedTexts, buffers_below
from pails.tools.globs import MAX_GLOB_CHARS, Glob, compile_glob
from pails.tools.paths import (
    WORKSPACE_GONE,
    PathText,
    echoed,
    is_workspace_gone,
    missing_message,
    path_for_person,
    resolve_path,
    shown_place,
)
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.matches import Found, Keeps, Printed, parse_counts, parse_matches, parse_names

T = TypeVar("T")

_LIMIT_BYTES = 4_000_000
# In bytes, four times as many at most, it still is an argument that systems take.
_MAX_PATTERN_CHARS = 20_000
_REASON_CHARS = 500
_SHORT_BYTES = 32_768
_SECONDS = 20.0
# With so few matches it is worth saying how many hidden or ignored files would match.
_FEW = 3
_SECONDS_AFTER_FEW = 0.5
_SECONDS_AFTER_NONE = 2.0
# In a large tree the one search is enough of a wait.
_LONG_SECONDS = 0.05
_SHARE_AFTER_LONG = 0.1
_ERROR_CODE = 2
_BRACES_AS_RIPGREP_READS_THEM = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*)*")


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


class GrepParameters(Parameters):
    pattern: PatternText = Field(description="regular expression (Rust syntax)")
    path: PathText = Field(".", description="file or directory")
    glob: GlobText | None = Field(None, description="only such files: *.py, src/**")
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
        try:
            return await self._search(_Search(args, context, root, glob, unsaved))
        finally:
            await unsaved.close()

    async def _search(self, search: "_Search") -> ToolResult:
        context = search.context
        if await asyncio.to_thread(files.is_special, search.root):
            where = shown_place(context, search.root)
            return ToolResult(
                f"{where} is not a regular file. Nothing was searched.", is_error=True
            )
        try:
            printed, seconds = await self._matches(search)
            found = await _parsed(parse_matches, printed, search.keeps)
            output = printed.disk
            if output.cut and not output.timed_out:
                found = await search.counted(found)
            left_out = await search.left_out(found, seconds) if found.matches <= _FEW else ""
        except (OSError, ConfigurationError) as error:
            gone = await is_workspace_gone(context)
            text = WORKSPACE_GONE if gone else f"Could not search: {error}"
            return ToolResult(text, is_error=True)
        if found.matches or found.lines:
            buffers = _from_buffers(found, printed)
            notes = [note for note in (found.note, _stopped(output), buffers, left_out) if note]
            text = "\n".join((*found.lines, *(f"[{note}]" for note in notes)))
            return ToolResult(text, summary=f"{found.matches} matches in {len(found.files)} files")
        return await self._nothing(search, output, left_out)

    async def _matches(self, search: "_Search") -> tuple[Printed, float]:
        """What ripgrep prints, and the seconds that it took.

        It sorts with one thread only. Without that the order is ours to make, but of an output that
        was cut it would be a matter of chance which files are in it.
        """
        options = ("--json", "-C", str(search.args.context))
        started = time.monotonic()
        if self._takes_long:
            printed = await search.run(*options)
            if not printed.disk.cut or printed.disk.timed_out:
                return printed, time.monotonic() - started
        printed = await search.run(*options, "--sort", "path")
        seconds = time.monotonic() - started
        self._takes_long = self._takes_long or seconds > _LONG_SECONDS
        return printed, seconds

    async def _nothing(self, search: "_Search", output: SearchOutput, left_out: str) -> ToolResult:
        args, context = search.args, search.context
        if output.exit_code == _ERROR_CODE and output.stderr:
            reason = truncate(output.stderr.decode(errors="replace").strip(), _REASON_CHARS)
            return ToolResult(
                f"{reason}\nTo search for the text itself set literal.", is_error=True
            )
        if not search.unsaved and not await asyncio.to_thread(files.exists, search.root):
            return ToolResult(await missing_message(context, search.root), is_error=True)
        where = shown_place(context, search.root) + (f" ({echoed(args.glob)})" if args.glob else "")
        ending = "".join(f" {note}." for note in (_stopped(output), left_out) if note)
        pattern = echoed(repr(args.pattern))
        return ToolResult(f"No matches for {pattern} in {where}.{ending}")


async def _parsed(parse: Callable[[Printed, Keeps], T], printed: Printed, keeps: Keeps) -> T:
    """What an output says. A thread for a short one would cost more than reading it."""
    if len(printed.disk.stdout) <= _SHORT_BYTES and printed.unsaved is None:
        return parse(printed, keeps)
    return await asyncio.to_thread(parse, printed, keeps)


def _from_buffers(found: Found, printed: Printed) -> str:
    names = sorted(found.files & printed.unsaved_paths)
    return f"as the editor has it, not as on disk: {', '.join(names)}" if names else ""


def _stopped(output: SearchOutput) -> str:
    return f"stopped after {_SECONDS:.0f} s: there may be more" if output.timed_out else ""


@dataclass(frozen=True, slots=True)
class _Search:
    """One call's search, which may take several runs of ripgrep."""

    args: GrepParameters
    context: CallContext
    root: Path
    glob: Glob | None
    unsaved: UnsavedTexts

    async def run(self, *options: str, seconds: float = _SECONDS) -> Printed:
        """Search the disk and, at the same time, the open documents that differ from it."""
        workspace, target = self.context.workspace, self._target()
        on_disk = run_search(self._arguments(options, target), workspace, seconds, _LIMIT_BYTES)
        if not self.unsaved:
            return Printed(await on_disk)
        disk, printed = await asyncio.gather(on_disk, self._in_buffers(options, seconds))
        return printed(disk)

    async def _in_buffers(
        self, options: Sequence[str], seconds: float
    ) -> Callable[[SearchOutput], Printed]:
        shadow = await self.unsaved.shadow()
        if shadow is None:
            return Printed
        workspace, target, root = self.context.workspace, self._target(), ""
        folder = shadow.place(workspace)
        if not self.root.is_relative_to(workspace):
            folder, target, root = shadow.root, str(shadow.place(self.root)), str(shadow.root)
        output = await run_search(self._arguments(options, target), folder, seconds, _LIMIT_BYTES)
        paths = frozenset(self._printed(path) for path in shadow.paths)
        return lambda disk: Printed(disk, output, paths, root)

    def _printed(self, path: Path) -> str:
        """A path that was found, as ripgrep prints it."""
        inside = self.root.is_relative_to(self.context.workspace)
        return (path.relative_to(self.context.workspace) if inside else path).as_posix()

    def _arguments(self, options: Sequence[str], target: str) -> Sequence[str]:
        args = self.args
        switches = {
            "--fixed-strings": args.literal,
            "--ignore-case": args.ignore_case,
            "--multiline": "\n" in args.pattern or (not args.literal and "\\n" in args.pattern),
            "--hidden": self.glob is not None and self.glob.names_hidden,
        }
        return (
            "--no-config",
            "--no-messages",
            "--path-separator=/",
            *(switch for switch, wanted in switches.items() if wanted),
            *self._narrowed(),
            *options,
            # `-e` and `--`: neither a pattern nor a path may pass for an option.
            "-e",
            args.pattern,
            "--",
            target,
        )

    def keeps(self, path: str) -> bool:
        """Whether the path (as ripgrep prints it) is one of the files asked for.

        What asks before it is read is left out, unless it is, or is in, the place that was named,
        for which the person was asked.
        """
        if is_secret(Path(path)) and not self._names_secret():
            return False
        if self.glob is None or self.glob.matches(path):
            return True
        target = self._target().removeprefix("./").rstrip("/")
        return bool(target) and self.glob.matches(path.removeprefix(target).lstrip("/"))

    def _names_secret(self) -> bool:
        root, workspace = normalized(self.root), self.context.workspace
        return root.is_relative_to(workspace) and is_secret(root.relative_to(workspace))

    async def counted(self, found: Found) -> Found:
        """The same lines with exact counts, for a search whose output was too much."""
        printed = await self.run("--count", "--null")
        counts = await _parsed(parse_counts, printed, self.keeps)
        return Found(found.lines, sum(counts.values()), frozenset(counts), found.shown)

    async def left_out(self, found: Found, seconds: float) -> str:
        """How many files match only among those that are hidden or ignored.

        A search that took long, `seconds`, is not made much longer by that.
        """
        options = ["--files-with-matches", "--null", "--hidden", "--no-ignore", "--glob=!.git"]
        if found.matches:
            options.append("--threads=1")  # starting more doubles the time in a small project
        limit = _SECONDS_AFTER_FEW if found.matches else _SECONDS_AFTER_NONE
        if seconds > _LONG_SECONDS:
            limit = min(limit, seconds * _SHARE_AFTER_LONG)
        printed = await self.run(*options, seconds=limit)
        count = len(await _parsed(parse_names, printed, self.keeps) - found.files)
        if not count:
            not_all = printed.disk.timed_out and not found.matches
            return "Hidden and ignored files were not all searched" if not_all else ""
        at_least = "at least " if printed.disk.cut else ""
        noun = "file matches" if count == 1 else "files match"
        return f"{at_least}{count} more {noun} among hidden or ignored ones; name their path"

    def _narrowed(self) -> tuple[str, ...]:
        """Let ripgrep skip files by name, as a type: unlike a glob that obeys the ignore files."""
        folder, _, name = (self.args.glob or "").rpartition("/")
        if not name or "**" in name or "{" in folder or any(char in name for char in ":[]!\\"):
            return ()
        if not _BRACES_AS_RIPGREP_READS_THEM.fullmatch(name):
            return ()
        return ("--type-add", f"asked:{name}", "--type", "asked")

    def _target(self) -> str:
        if not self.root.is_relative_to(self.context.workspace):
            return str(self.root)
        inside = self.root.relative_to(self.context.workspace).as_posix()
        return "./" if inside == "." else f"./{inside}"
