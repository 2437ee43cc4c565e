"""The one path of every tool call: parse → gate → propose → approve → log → run → check → end.

Consecutive reads of one reply run side by side; anything else waits for them and runs alone, in
order. Whatever happens, a call ends with exactly one `ToolCallEnded`. Only a cancellation leaves
calls open, and the session that cancelled ends those.
"""

import asyncio
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from pails.core.errors import LogError
from pails.core.events import (
    ApprovalChoice,
    Effect,
    FileChanged,
    Mode,
    SyntaxChecked,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
)
from pails.core.messages import ToolCall
from pails.core.ports import (
    Action,
    Change,
    Decision,
    Editor,
    Emit,
    Person,
    SyntaxChecker,
    ToolResult,
)
from pails.core.tasks import uninterrupted
from pails.core.text import first_line, shown_path
from pails.policy.gate import Gate
from pails.policy.visible import visible_diff
from pails.tools.diff import unified
from pails.tools.findings import findings
from pails.tools.registry import CallContext, Parameters, Proposal, Tool, ToolRegistry
from pails.tools.repeats import Repeats

log = logging.getLogger(__name__)

IF_DONE = "If this completes the task, check it where you can, then answer in words."
"""Said after a good write: small models do not stop by themselves, and undo what they did."""

_SUMMARY_CHARS = 120
_ECHO_CHARS = 200
_MAX_FAULTS = 10


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a session lends to each of its turns."""

    workspace: Path
    registry: ToolRegistry
    gate: Gate
    mode: Callable[[], Mode]
    checker: SyntaxChecker
    editor: Editor | None
    person: Person
    emit: Emit
    parallel_reads: int


class Executor:
    """Runs the calls of one turn."""

    def __init__(self, turn_id: str, around: Surroundings) -> None:
        self._turn_id = turn_id
        self._around = around
        self._slots = asyncio.Semaphore(around.parallel_reads)
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
            result = self._repeats.hinted(call, await self._guarded_attempt(call))
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

    async def _guarded_attempt(self, call: ToolCall) -> ToolResult:
        """The border of a tool: a bug in one is that call's error, not the end of the turn."""
        try:
            return await self._attempt(call)
        except LogError:
            raise  # nothing may go on unlogged
        except Exception as error:
            log.exception("tool %s failed", call.name)
            text = (
                f"{call.name} failed inside Pails ({type(error).__name__}: {error}). "
                "It may have done part of its work: check before you repeat it."
            )
            return ToolResult(text, is_error=True)

    async def _attempt(self, call: ToolCall) -> ToolResult:
        parsed = self._parse(call)
        if isinstance(parsed, ToolResult):
            return parsed
        tool, args = parsed
        around = self._around
        context = CallContext(self._turn_id, call.id, around.workspace, around.emit, around.person)
        action = tool.action(args, context)
        decision = await self._judge(action)
        await around.emit(
            ToolCallPrepared(self._turn_id, call.id, tool.name, action.title, action.effect)
        )
        if decision.verdict == "deny":
            return _refused(decision.reason)
        proposal = await tool.propose(args, context)
        if isinstance(proposal, ToolResult):
            return proposal
        if decision.verdict == "ask":
            refusal = await self._approve(call, action, decision, proposal)
            if refusal:
                return refusal
            # While the person decided, the mode may have changed or a link been swapped.
            decision = await self._judge(action)
            if decision.verdict == "deny":
                return _refused(decision.reason)
        await around.emit(ToolCallStarted(self._turn_id, call.id, action.effect))
        return await self._check(call, await proposal.run())

    async def _judge(self, action: Action) -> Decision:
        """In a thread, because the gate looks where links lead."""
        around = self._around
        return await asyncio.to_thread(
            around.gate.judge, action, around.mode(), around.workspace, self._turn_id
        )

    def _parse(self, call: ToolCall) -> tuple[Tool[Any], Parameters] | ToolResult:
        """The tool and its valid arguments, or an error that the model can mend."""
        tool = self._around.registry.get(call.name)
        if tool is None:
            names = ", ".join(self._around.registry.names)
            name = first_line(repr(call.name), _ECHO_CHARS)
            return _mistake(f"There is no tool {name}. The tools are: {names}.")
        try:
            data = from_json(call.arguments or "{}")
        except ValueError as error:
            return _mistake(f"The arguments are not valid JSON ({error}). Nothing was run.")
        try:
            return tool, tool.parameters.model_validate(data)
        except ValidationError as error:
            faults = _faults(error)
            schema = json.dumps(tool.spec.parameters, ensure_ascii=False)
            return _mistake(
                f"The arguments do not fit {tool.name}: {faults}. Nothing was run. "
                f"The arguments must fit this schema: {schema}"
            )

    async def _approve(
        self, call: ToolCall, action: Action, decision: Decision, proposal: Proposal
    ) -> ToolResult | None:
        """Ask the person; None when the call may run."""
        around = self._around
        text, diff = proposal.text or action.title, visible_diff(proposal.diff)
        answer = await around.person.approve(call.id, action, decision, text, diff)
        if answer.choice is ApprovalChoice.ALLOW_SESSION:
            around.gate.grant(decision)
        if answer.choice in (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_SESSION):
            return None
        if answer.choice is ApprovalChoice.UNANSWERED:
            return _unanswered(answer.feedback)
        around.gate.refuse(action, around.workspace, self._turn_id)
        said = f" They say: {answer.feedback}" if answer.feedback else ""
        return ToolResult(
            f"The person refused this call; nothing was done.{said} Do not try it again in "
            "another way: change your approach, or ask what they want.",
            is_error=True,
            summary="refused by the person",
        )

    async def _check(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Tell of each written file and check its syntax; the findings ride on the result."""
        said = [await self._check_change(call, change) for change in result.changes]
        return replace(result, text="\n".join((result.text, *filter(None, said))))

    async def _check_change(self, call: ToolCall, change: Change) -> str:
        around = self._around
        path, shown = str(change.path), shown_path(change.path, around.workspace)
        # What is written must be told of, also when the turn is cancelled at this moment.
        await uninterrupted(self._tell(call, change, shown))
        report = await around.checker.check(change.path, change.before, change.after)
        if around.editor:
            around.editor.publish(change.path, report.problems)
        if report.checked:
            await around.emit(
                SyntaxChecked(
                    self._turn_id, call.id, path, report.language, report.problems, report.existing
                )
            )
        found = findings(report, shown)
        good = not report.problems and not report.existing
        return f"{found}\n{IF_DONE}".lstrip() if good else found

    async def _tell(self, call: ToolCall, change: Change, shown: str) -> None:
        diff = await asyncio.to_thread(unified, shown, change.before, change.after)
        await self._around.emit(
            FileChanged(
                self._turn_id,
                call.id,
                str(change.path),
                diff.text,
                diff.added,
                diff.removed,
                change.target,
                change.saved,
                created=change.before is None,
            )
        )


def _mistake(text: str) -> ToolResult:
    return ToolResult(
        text, is_error=True, summary=first_line(text.partition(". ")[0], _SUMMARY_CHARS)
    )


def _unanswered(why: str) -> ToolResult:
    why = why or "the question was closed without an answer"
    return ToolResult(
        f"This call needs a person's permission, and none was given: {why}. Nothing was done. Go "
        "on without it, and say at the end what could not be done.",
        is_error=True,
        summary=f"not allowed: {why}",
    )


def _refused(reason: str) -> ToolResult:
    return ToolResult(
        f"Refused, nothing was done. {reason}", is_error=True, summary=f"refused: {reason}"
    )


def _faults(error: ValidationError) -> str:
    """The first faults of the arguments, and how many more there are."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(_fault(dict(detail)) for detail in details[:_MAX_FAULTS])
    more = len(details) - _MAX_FAULTS
    return f"{told}; and {more:,} more" if more > 0 else told


def _fault(detail: dict[str, Any]) -> str:
    """One of them. The place is in the model's own words, which may be very many."""
    where = first_line(".".join(str(part) for part in detail["loc"]), _ECHO_CHARS)
    told = first_line(str(detail["msg"]), _ECHO_CHARS)
    return f"{where}: {told}" if where else told
