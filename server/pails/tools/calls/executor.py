"""The one path of every tool call: parse → gate → propose → approve → log → run → check → end.

Consecutive reads of one reply run side by side; anything else waits for them and runs alone, in
order. Whatever happens, a call ends with exactly one `ToolCallEnded`. Only a cancellation leaves
calls open, and the session that cancelled ends those.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeVar

from pails.core.errors import LogError
from pails.core.events import Effect, ToolCallEnded, ToolCallPrepared, ToolCallStarted
from pails.core.messages import ToolCall
from pails.core.ports import Action, Decision, ToolResult
from pails.core.text import first_line
from pails.tools.calls.approval import approved, refused
from pails.tools.calls.arguments import parse_call
from pails.tools.calls.choosing import Chosen
from pails.tools.calls.judging import Judging
from pails.tools.calls.repeats import Repeats
from pails.tools.calls.surroundings import Surroundings
from pails.tools.calls.written import WrittenFiles
from pails.tools.registry import CallContext, Proposal

log = logging.getLogger(__name__)

T = TypeVar("T")

_SUMMARY_CHARS = 120
_NOT_RUN = "Nothing was done. Go on in another way, and tell the person of this."
_PERHAPS_DONE = "It may have done part of its work: check before you repeat it."


class Executor:
    """Runs the calls of one turn."""

    def __init__(self, turn_id: str, around: Surroundings) -> None:
        self._turn_id = turn_id
        self._around = around
        self._slots = asyncio.Semaphore(around.parallel_reads)
        self._judging = Judging(self._judge)
        self._written = WrittenFiles(turn_id, around)
        self._repeats = Repeats()

    async def run_calls(self, calls: Sequence[ToolCall]) -> None:
        """Run the calls of one reply; returns when each has ended.

        Raises `ModelStuckError`, then too, when the model only repeats itself.
        """
        for batch in self._batches(calls):
            try:
                async with asyncio.TaskGroup() as group:
                    for call in batch:
                        group.create_task(self._run(call))
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from failures
        self._repeats.check()

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        """Runs of consecutive reads together, every other call alone, in the model's order."""
        for reads, group in itertools.groupby(calls, key=self._only_reads):
            if reads:
                yield list(group)
            else:
                yield from ([call] for call in group)

    def _only_reads(self, call: ToolCall) -> bool:
        tool = self._around.registry.get(call.name)
        return tool is None or tool.effect is Effect.READ

    async def _run(self, call: ToolCall) -> None:
        async with self._slots:
            started = time.monotonic()
            # Judged only now: who has waited for a slot finds other links, or another mode.
            result = await self._guarded(call, self._allowed(call), _NOT_RUN)
            if isinstance(result, _Allowed):
                result = await self._guarded(call, self._carry_out(call, result), _PERHAPS_DONE)
            result = self._repeats.hinted(call, result)
            await self._around.emit(
                ToolCallEnded(
                    self._turn_id,
                    call.id,
                    result.text,
                    result.is_error,
                    result.summary or first_line(result.text, _SUMMARY_CHARS),
                    round(time.monotonic() - started, 3),
                )
            )

    async def _guarded(self, call: ToolCall, step: Awaitable[T], left: str) -> T | ToolResult:
        """The border of a tool: a bug in one is that call's error, not the end of the turn.

        `left` says what the step may have left behind, and what to do about it.
        """
        try:
            return await step
        except LogError:
            raise  # nothing may go on unlogged
        except Exception as error:
            log.exception("tool %s failed", call.name)
            text = f"{call.name} failed inside Pails ({type(error).__name__}: {error}). {left}"
            return ToolResult(text, is_error=True)

    async def _allowed(self, call: ToolCall) -> "_Allowed | ToolResult":
        """The call as it may be run, or why it may not. Nothing has been done by then."""
        around = self._around
        parsed = parse_call(around.registry, call)
        if isinstance(parsed, ToolResult):
            return parsed
        tool, args = parsed
        context = CallContext(
            self._turn_id, call.id, around.workspace, around.emit, around.person, around.rewinder
        )
        action = tool.action(args, context)
        decision = await self._judging.decide(action)
        await around.emit(
            ToolCallPrepared(self._turn_id, call.id, tool.name, action.title, action.effect)
        )
        if decision.verdict == "deny":
            return refused(decision.reason)
        proposal = await tool.propose(args, context)
        if isinstance(proposal, ToolResult):
            return proposal
        self._written.begin_checks(proposal)
        chosen = await self._chosen(context, action, decision, proposal)
        return chosen if isinstance(chosen, ToolResult) else _Allowed(action.effect, chosen)

    async def _chosen(
        self, context: CallContext, action: Action, decision: Decision, proposal: Proposal
    ) -> Chosen | ToolResult:
        """What the person chooses of the call, if they have to be asked."""
        if decision.verdict != "ask":
            return Chosen(proposal, {})
        answer = await approved(context, self._around.gate, action, decision, proposal)
        if isinstance(answer, ToolResult):
            return answer
        # While the person decided, the mode may have changed or a link been swapped.
        decision = await self._judging.decide(action)
        return refused(decision.reason) if decision.verdict == "deny" else answer

    def _judge(self, action: Action) -> Decision:
        around = self._around
        return around.gate.judge(action, around.mode(), around.workspace, self._turn_id)

    async def _carry_out(self, call: ToolCall, allowed: "_Allowed") -> ToolResult:
        around = self._around
        guard = around.guard.around(call.id, allowed.effect) if around.guard else nullcontext()
        async with guard:
            await around.emit(ToolCallStarted(self._turn_id, call.id, allowed.effect))
            result = await allowed.chosen.proposal.run()
        return await self._written.told(call.id, result, allowed.chosen.typed)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A call that may be run, as the person has chosen it."""

    effect: Effect
    chosen: Chosen
