"""The tool `read_file`: numbered lines, a page at a time."""

import asyncio
from dataclasses import dataclass

from pydantic import Field

from pails.core.events import Effect
from pails.core.ports import Action, ToolResult
from pails.core.text import safe_cut
from pails.tools.documents import Document, Documents, Unreadable
from pails.tools.lines import numbered_lines
from pails.tools.paths import PathText, path_for_person, resolve_path, unreadable_message
from pails.tools.registry import CallContext, Parameters, Proposal, Tool

PAGE_LINES = 2000
PAGE_CHARS = 30_000
LINE_CHARS = 2000
# Larger texts are split into lines outside of the event loop.
_LARGE_CHARS = 200_000


class ReadFileParameters(Parameters):
    path: PathText
    offset: int = Field(1, ge=1, description="first line")
    limit: int = Field(PAGE_LINES, ge=1, description="number of lines")
    column: int = Field(1, ge=1, description="for a line that was cut: where to go on in it")


class ReadFile(Tool[ReadFileParameters]):
    name = "read_file"
    effect = Effect.READ
    parameters = ReadFileParameters

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def action(self, args: ReadFileParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"Read {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,))

    async def propose(self, args: ReadFileParameters, context: CallContext) -> Proposal:
        return Proposal(lambda: self._run(args, context))

    async def _run(self, args: ReadFileParameters, context: CallContext) -> ToolResult:
        path = resolve_path(context, args.path)
        document = await self._documents.read(path)
        if isinstance(document, Unreadable):
            text = await unreadable_message(context, path, document)
            return ToolResult(text + _INSTEAD.get(document.reason, ""), is_error=True)
        if len(document.text) > _LARGE_CHARS:
            page = await asyncio.to_thread(read_page, document.text, args)
        else:
            page = read_page(document.text, args)
        notes = [*_notes(document), *page.notes]
        header = f"[{'; '.join(notes)}]\n" if notes else ""
        summary = f"{page.lines} lines" if page.lines != 1 else "1 line"
        return ToolResult(header + page.text, is_error=page.is_error, summary=summary)


_INSTEAD = {
    "directory": " Use list_dir.",
    "too large": " Search it with grep, or read a part with run_command.",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text: numbered lines, how many, and what a reader should know about it."""

    text: str
    lines: int = 0
    notes: tuple[str, ...] = ()
    is_error: bool = False


def read_page(text: str, args: ReadFileParameters) -> Page:
    """The lines that `args` asks for, as many as fit; notes say how to go on."""
    if not text:
        return Page("", notes=("empty file",))
    lines = numbered_lines(text)
    if args.offset > len(lines):
        return Page("", notes=(f"no line {args.offset}: {_extent(lines, text)}",), is_error=True)
    if args.column > 1:
        return _part_of_line(lines, args.offset, args.column)
    shown: list[str] = []
    room = PAGE_CHARS
    last = min(len(lines), args.offset - 1 + args.limit)
    for number in range(args.offset, last + 1):
        line = _numbered(number, lines[number - 1])
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    end = args.offset + len(shown) - 1
    notes: tuple[str, ...] = ()
    if args.offset > 1 or end < len(lines):
        going_on = f"; next: offset={end + 1}" if end < len(lines) else ""
        notes = (f"lines {args.offset}-{end} of {_extent(lines, text)}{going_on}",)
    return Page("\n".join(shown), len(shown), notes)


def _numbered(number: int, line: str) -> str:
    if len(line) <= LINE_CHARS:
        return f"{number}\t{line}"
    cut = safe_cut(line, LINE_CHARS)
    rest = f"… [{len(line):,} characters; next: offset={number} column={cut + 1}]"
    return f"{number}\t{line[:cut]}{rest}"


def _part_of_line(lines: list[str], number: int, column: int) -> Page:
    """One long line from `column` on."""
    line = lines[number - 1]
    if column > len(line):
        note = f"line {number} has {len(line):,} characters, no column {column}"
        return Page("", notes=(note,), is_error=True)
    end = safe_cut(line, column - 1 + PAGE_CHARS)
    note = f"line {number} of {len(lines)}, columns {column}-{end} of {len(line):,}"
    if end < len(line):
        note += f"; next: offset={number} column={end + 1}"
    elif number < len(lines):
        note += f"; next: offset={number + 1}"
    return Page(f"{number}\t{line[column - 1 : end]}", 1, (note,))


def _extent(lines: list[str], text: str) -> str:
    return f"{len(lines):,} lines, {len(text):,} characters"


def _notes(document: Document) -> list[str]:
    notes: list[str] = []
    if document.dirty:
        notes.append("unsaved text from the editor, not yet on disk")
    stored = document.stored
    if stored is not None and stored.encoding != "utf-8":
        notes.append(f"encoding {stored.encoding}")
    if stored is not None and not stored.exact:
        notes.append("some bytes are not UTF-8 and show as \ufffd; it cannot be edited")
    return notes
