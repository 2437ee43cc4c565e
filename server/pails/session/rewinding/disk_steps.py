"""Carrying out a rewind on the disk: each file in its turn among all that write files.

So neither a tool of another session nor another rewind writes between the last look at a file and
its change.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pails.host.encodings import TextFile, decode
from pails.snapshots.restore import Failure, apply_plan
from pails.snapshots.rewind import RewindPlan, Step
from pails.tools.files.documents import Documents
from pails.tools.files.writers import Busy, WriterLock

_BUSY = "another process is writing it and does not come to an end"
_TOGETHER = 50
"""So many files are locked at once."""


async def apply_on_disk(
    plan: RewindPlan, workspace: Path, documents: Documents, label: str
) -> list[Failure]:
    """Do what can be done, a few files at a time; the rest is returned with its reasons."""
    failures: list[Failure] = []
    for portion in _portions(plan):
        async with AsyncExitStack() as stack:
            locks = {
                path: await stack.enter_async_context(documents.writers.turn(workspace / path))
                for path in sorted(step.path for step in portion.steps)
            }
            failures += await asyncio.to_thread(_apply, portion, workspace, locks, documents, label)
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
    label: str,
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
            documents.note(locks[step.path], label, _text(step))
    return failures


def _text(step: Step) -> str | None:
    """What the file holds after it; None where it is gone, "" where it is no text."""
    if step.action == "delete":
        return None
    found = decode(step.data)
    return found.text if isinstance(found, TextFile) else ""
