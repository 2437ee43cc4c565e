"""A call that needs a person's permission: the question, and what the model is told of a no."""

import asyncio

from pails.core.events import ApprovalChoice
from pails.core.ports import Action, Decision, ToolResult
from pails.policy.gate import Gate
from pails.policy.visible import visible_diff
from pails.tools.calls.choosing import Chosen, chooses_nothing, chosen, proposed_hunks
from pails.tools.registry import CallContext, Proposal


async def approved(
    context: CallContext, gate: Gate, action: Action, decision: Decision, proposal: Proposal
) -> Chosen | ToolResult:
    """Ask the person; what they allow of the call, or why it may not run."""
    text, diff = proposal.text or action.title, visible_diff(proposal.diff)
    hunks = await asyncio.to_thread(proposed_hunks, proposal) if proposal.revise else ()
    answer = await context.person.approve(
        context.call_id, action, decision, text, diff, hunks=hunks
    )
    allows = answer.choice in (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_SESSION)
    if allows and not chooses_nothing(answer):
        if answer.choice is ApprovalChoice.ALLOW_SESSION:
            gate.grant(decision)
        return await asyncio.to_thread(chosen, proposal, answer)
    if answer.choice is ApprovalChoice.UNANSWERED:
        return _unanswered(answer.feedback)
    gate.refuse(action, context.workspace, context.turn_id)
    return _refused_by_person(answer.feedback)


def refused(reason: str) -> ToolResult:
    """The result of a call that the gate denies."""
    return ToolResult(
        f"Refused, nothing was done. {reason}", is_error=True, summary=f"refused: {reason}"
    )


def _refused_by_person(feedback: str) -> ToolResult:
    said = f" They say: {feedback}" if feedback else ""
    return ToolResult(
        f"The person refused this call; nothing was done.{said} Do not try it again in "
        "another way: change your approach, or ask what they want.",
        is_error=True,
        summary="refused by the person",
    )


def _unanswered(why: str) -> ToolResult:
    why = why or "the question was closed without an answer"
    return ToolResult(
        f"This call needs a person's permission, and none was given: {why}. Nothing was done. Go "
        "on without it, and say at the end what could not be done.",
        is_error=True,
        summary=f"not allowed: {why}",
    )
