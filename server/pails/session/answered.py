"""Changing documents through an editor that may never answer."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from pails.tools.files.document import Unwritten

T = TypeVar("T")

ANSWER_SECONDS = 30.0
"""How long one document is waited for. An editor answers at once, if it does at all."""


async def answered(work: Awaitable[T]) -> T | Unwritten:
    """What came of writing, moving or removing a document, within a bounded time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await work
    except TimeoutError:
        return Unwritten(
            "The editor does not answer, so it is not known whether it made the change. Look at "
            "the file before you go on."
        )
