"""The tool `read_file`: numbered lines, a page at a time; of a notebook its cells."""

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from pails.core.events import Effect
from pails.core.numbers import counted, shown_size
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_path
from pails.host.encodings import BinaryFile
from pails.host.files import reason
from pails.host.large_text import text_pieces
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from pails.tools.paths import PathText, path_for_person, resolve_path, unreadable_message
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.cell_view import cells_as_text
from pails.tools.text.cells import NoNotebook, is_notebook, parse_notebook
from pails.tools.text.pages import PAGE_LINES, Extract, Page, read_page, read_page_of_pieces

# Larger texts are split into lines outside of the event loop.
_LARGE_CHARS = 200_000


def _from_one(line: object) -> object:
    """Models also count lines from 0."""
    return 1 if line in (0, "0") else line


class ReadFileParameters(Parameters):
    path: PathText
    offset: Annotated[int, BeforeValidator(_from_one)] = Field(1, ge=1, description="first line")
    limit: int = Field(PAGE_LINES, ge=1, description="number of lines")
    column: int = Field(1, ge=1, description="for a line that was cut: where to go on in it")
    raw: bool = Field(False, description="a notebook as its JSON")


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
        document = await self._documents.read_for_model(path)
        if isinstance(document, Unreadable):
            if document.reason == "too large":
                return await asyncio.to_thread(_read_large, path, args, context.workspace)
            text = await unreadable_message(context, path, document)
            if document.reason == "directory":
                text += " Use list_dir."
            return ToolResult(text, is_error=True)
        if len(document.text) > _LARGE_CHARS:
            return await asyncio.to_thread(_read, document, args)
        return _read(document, args)


def _read(document: Document, args: ReadFileParameters) -> ToolResult:
    """The wanted part of a document."""
    text, notes = document.text, _notes(document)
    if is_notebook(document.path) and text and not args.raw:
        notebook = parse_notebook(text)
        if isinstance(notebook, NoNotebook):
            notes.append(f"shown as text: it {notebook.message}")
        else:
            text = cells_as_text(notebook)
            notes.append(notebook.described)
    return _result(notes, read_page(text, _extract(args)))


def _read_large(path: Path, args: ReadFileParameters, workspace: Path) -> ToolResult:
    """The wanted part of a file that is too large to be held. Blocks."""
    shown = shown_path(path, workspace)
    try:
        with text_pieces(path) as found:
            if isinstance(found, BinaryFile):
                text = f"{shown} is binary: {found.size:,} bytes, {found.kind}."
                return ToolResult(text, is_error=True)
            notes = [*_encoding_notes(found.encoding), "too large to be edited"]
            extent = f"a file of {shown_size(found.size)}"
            page = read_page_of_pieces(found.pieces, _extract(args), found.line_end, extent)
            return _result(notes, page)
    except OSError as error:
        return ToolResult(f"{shown} cannot be read: {reason(error)}.", is_error=True)


def _extract(args: ReadFileParameters) -> Extract:
    return Extract(args.offset, args.limit, args.column)


def _result(notes: list[str], page: Page) -> ToolResult:
    notes = [*notes, *page.notes]
    header = f"[{'; '.join(notes)}]\n" if notes else ""
    summary = counted(page.lines, "line")
    return ToolResult(header + page.text, is_error=page.is_error, summary=summary)


def _notes(document: Document) -> list[str]:
    notes: list[str] = []
    if document.dirty:
        notes.append("as the editor has it, not as on disk")
    stored = document.stored
    if stored is not None:
        notes += _encoding_notes(stored.encoding)
    if stored is not None and not stored.exact:
        notes.append("some bytes are broken and show as \ufffd; it cannot be edited")
    return notes


def _encoding_notes(encoding: str) -> list[str]:
    return [] if encoding == "utf-8" else [f"encoding {encoding}"]
