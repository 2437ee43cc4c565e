"""Which calls run side by side, and how mistakes in their arguments, and of ours, are told."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from pails.core.events import Effect, Event, Mode, ToolCallEnded, ToolCallStarted
from pails.core.messages import ToolCall
from pails.core.ports import Action, Emit, ToolResult
from pails.diagnostics.checker import TreeSitterChecker
from pails.host.texts import TextStore
from pails.policy.gate import Gate
from pails.session.person import SessionPerson
from pails.tools.calls.executor import Executor
from pails.tools.calls.surroundings import Surroundings
from pails.tools.registry import CallContext, Parameters, Proposal, Tool, ToolRegistry

AT_ONCE = 4


class Number(Parameters):
    number: int


class Held(Tool[Number]):
    """Reads nothing, and goes on when it is let go."""

    name = "list_dir"  # one of those that have a description
    effect = Effect.READ
    parameters = Number

    def __init__(self) -> None:
        self.places = asyncio.Semaphore(0)
        self.entered = 0
        self.inside = 0

    def action(self, args: Number, context: CallContext) -> Action:
        return Action(self.name, self.effect, "Wait")

    async def propose(self, args: Number, context: CallContext) -> Proposal:
        return Proposal(self._run)

    async def _run(self) -> ToolResult:
        self.entered += 1
        self.inside += 1
        await self.places.acquire()
        self.inside -= 1
        return ToolResult("let go")


def surroundings(workspace: Path, tool: Held, emit: Emit) -> Surroundings:
    return Surroundings(
        workspace=workspace,
        registry=ToolRegistry([tool]),
        gate=Gate(),
        mode=lambda: Mode.AUTO,
        checker=TreeSitterChecker(),
        editor=None,
        person=SessionPerson(lambda: "turn", emit, lambda _: None),
        texts=TextStore(workspace / "texts"),
        emit=emit,
        parallel_reads=AT_ONCE,
    )


async def test_reads_run_side_by_side_but_only_so_many_at_once(tmp_path: Path) -> None:
    said: list[Event] = []

    async def emit(event: Event) -> None:
        said.append(event)

    tool = Held()
    around = surroundings(tmp_path, tool, emit)
    calls = [
        ToolCall(f"call_{number}", tool.name, f'{{"number": {number}}}') for number in range(10)
    ]
    running = asyncio.create_task(Executor("turn", around).run_calls(calls))
    async with asyncio.timeout(20):
        for let_go in range(len(calls)):
            while tool.entered < min(let_go + AT_ONCE, len(calls)):
                await asyncio.sleep(0.001)
            for _ in calls:  # whoever else could come in would be in now
                await asyncio.to_thread(bool)
            assert tool.inside == min(AT_ONCE, len(calls) - let_go)
            tool.places.release()
        await running

    kinds = Counter(type(event) for event in said)
    assert kinds[ToolCallStarted] == kinds[ToolCallEnded] == len(calls)
    first_end = next(n for n, event in enumerate(said) if isinstance(event, ToolCallEnded))
    assert sum(isinstance(event, ToolCallStarted) for event in said[:first_end]) == AT_ONCE


class Read(Held):
    """Ends at once."""

    async def _run(self) -> ToolResult:
        return ToolResult("done")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_dir", json.dumps({f"k{number}": number for number in range(20_000)})),
        ("list_dir", json.dumps({"n" * 100_000: 1, "number": 1})),
        ("list_dir", "[" * 100_000),
        ("no_such_tool" * 10_000, "{}"),
    ],
    ids=["many names", "a long name", "no JSON", "a long tool"],
)
async def test_a_mistake_is_told_in_a_few_words(tmp_path: Path, name: str, arguments: str) -> None:
    said: list[Event] = []

    async def emit(event: Event) -> None:
        said.append(event)

    around = surroundings(tmp_path, Read(), emit)
    await Executor("turn", around).run_calls([ToolCall("call_1", name, arguments)])
    (ended,) = said
    assert isinstance(ended, ToolCallEnded)
    assert ended.is_error
    assert len(ended.text) < 4000
    if "k10" in arguments:
        assert "and 19,991 more" in ended.text  # the number that is missing is one of the ten


class Broken(Held):
    """Has a bug in one of its steps."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self.step = step

    def _fail(self, step: str) -> None:
        if step == self.step:
            raise RuntimeError("a bug")

    def action(self, args: Number, context: CallContext) -> Action:
        self._fail("action")
        return super().action(args, context)

    async def propose(self, args: Number, context: CallContext) -> Proposal:
        self._fail("propose")
        return await super().propose(args, context)

    async def _run(self) -> ToolResult:
        self._fail("run")
        return ToolResult("done")


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("action", "Nothing was done. Go on in another way, and tell the person of this."),
        ("propose", "Nothing was done. Go on in another way, and tell the person of this."),
        ("run", "It may have done part of its work: check before you repeat it."),
    ],
)
async def test_a_bug_ends_its_call_and_says_what_may_be_done(
    tmp_path: Path, step: str, left: str
) -> None:
    said: list[Event] = []

    async def emit(event: Event) -> None:
        said.append(event)

    around = surroundings(tmp_path, Broken(step), emit)
    await Executor("turn", around).run_calls([ToolCall("call_1", "list_dir", '{"number": 1}')])
    ended = said[-1]
    assert isinstance(ended, ToolCallEnded)
    assert ended.is_error
    assert ended.text == f"list_dir failed inside Pails (RuntimeError: a bug). {left}"
