"""Files and folders of a workspace by a part of their path, for a person who types a mention."""

import asyncio
import heapq
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pails.core.errors import ConfigurationError
from pails.host.search import LIST_FILES, run_search

_SECONDS = 5.0
_LIMIT_BYTES = 50_000_000
_FRESH_SECONDS = 3.0
"""How long a list is used again: a person types several letters of one name."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file or a folder; `name` is its path below the workspace, with `/` in it."""

    name: str
    is_folder: bool


class FileFinder:
    """Finds by name in one workspace. Ignored and hidden files are left out, as in searches."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._names: Sequence[str] = ()
        self._listed_at = float("-inf")

    async def find(self, query: str, limit: int, first: Iterable[str] = ()) -> list[Found]:
        """What fits best first; `first` are names that come before others as good, such as those
        of open documents. An empty query fits all."""
        return await asyncio.to_thread(_best, query, limit, tuple(first), await self._files())

    async def _files(self) -> Sequence[str]:
        if time.monotonic() - self._listed_at > _FRESH_SECONDS:
            try:
                output = await run_search(LIST_FILES, self._workspace, _SECONDS, _LIMIT_BYTES)
            except (OSError, ConfigurationError):  # no workspace, or no ripgrep: nothing is found
                return ()
            names = output.stdout.decode("utf-8", "replace").split("\0")
            self._names = [name for name in names if name]
            self._listed_at = time.monotonic()
        return self._names


def _best(query: str, limit: int, first: Sequence[str], others: Sequence[str]) -> list[Found]:
    query, preferred = query.casefold().strip(), set(first)
    names = dict.fromkeys((*first, *others))
    folders = dict.fromkeys(
        str(parent) for name in names for parent in PurePosixPath(name).parents[:-1]
    )
    found = [*(Found(name, False) for name in names), *(Found(name, True) for name in folders)]
    ranked = [
        ((rank, item.name not in preferred, len(item.name)), item)
        for item in found
        if (rank := _rank(item.name.casefold(), query)) is not None
    ]
    return [item for _, item in heapq.nsmallest(limit, ranked, key=lambda pair: pair[0])]


def _rank(name: str, query: str) -> int | None:
    """How well it fits, the smaller the better; None when it does not.

    Best is what the last part of the path begins with, then what begins a word of it, then what it
    holds, then what the path holds, then letters that stand in the path in this order.
    """
    last = name.rpartition("/")[2]
    if last.startswith(query):
        return 0
    if query in last:
        return 1 if re.search(rf"[\W_]{re.escape(query)}", last) else 2
    if query in name:
        return 3
    letters = iter(name)
    return 4 if all(letter in letters for letter in query) else None
