"""The one path of every tool call: parse → gate → propose → approve → log → run → check → end.

Consecutive reads of one reply run side by side; anything else waits for them and runs alone, in
order. Whatever happens, a call ends with exactly one `ToolCallEnded`. Only a cancellation leaves
calls open, and the session that cancelled ends those.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pails.core.errors import LogError, StorageError
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
    CallGuard,
    Change,
    Decision,
    Editor,
    Emit,
    Person,
    Rewinder,
    SyntaxChecker,
    Texts,
    ToolResult,
)
from pails.core.tasks import uninterrupted
from pails.core.text import first_line, shown_path
from pails.policy.gate import Gate
from pails.policy.visible import visible_diff
from pails.tools.arguments import parse_call
from pails.tools.files.choosing import Chosen, chooses_nothing, chosen, proposed_hunks
from pails.tools.findings import findings
from pails.tools.judging import Judging
from pails.tools.registry import CallContext, Parameters, Proposal, Tool, ToolRegistry
from pails.tools.repeats import Repeats
from pails.tools.text.diff import DiffText, unified

log = logging.getLogger(__name__)

T = TypeVar("T")

IF_DONE = "If this completes the task, check it where you can, then answer in words."
"""Said after a good write: small models do not stop by themselves, and undo what they did."""

_SUMMARY_CHARS = 120


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
    texts: Texts
    emit: Emit
    parallel_reads: int
    guard: CallGuard | None = None
    rewinder: Rewinder | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call whose arguments are valid, and what the gate says of it."""

    tool: Tool[Any]
    args: Parameters
    context: CallContext
    action: Action
    decision: Decision


