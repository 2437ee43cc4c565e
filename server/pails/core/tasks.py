"""Small rules about asyncio that several parts share."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


async def uninterrupted(work: Awaitable[T]) -> T:
    """Carry work that takes a bounded time to its end, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()


async def all_of(work: Iterable[Awaitable[object]]) -> None:
    """Wait for all of it, side by side; only then log what failed, and raise the first failure."""
    _raise_first(await asyncio.gather(*work, return_exceptions=True))


async def in_turn(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """The same, one after the other: a step is taken whatever became of those before it.

    Cancelled, it takes no further step.
    """
    outcomes = list[object]()
    for step in steps:
        outcomes += await asyncio.gather(step(), return_exceptions=True)
    _raise_first(outcomes)


def _raise_first(outcomes: Iterable[object]) -> None:
    failures = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    for failure in failures:
        log.error("%s", failure, exc_info=failure)
    if failures:
        raise failures[0]
