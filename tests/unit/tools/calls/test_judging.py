"""Actions that come up together are judged together, and each for itself."""

import asyncio
import threading

import pytest

from pails.core.events import Effect
from pails.core.ports import Action, Decision
from pails.tools.calls.judging import Judging


def action(title: str) -> Action:
    return Action("read_file", Effect.READ, title)


async def test_each_gets_its_own_decision_from_one_thread() -> None:
    threads: list[int] = []

    def judge(wanted: Action) -> Decision:
        threads.append(threading.get_ident())
        return Decision("deny" if wanted.title == "two" else "allow", wanted.title)

    judging = Judging(judge)
    for _ in range(2):
        found = await asyncio.gather(*(judging.decide(action(t)) for t in ("one", "two", "three")))
        assert [(d.verdict, d.reason) for d in found] == [
            ("allow", "one"),
            ("deny", "two"),
            ("allow", "three"),
        ]
    assert threads[:3] == threads[:1] * 3
    assert threading.get_ident() not in threads


async def test_one_that_is_cancelled_leaves_the_others_alone() -> None:
    goes_on = threading.Event()

    def judge(wanted: Action) -> Decision:
        goes_on.wait(10)
        return Decision("allow", wanted.title)

    judging = Judging(judge)
    one, two = (asyncio.create_task(judging.decide(action(title))) for title in ("one", "two"))
    await asyncio.sleep(0)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    goes_on.set()
    assert (await two).reason == "two"


async def test_what_is_wrong_with_one_is_not_wrong_with_the_others() -> None:
    def judge(wanted: Action) -> Decision:
        if wanted.title == "bad":
            raise OSError("no such disk")
        return Decision("allow", wanted.title)

    judging = Judging(judge)
    wanted = (judging.decide(action(title)) for title in ("one", "bad", "two"))
    one, bad, two = await asyncio.gather(*wanted, return_exceptions=True)
    assert (one, two) == (Decision("allow", "one"), Decision("allow", "two"))
    assert isinstance(bad, OSError)
