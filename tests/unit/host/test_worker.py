"""The child process that answers requests: whatever it does, the parent goes on."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pails.host.worker import Worker, WorkerError
from tests.support.process_zoo import children_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

CHILD = """
import os, sys, time
from pails.host.serving import serve

def handle(request):
    match request["do"]:
        case "echo":
            return {"value": request["value"]}
        case "join":
            return {"value": "|".join(request["texts"])}
        case "print":
            print("noise on standard output", flush=True)
            os.write(1, b"noise")
            return {"value": "quiet"}
        case "exit":
            os._exit(3)
        case "raise":
            raise RuntimeError("a bug")
        case "sleep":
            time.sleep(600)
        case "memory":
            try:
                return {"value": len(bytearray(600 << 20))}
            except MemoryError:
                return {"value": "no memory"}

serve(handle, memory=400 << 20, seconds=1)
"""


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker((sys.executable, "-P", "-c", CHILD))
    yield worker
    await worker.aclose()


async def echo(worker: Worker, value: object) -> object:
    answer = await worker.request({"do": "echo", "value": value}, 30)
    return answer["value"]


@pytest.mark.parametrize("value", ["", "a\n嗨😀", "\ud83d", None, [1, {"a": 2.5}], "x" * 3_000_000])
async def test_values_come_back(worker: Worker, value: object) -> None:
    assert await echo(worker, value) == value


async def test_texts_travel_behind_the_request(worker: Worker) -> None:
    texts = ["", "中😀\r\n", "\ud83d", "x" * 3_000_000]
    answer = await worker.request({"do": "join", "texts": texts}, 30)
    assert answer["value"] == "|".join(texts)
    assert await echo(worker, "next") == "next"


async def test_one_child_answers_all_in_order(worker: Worker) -> None:
    assert children_of(os.getpid()) == []
    await worker.warm()
    child = children_of(os.getpid())
    assert len(child) == 1
    assert await asyncio.gather(*(echo(worker, n) for n in range(30))) == list(range(30))
    assert children_of(os.getpid()) == child


async def test_child_that_prints_does_not_disturb(worker: Worker) -> None:
    assert await worker.request({"do": "print"}, 30) == {"value": "quiet"}
    assert await echo(worker, 1) == 1


@pytest.mark.parametrize("do", ["exit", "raise", "unknown"])
async def test_death_is_an_error_and_the_next_request_works(worker: Worker, do: str) -> None:
    with pytest.raises(WorkerError, match="died before it answered"):
        await worker.request({"do": do}, 30)
    assert await echo(worker, 1) == 1


async def test_time_is_limited_by_the_parent(worker: Worker) -> None:
    with pytest.raises(TimeoutError):
        await worker.request({"do": "sleep"}, 0.05)
    assert children_of(os.getpid()) == []
    assert await echo(worker, 1) == 1


async def test_time_is_limited_by_the_child_itself(worker: Worker) -> None:
    """A parent that was killed cannot end a child that hangs."""
    with pytest.raises(WorkerError):
        await worker.request({"do": "sleep"}, 60)


async def test_memory_is_limited(worker: Worker) -> None:
    assert await worker.request({"do": "memory"}, 30) == {"value": "no memory"}


async def test_program_that_does_not_exist() -> None:
    worker = Worker(("/does/not/exist",))
    with pytest.raises(WorkerError, match="could not be started"):
        await worker.warm()
    await worker.aclose()


async def test_program_that_ends_at_once() -> None:
    worker = Worker((sys.executable, "-c", "print('hello')"))
    with pytest.raises(WorkerError):
        await worker.request({}, 30)
    assert children_of(os.getpid()) == []
    await worker.aclose()


async def test_program_that_talks_nonsense() -> None:
    worker = Worker((sys.executable, "-c", "import os; os.write(1, b'\\0\\0\\0\\3abc')"))
    with pytest.raises(WorkerError):
        await worker.request({}, 30)
    await worker.aclose()


async def test_closing_twice_and_then_asking(worker: Worker) -> None:
    await worker.warm()
    assert children_of(os.getpid()) != []
    await worker.aclose()
    await worker.aclose()
    assert children_of(os.getpid()) == []
    with pytest.raises(WorkerError, match="shut down"):
        await echo(worker, 1)


async def test_closing_while_it_warms_up_is_no_failure_of_the_child(tmp_path: Path) -> None:
    running = tmp_path / "running"
    child = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
    worker = Worker((sys.executable, "-c", child, str(running)))
    warming = asyncio.create_task(worker.warm())
    async with asyncio.timeout(30):
        while not running.exists():
            await asyncio.sleep(0.001)
    await worker.aclose()
    await warming
    assert children_of(os.getpid()) == []


async def test_closing_what_never_started() -> None:
    await Worker(("/does/not/exist",)).aclose()


async def test_a_child_killed_while_it_was_idle_costs_no_answer(worker: Worker) -> None:
    assert await echo(worker, 1) == 1
    (pid,) = children_of(os.getpid())
    os.kill(pid, signal.SIGKILL)
    assert await echo(worker, 2) == 2
