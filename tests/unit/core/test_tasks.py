"""Work that goes on to its end, whatever fails or is cancelled on the way."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from pails.core.tasks import all_of, in_turn


def step(done: list[str], name: str, failure: Exception | None = None) -> Callable[[], Awaitable]:
    async def take() -> None:
        await asyncio.sleep(0)
        done.append(name)
        if failure:
            raise failure

    return take


async def test_each_step_is_taken_and_the_first_failure_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []
    steps = [step(done, "a", ValueError("one")), step(done, "b", KeyError("two")), step(done, "c")]
    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="one"):
        await in_turn(steps)
    assert done == ["a", "b", "c"]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [
        ValueError,
        KeyError,
    ]


async def test_cancelled_steps_end_there() -> None:
    done: list[str] = []
    begun = asyncio.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(in_turn((step(done, "a"), wait, step(done, "c"))))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["a"]


async def test_all_of_it_ends_before_a_failure_is_raised() -> None:
    done: list[str] = []
    work = (step(done, "a", ValueError("one")), step(done, "b"))
    with pytest.raises(ValueError, match="one"):
        await all_of(take() for take in work)
    assert done == ["a", "b"]
