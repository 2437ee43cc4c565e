"""Carrying out the plan of a rewind: open documents through the editor, all else on the disk.

On the disk each file has its turn among all that write files, so neither a tool of another session
nor another rewind writes between the last look at a file and its change.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pails.host.encodings import TextFile, decode
from pails.session.answered import answered
from pails.snapshots.restore import Failure, apply_plan
from pails.snapshots.rewind import RewindPlan, Step
from pails.tools.files.document import BOM, Document, Unwritten
from pails.tools.files.documents import Documents
from pails.tools.files.writers import Busy, WriterLock

_LABEL = "Rewind"
_BUSY = "another process is writing it and does not come to an end"
_TOGETHER = 50
"""So many files are locked at once."""


async def carry_out(
    plan: RewindPlan, workspace: Path, documents: Documents, opened: Mapping[Path, Document]
) -> list[Failure]:
    """Do what can be done; the rest is returned with its reasons. `opened` are by real path."""
    failures: list[Failure] = []
    on_disk: list[Step] = []
    for step in plan.steps:
        document = opened.get(workspace / step.path)
        if document is None or not _is_for_editor(step):
            on_disk.append(step)
        elif (failure := await _write_document(step, document, documents)) is not None:
            failures.append(failure)
    rest = replace(plan, steps=tuple(on_disk))
    failures += await _apply_on_disk(rest, workspace, documents)
    _clear_problems(plan, failures, workspace, documents)
    return failures


def _is_for_editor(step: Step) -> bool:
    """A buffer that outlived its file gets only the file back."""
    return step.action == "write" and step.expected is not None


async def _write_document(step: Step, document: Document, documents: Documents) -> Failure | None:
    """Write an open document through the editor; why not, if it was not."""
    text = _text_as_stored(step.data, document.stored)
    if text is None:
        return Failure(step.path, "it is not text in the version before")
    written = await answered(documents.write(document, text, _LABEL))
    return Failure(step.path, written.message) if isinstance(written, Unwritten) else None


def _text_as_stored(data: bytes, stored: TextFile | None) -> str | None:
    """The text of a file's version, which is stored as this one if it can be; None for no text."""
    if stored is not None:
        with suppress(UnicodeDecodeError):
            return data.decode(stored.encoding).removeprefix(BOM)
    found = decode(data)
    return found.text if isinstance(found, TextFile) and found.exact else None


def _clear_problems(
    plan: RewindPlan, failures: Sequence[Failure], workspace: Path, documents: Documents
) -> None:
    """The syntax errors that the editor shows are those of a text that is gone."""
    failed = {failure.path for failure in failures}
    if documents.editor is not None:
        for step in plan.steps:
            if step.path not in failed:
                documents.editor.publish(workspace / step.path, None, ())


async def _apply_on_disk(plan: RewindPlan, workspace: Path, documents: Documents) -> list[Failure]:
    """A few files at a time."""
    failures: list[Failure] = []
    for portion in _portions(plan):
        async with AsyncExitStack() as stack:
            locks = {
                path: await stack.enter_async_context(documents.writers.turn(workspace / path))
                for path in sorted(step.path for step in portion.steps)
            }
            failures += await asyncio.to_thread(_apply, portion, workspace, locks, documents)
    return failures


def _portions(plan: RewindPlan) -> Iterator[RewindPlan]:
    """A folder may stand where a file is to be, or the other way round, so it is all in order."""
    deletes = [step for step in plan.steps if step.action == "delete"]
    others = [step for step in plan.steps if step.action != "delete"]
    yield from (replace(plan, steps=steps, folders=()) for steps in _few(deletes))
    yield replace(plan, steps=())
    yield from (replace(plan, steps=steps, folders=()) for steps in _few(others))


def _few(steps: list[Step]) -> Iterator[tuple[Step, ...]]:
    rest = iter(steps)
    while few := tuple(islice(rest, _TOGETHER)):
        yield few


def _apply(
    plan: RewindPlan,
    workspace: Path,
    locks: dict[str, WriterLock],
    documents: Documents,
) -> list[Failure]:
    """Blocks."""
    busy: list[Failure] = []
    for path, lock in locks.items():
        try:
            lock.take()
        except Busy:
            busy.append(Failure(path, _BUSY))
    blocked = {failure.path for failure in busy}
    steps = tuple(step for step in plan.steps if step.path not in blocked)
    failures = [*busy, *apply_plan(replace(plan, steps=steps), workspace)]
    failed = {failure.path for failure in failures}
    for step in steps:
        if step.path not in failed:
            documents.note(locks[step.path], _LABEL, _text_behind(step))
    return failures


def _text_behind(step: Step) -> str | None:
    """What the file holds after it; None where it is gone, "" where it is no text."""
    if step.action == "delete":
        return None
    found = decode(step.data)
    return found.text if isinstance(found, TextFile) else ""
