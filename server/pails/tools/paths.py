"""Paths in tools: what the model may write, what it means, and what to say of a path."""

import asyncio
import re
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from pails.core.ports import ToolResult
from pails.core.text import first_line, join_surrogates, shown_path
from pails.host import files
from pails.host.paths import normalized
from pails.policy.visible import visible_line
from pails.tools.files.document import Unreadable
from pails.tools.registry import CallContext

_MAX_PATH_CHARS = 4096
"""No system takes longer ones that a model would write."""
_ECHO_CHARS = 200
_URI = re.compile(r"[A-Za-z][\w+.-]*://")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")

WORKSPACE_GONE = "The workspace no longer exists. Tell the person."


def usable_path(path: str) -> str:
    """The path, if it is one of this system. Raises `ValueError`, which completes "PATH …"."""
    if "\0" in path or path != join_surrogates(path):
        raise ValueError("is not a path that can exist")
    if _URI.match(path):
        raise ValueError("is a URI: give the path alone, relative to the workspace")
    if sys.platform != "win32" and _WINDOWS.match(path):
        raise ValueError("is a path of Windows: give it with /, relative to the workspace")
    return path


PathText = Annotated[
    str, Field(min_length=1, max_length=_MAX_PATH_CHARS), AfterValidator(usable_path)
]
"""A path argument: relative to the workspace, absolute, or under the home folder with `~/`."""

PathOrWorkspace = Annotated[PathText, BeforeValidator(lambda path: "." if path == "" else path)]
"""One that may be left out, or be empty, as models also say that: then it is the workspace."""


def resolve_path(context: CallContext, path: str) -> Path:
    """The absolute path that a model's `path` argument means, relative to the workspace."""
    # Only the own home folder: `~x` would look for a user x and raise, and `~$notes` is a file.
    own_home = path == "~" or path.startswith("~/")
    return context.workspace / (Path(path).expanduser() if own_home else Path(path))


def path_for_person(context: CallContext, path: Path) -> str:
    """The path as a person sees it who decides on a call: nothing in it hides or reorders."""
    return visible_line(shown_place(context, path))


def shown_place(context: CallContext, folder: Path) -> str:
    """A folder in a sentence."""
    return "the workspace" if folder == context.workspace else shown_path(folder, context.workspace)


def echoed(text: str) -> str:
    """What the model sent, as a result or a title repeats it: one line, cut where it is long."""
    return first_line(text, _ECHO_CHARS)


async def is_workspace_gone(context: CallContext) -> bool:
    """Whether somebody has removed or renamed the workspace: then say `WORKSPACE_GONE`."""
    return not await asyncio.to_thread(files.exists, context.workspace)


async def unreadable_message(context: CallContext, path: Path, found: Unreadable) -> str:
    """Why the path cannot be read, in a sentence."""
    if found.reason == "missing":
        return await missing_message(context, path)
    return f"{shown_path(path, context.workspace)} {found.message}."


async def unwritable(context: CallContext, path: Path, found: Unreadable) -> ToolResult:
    """The result of a call that cannot write there, because there is no text to begin with."""
    text = await unreadable_message(context, path, found)
    return ToolResult(f"{text} Nothing was written.", is_error=True)


async def missing_message(context: CallContext, path: Path) -> str:
    """That the path does not exist, and what similar there is in the workspace."""
    if await is_workspace_gone(context):
        return WORKSPACE_GONE
    shown = shown_path(path, context.workspace)
    if not normalized(path.parent).is_relative_to(context.workspace):
        return f"{shown} does not exist."
    found = await asyncio.to_thread(_look_around, path, context.workspace)
    if found.is_there:
        return f"{shown} is a link, and what it leads to does not exist."
    gone = (
        "does not exist" if found.folder == path.parent else "does not exist, nor does its folder"
    )
    if found.close:
        names = (shown_path(close, context.workspace) for close in found.close)
        return f"{shown} {gone}. Similar: {', '.join(names)}."
    where = shown_place(context, found.folder)
    return f"{shown} {gone}; {where} has nothing similar. See list_dir or glob."


@dataclass(frozen=True, slots=True)
class _Around:
    """The deepest folder on the way to a path, and what is like the next name in it."""

    folder: Path
    is_there: bool
    close: tuple[Path, ...]


def _look_around(path: Path, workspace: Path) -> _Around:
    """Blocks."""
    folder, name = path.parent, path.name
    while (names := _names(folder)) is None and folder != workspace:
        folder, name = folder.parent, folder.name
    lowered = {found.lower(): found for found in names or ()}
    close = get_close_matches(name.lower(), lowered, n=3)
    is_there = folder == path.parent and name in lowered.values()
    return _Around(folder, is_there, tuple(folder / lowered[found] for found in close))


def _names(folder: Path) -> list[str] | None:
    try:
        return [entry.name for entry in files.list_folder(folder)]
    except OSError:
        return None
