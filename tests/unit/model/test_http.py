"""How long a server may stay silent, whoever else waits and whatever else happens."""

import asyncio
import contextlib

import pytest

from pails.core.errors import ModelUnavailableError
from pails.model.http import SilenceWatch


async def never() -> None:
    await asyncio.Event().wait()


async def after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "heard"


async def test_what_arrives_in_time_is_returned() -> None:
    watch = SilenceWatch(tick=0.01)
    for _ in range(5):
        assert await watch.wait(after(0.03), 10.0) == "heard"


async def test_each_of_many_waits_has_its_own_limit() -> None:
    watch = SilenceWatch(tick=0.01)
    short, long = (asyncio.create_task(watch.wait(never(), limit)) for limit in (0.05, 60.0))
    with pytest.raises(ModelUnavailableError, match=r"nothing for 0\.05 seconds"):
        await short
    assert not long.done()
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long


async def test_a_short_limit_behind_a_long_one_is_not_late() -> None:
    watch = SilenceWatch(tick=60.0)
    long = asyncio.create_task(watch.wait(never(), 60.0))
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        with pytest.raises(ModelUnavailableError):
            await watch.wait(never(), 0.02)
    long.cancel()


async def test_time_spent_asleep_counts_as_silence() -> None:
    """The clock jumps, as after a night with the lid closed, and no timer of ours has run."""
    now = 0.0
    watch = SilenceWatch(lambda: now, tick=0.01)
    waiting = asyncio.create_task(watch.wait(never(), 60.0))
    await asyncio.sleep(0)
    now += 8 * 3600
    async with asyncio.timeout(10):
        with pytest.raises(ModelUnavailableError, match="nothing for 60 seconds"):
            await waiting


async def test_the_task_lives_on_after_a_silence() -> None:
    watch = SilenceWatch(tick=0.01)
    with pytest.raises(ModelUnavailableError):
        await watch.wait(never(), 0.01)
    task = asyncio.current_task()
    assert task and task.cancelling() == 0
    assert await watch.wait(after(0.01), 10.0) == "heard"


async def test_a_cancellation_at_the_same_moment_wins() -> None:
    now = 0.0
    watch = SilenceWatch(lambda: now, tick=0.01)
    task = asyncio.create_task(watch.wait(never(), 5.0))
    await asyncio.sleep(0)
    now = 6.0
    watch._look()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_answer_at_the_same_moment_as_the_end_is_no_cancellation() -> None:
    """Something below may swallow the cancellation and return what it has."""

    async def stubborn() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await never()
        return "all the same"

    watch = SilenceWatch(tick=0.01)
    assert await watch.wait(stubborn(), 0.02) == "all the same"
    task = asyncio.current_task()
    assert task and task.cancelling() == 0
    await asyncio.sleep(0)
