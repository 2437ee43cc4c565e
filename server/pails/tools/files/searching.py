"""A search by ripgrep: on the disk and, at the same time, in the open documents that differ."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pails.host.paths import normalized
from pails.host.search import SearchOutput, run_search
from pails.policy.names import is_secret
from pails.tools.files.unsaved import UnsavedTexts
from pails.tools.text.globs import Glob
from pails.tools.text.matches import Found, Keeps, Printed, parse_counts, parse_names

T = TypeVar("T")

MOST_SECONDS = 20.0
LONG_SECONDS = 0.05
"""In a tree that takes longer, the one search is enough of a wait."""

_SHARE_AFTER_LONG = 0.1
_SECONDS_AFTER_FEW = 0.5
_SECONDS_AFTER_NONE = 2.0
_LIMIT_BYTES = 4_000_000
_SHORT_BYTES = 32_768
_BRACES_AS_RIPGREP_READS_THEM = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*)*")


@dataclass(frozen=True, slots=True)
class Search:
    """One call's search, which may take several runs of ripgrep.

    `pattern` is plain text where `literal`, else a regular expression of ripgrep's. `root` is the
    absolute path of a file or folder, `workspace` that of the folder to which results are relative.
    """

    pattern: str
    literal: bool
    ignore_case: bool
    glob: Glob | None
    root: Path
    workspace: Path
    unsaved: UnsavedTexts

    async def run(self, *options: str, seconds: float = MOST_SECONDS) -> Printed:
        """Search the disk and, at the same time, the open documents that differ from it."""
        workspace, target = self.workspace, self._target()
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
        workspace, target, root = self.workspace, self._target(), ""
        folder = shadow.place(workspace)
        if not self.root.is_relative_to(workspace):
            folder, target, root = shadow.root, str(shadow.place(self.root)), str(shadow.root)
        output = await run_search(self._arguments(options, target), folder, seconds, _LIMIT_BYTES)
        paths = frozenset(self._printed(path) for path in shadow.paths)
        return lambda disk: Printed(disk, output, paths, root)

    def _printed(self, path: Path) -> str:
        """A path that was found, as ripgrep prints it."""
        inside = self.root.is_relative_to(self.workspace)
        return (path.relative_to(self.workspace) if inside else path).as_posix()

    def _arguments(self, options: Sequence[str], target: str) -> Sequence[str]:
        switches = {
            "--fixed-strings": self.literal,
            "--ignore-case": self.ignore_case,
            "--multiline": "\n" in self.pattern or (not self.literal and "\\n" in self.pattern),
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
            self.pattern,
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
        root, workspace = normalized(self.root), self.workspace
        return root.is_relative_to(workspace) and is_secret(root.relative_to(workspace))

    async def with_exact_counts(self, found: Found) -> Found:
        """The same lines with exact counts, for a search whose output was too much."""
        printed = await self.run("--count", "--null")
        counts = await parsed(parse_counts, printed, self.keeps)
        return Found(found.lines, sum(counts.values()), frozenset(counts), found.shown)

    async def left_out(self, found: Found, seconds: float) -> str:
        """How many files match only among those that are hidden or ignored.

        A search that took long, `seconds`, is not made much longer by that.
        """
        options = ["--files-with-matches", "--null", "--hidden", "--no-ignore", "--glob=!.git"]
        if found.matches:
            options.append("--threads=1")  # starting more doubles the time in a small project
        limit = _SECONDS_AFTER_FEW if found.matches else _SECONDS_AFTER_NONE
        if seconds > LONG_SECONDS:
            limit = min(limit, seconds * _SHARE_AFTER_LONG)
        printed = await self.run(*options, seconds=limit)
        count = len(await parsed(parse_names, printed, self.keeps) - found.files)
        if not count:
            not_all = printed.disk.timed_out and not found.matches
            return "Hidden and ignored files were not all searched" if not_all else ""
        at_least = "at least " if printed.disk.cut else ""
        noun = "file matches" if count == 1 else "files match"
        return f"{at_least}{count} more {noun} among hidden or ignored ones; name their path"

    def _narrowed(self) -> tuple[str, ...]:
        """Let ripgrep skip files by name, as a type: unlike a glob that obeys the ignore files."""
        folder, _, name = (self.glob.pattern if self.glob else "").rpartition("/")
        if not name or "**" in name or "{" in folder or any(char in name for char in ":[]!\\"):
            return ()
        if not _BRACES_AS_RIPGREP_READS_THEM.fullmatch(name):
            return ()
        return ("--type-add", f"asked:{name}", "--type", "asked")

    def _target(self) -> str:
        if not self.root.is_relative_to(self.workspace):
            return str(self.root)
        inside = self.root.relative_to(self.workspace).as_posix()
        return "./" if inside == "." else f"./{inside}"


async def parsed(parse: Callable[[Printed, Keeps], T], printed: Printed, keeps: Keeps) -> T:
    """What an output says. A thread for a short one would cost more than reading it."""
    if len(printed.disk.stdout) <= _SHORT_BYTES and printed.unsaved is None:
        return parse(printed, keeps)
    return await asyncio.to_thread(parse, printed, keeps)
