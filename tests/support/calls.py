"""Running one tool by itself, as the executor would: arguments, action, proposal, result."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pails.core.events import Event, ProposedHunk
from pails.core.ports import Action, ApprovalAnswer, Decision, ToolResult
from pails.tools.registry import CallContext, Proposal, Tool


class Nobody:
    """A person who is not there: being asked is a fault of the tool."""

    async def approve(
        self,
        call_id: str,
        action: Action,
        decision: Decision,
        text: str,
        diff: str,
        *,
        hunks: Sequence[ProposedHunk] = (),
    ) -> ApprovalAnswer:
        raise AssertionError(f"a tool asked for an approval: {text}")

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        raise AssertionError(f"a tool asked: {question}")


async def _ignore(event: Event) -> None:
    pass


def call_context(workspace: Path) -> CallContext:
    """The context of a call in this workspace."""
    return CallContext("t1", "c1", workspace, _ignore, Nobody())


async def propose(tool: Tool[Any], workspace: Path, **arguments: object) -> Proposal | ToolResult:
    """What the call would do."""
    args, context = tool.parameters.model_validate(arguments), call_context(workspace)
    tool.action(args, context)
    return await tool.propose(args, context)


async def call(tool: Tool[Any], workspace: Path, **arguments: object) -> ToolResult:
    """Run the tool to its result."""
    proposal = await propose(tool, workspace, **arguments)
    return await proposal.run() if isinstance(proposal, Proposal) else proposal