class Executor:
    """Runs the calls of one turn."""

    def __init__(self, turn_id: str, around: Surroundings) -> None:
        self._turn_id = turn_id
        self._around = around
        self._slots = asyncio.Semaphore(around.parallel_reads)
        self._judging = Judging(self._judge)
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
            prepared = await self._guarded(call, self._prepare(call))
            if isinstance(prepared, _Prepared):
                result = await self._guarded(call, self._attempt(call, prepared))
            else:
                result = prepared
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

    async def _guarded(self, call: ToolCall, step: Awaitable[T]) -> T | ToolResult:
        """The border of a tool: a bug in one is that call's error, not the end of the turn."""
        try:
            return await step
        except LogError:
            raise  # nothing may go on unlogged
        except Exception as error:
            log.exception("tool %s failed", call.name)
            text = (
                f"{call.name} failed inside Pails ({type(error).__name__}: {error}). "
                "It may have done part of its work: check before you repeat it."
            )
            return ToolResult(text, is_error=True)

    async def _prepare(self, call: ToolCall) -> _Prepared | ToolResult:
        """Judge the call, just before it runs: who has waited for a slot finds other links."""
        parsed = parse_call(self._around.registry, call)
        if isinstance(parsed, ToolResult):
            return parsed
        tool, args = parsed
        around = self._around
        context = CallContext(
            self._turn_id, call.id, around.workspace, around.emit, around.person, around.rewinder
        )
        action = tool.action(args, context)
        return _Prepared(tool, args, context, action, await self._judging.decide(action))

    async def _attempt(self, call: ToolCall, prepared: _Prepared) -> ToolResult:
        around = self._around
        tool, action, decision = prepared.tool, prepared.action, prepared.decision
        await around.emit(
            ToolCallPrepared(self._turn_id, call.id, tool.name, action.title, action.effect)
        )
        if decision.verdict == "deny":
            return _refused(decision.reason)
        proposal = await tool.propose(prepared.args, prepared.context)
        if isinstance(proposal, ToolResult):
            return proposal
        for file in proposal.files:  # checked while it is logged and written
            if file.after is not None:
                around.checker.begin(file.path, file.before, file.after)
        typed: Mapping[Path, str | None] = {}
        if decision.verdict == "ask":
            allowed = await self._approve(call, action, decision, proposal)
            if isinstance(allowed, ToolResult):
                return allowed
            proposal, typed = allowed.proposal, allowed.typed
            # While the person decided, the mode may have changed or a link been swapped.
            decision = await self._judging.decide(action)
            if decision.verdict == "deny":
                return _refused(decision.reason)
        guard = around.guard.around(call.id, action.effect) if around.guard else nullcontext()
        async with guard:
            await around.emit(ToolCallStarted(self._turn_id, call.id, action.effect))
            result = await proposal.run()
        return await self._check(call, result, typed)

    def _judge(self, action: Action) -> Decision:
        around = self._around
        return around.gate.judge(action, around.mode(), around.workspace, self._turn_id)

    async def _approve(
        self, call: ToolCall, action: Action, decision: Decision, proposal: Proposal
    ) -> Chosen | ToolResult:
        """Ask the person; what they allow of the call, or why it may not run."""
        around = self._around
        text, diff = proposal.text or action.title, visible_diff(proposal.diff)
        hunks = await asyncio.to_thread(proposed_hunks, proposal) if proposal.revise else ()
        answer = await around.person.approve(call.id, action, decision, text, diff, hunks=hunks)
        allows = answer.choice in (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_SESSION)
        if allows and not chooses_nothing(answer):
            if answer.choice is ApprovalChoice.ALLOW_SESSION:
                around.gate.grant(decision)
            return await asyncio.to_thread(chosen, proposal, answer)
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

    async def _check(
        self, call: ToolCall, result: ToolResult, typed: Mapping[Path, str | None]
    ) -> ToolResult:
        """Tell of each written file and check its syntax; the findings ride on the result."""
        said = [await self._check_change(call, change, typed) for change in result.changes]
        return replace(result, text="\n".join((result.text, *filter(None, said))))

    async def _check_change(
        self, call: ToolCall, change: Change, typed: Mapping[Path, str | None]
    ) -> str:
        around = self._around
        path, shown = str(change.path), shown_path(change.path, around.workspace)
        # What is written must be told of, also when the turn is cancelled at this moment.
        await uninterrupted(self._tell(call, change, shown, typed))
        if change.after is None:
            if around.editor:
                around.editor.publish(change.path, None, ())
            return ""
        if change.binary:
            return ""
        # What a file had at its old path is no news at its new one.
        before = change.before if change.moved_from is None else change.after
        report = await around.checker.check(change.path, before, change.after)
        if around.editor:
            around.editor.publish(change.path, change.after, report.problems)
        if report.checked:
            await around.emit(
                SyntaxChecked(
                    self._turn_id, call.id, path, report.language, report.problems, report.existing
                )
            )
        found = findings(report, shown)
        good = not report.problems and not report.existing
        return f"{found}\n{IF_DONE}".lstrip() if good else found

    async def _tell(
        self, call: ToolCall, change: Change, shown: str, typed: Mapping[Path, str | None]
    ) -> None:
        diff, ids = await asyncio.to_thread(self._kept, change, shown, typed)
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
                deleted=change.after is None,
                moved_from=str(change.moved_from or ""),
                before_id=ids[0],
                after_id=ids[1],
                proposed_id=ids[2],
            )
        )

    def _kept(
        self, change: Change, shown: str, typed: Mapping[Path, str | None]
    ) -> tuple[DiffText, tuple[str | None, str | None, str | None]]:
        """The diff of a change, and the ids of its texts; see `FileChanged`. Blocks."""
        diff = unified(shown, change.before, change.after)
        before, after = self._keep(change.before, change), self._keep(change.after, change)
        proposed = self._keep(typed[change.path], change) if change.path in typed else ""
        return diff, (before, after, proposed)

    def _keep(self, text: str | None, change: Change) -> str | None:
        """A write that has happened is told of in any case, also when no text can be kept."""
        if text is None or change.binary:
            return None if text is None else ""
        try:
            return self._around.texts.keep(text)
        except StorageError as error:
            log.error("a text cannot be kept for review: %s", error)
            return ""


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
