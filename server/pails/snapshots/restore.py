"""Carrying out a plan, one path after the other. Blocks: call it in a thread.

Each path is looked at again right before: what changed since the plan was made stays as it is.
No link is followed, neither on the way to a path nor at it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import StorageError
from pails.host.files import make_parents, write_atomic
from pails.host.tree import (
    folder_above,
    make_link,
    read_file,
    read_link,
    remove,
    remove_if_empty,
    set_executable,
    status_of,
)
from pails.snapshots.entries import FILE, LINK, PROGRAM, Entry, blob_id
from pails.snapshots.rewind import RewindPlan, Step

_MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that was not carried out; the path is as it was."""

    path: str
    reason: str


def apply_plan(plan: RewindPlan, workspace: Path) -> tuple[Failure, ...]:
    """Do all steps that can be done; the others are returned with their reasons."""
    failures: list[Failure] = []
    deletes = [step for step in plan.steps if step.action == "delete"]
    others = [step for step in plan.steps if step.action != "delete"]
    # A folder may stand where a file is to be, or the other way round.
    for step in deletes:
        _try(step, workspace, failures)
    safe = [folder for folder in plan.folders if _is_inside(workspace, folder)]
    remove_if_empty(workspace / folder for folder in safe)
    for step in others:
        _try(step, workspace, failures)
    return tuple(failures)


def _try(step: Step, workspace: Path, failures: list[Failure]) -> None:
    try:
        reason = _do(step, workspace)
    except StorageError as error:
        reason = error.reason or str(error)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        failures.append(Failure(step.path, reason))


def _do(step: Step, workspace: Path) -> str:
    """Carry out one step; why not, if it was not."""
    in_the_way = folder_above(workspace, step.path)
    if in_the_way is not None:
        return f"{in_the_way} is not a folder any more"
    path = workspace / step.path
    current, _ = entry_on_disk(path)
    if current == result_of(step):
        return ""
    if current != step.expected:
        return "it changed since the preview"
    _ACTIONS[step.action](step, path, current)
    return ""


def result_of(step: Step) -> Entry | None:
    """What stands at the path when the step is done."""
    if step.action == "delete":
        return None
    if step.action == "chmod":
        return Entry(step.mode, step.expected.id) if step.expected else None
    return Entry(step.mode, blob_id(step.data))


def entry_on_disk(path: Path) -> tuple[Entry | None, bytes]:
    """What is at the path, with its bytes; raises `OSError` for what is neither file nor link, and
    for a file that is too large."""
    name = str(path)
    status = status_of(name)
    if status is None:
        return None, b""
    if status.kind == "link":
        target = read_link(name)
        return Entry(LINK, blob_id(target)), target
    data, _ = read_file(name, _MOST_BYTES)
    return Entry(PROGRAM if status.executable else FILE, blob_id(data)), data


def _write(step: Step, path: Path, current: Entry | None) -> None:
    if current and current.mode == LINK:
        remove(path)  # it would be written through
    make_parents(path)
    write_atomic(path, step.data)
    if step.mode == PROGRAM or (current and current.mode == PROGRAM):
        set_executable(path, executable=step.mode == PROGRAM)


def _link(step: Step, path: Path, _: Entry | None) -> None:
    make_link(path, step.data)


def _chmod(step: Step, path: Path, _: Entry | None) -> None:
    set_executable(path, executable=step.mode == PROGRAM)


def _delete(_: Step, path: Path, __: Entry | None) -> None:
    remove(path)


def _is_inside(workspace: Path, folder: str) -> bool:
    """Whether it is a folder, and so is all above it."""
    try:
        return folder_above(workspace, f"{folder}/x") is None
    except OSError:
        return False


_ACTIONS: Mapping[str, Callable[[Step, Path, Entry | None], None]] = {
    "write": _write,
    "link": _link,
    "chmod": _chmod,
    "delete": _delete,
}
