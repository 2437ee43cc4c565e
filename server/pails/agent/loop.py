"""The ReAct loop: ask the model, run what it calls, tell it the results, until it is done.

One turn is a number of rounds. A round is one model call and the calls it asked for. The loop
does no I/O of its own: the model, the executor and the log are handed in, and what happens is
said as events, which also build the history that the next round sends.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pails.core.events import (
    AssistantMessageAdded,
    Notice,
    ReasoningDelta,
    ReplyDiscarded,
    RoundStarted,
    StopReason,
    TextDelta,
    ToolCallEnded,
    UsageReported,
    UserMessageAdded,
)
from pails.core.messages import AssistantMessage, Message, ToolCall, ToolSpec, UserMessage
from pails.core.ports import Emit, Model, ModelRequest, Reply, ReplyRestarted

WRAP_UP = (
    "The limit of {rounds} rounds for this turn is reached and no tool can be called now. "
    "Say what is done, what is not, and what the next step would be."
)
CUT_REPLY = (
    "Not run: your reply was cut at the token limit, so its calls may be incomplete. "
    "Send this call again, in smaller parts if it is large."
)
INTERRUPTED = "\n\n[interrupted by the user]"


@dataclass(frozen=True, slots=True)
class Turn:
    """What the loop works with in one turn. `history` is read anew in each round."""

    turn_id: str
    system: str
    tools: Sequence[ToolSpec]
    history: Callable[[], Sequence[Message]]
    model: Callable[[], Model]
    run_calls: Callable[[Sequence[ToolCall]], Awaitable[None]]
    hear: Callable[[], Awaitable[bool]]
    """Adds to the history what the person has said to this turn meanwhile; whether they have."""
    emit: Emit
    max_rounds: int


async def run_turn(turn: Turn) -> StopReason:
    """Run rounds until the model asks for no tool or the limit is reached; says which.

    The person may speak between two rounds, and keeps the turn going when they do after the last.
    Raises `ModelError` when no reply could be had; cancellation passes through.
    """
    for number in range(1, turn.max_rounds + 1):
        if number > 1:
            await turn.hear()
        await turn.emit(RoundStarted(turn.turn_id, number))
        reply = await _ask(turn, turn.tools)
        if not reply.message.tool_calls:
            if number == turn.max_rounds or not await turn.hear():
                return StopReason.DONE
        elif reply.truncated:
            await _refuse(turn, reply.message.tool_calls, CUT_REPLY)
        else:
            await turn.run_calls(reply.message.tool_calls)
    await _wrap_up(turn)
    return StopReason.MAX_ROUNDS


async def _wrap_up(turn: Turn) -> None:
    """One last call without tools, so that the turn ends with words instead of a broken thread."""
    note = UserMessage(WRAP_UP.format(rounds=turn.max_rounds), origin="pails")
    await turn.emit(UserMessageAdded(turn.turn_id, note))
    await turn.emit(RoundStarted(turn.turn_id, turn.max_rounds + 1, wrap_up=True))
    reply = await _ask(turn, ())
    await _refuse(turn, reply.message.tool_calls, "Not run: the turn's limit of rounds is reached.")


async def _refuse(turn: Turn, calls: Sequence[ToolCall], why: str) -> None:
    for call in calls:
        await turn.emit(ToolCallEnded(turn.turn_id, call.id, why, is_error=True, summary="not run"))


async def _ask(turn: Turn, tools: Sequence[ToolSpec]) -> Reply:
    """Stream one reply. What had been said when the person cancelled is kept and marked."""
    said = ""
    try:
        async for item in turn.model().stream(ModelRequest(turn.system, turn.history(), tools)):
            if isinstance(item, Reply):
                await _record(turn, item)
                return item
            if isinstance(item, ReplyRestarted):
                said = ""
                await turn.emit(ReplyDiscarded(turn.turn_id, item.reason))
                continue
            if item.reasoning:
                await turn.emit(ReasoningDelta(turn.turn_id, item.reasoning))
            if item.text:
                said += item.text
                await turn.emit(TextDelta(turn.turn_id, item.text))
    except asyncio.CancelledError:
        if said.strip():
            message = AssistantMessage(said.rstrip() + INTERRUPTED)
            await turn.emit(AssistantMessageAdded(turn.turn_id, message))
        raise
    raise AssertionError("a model's stream must end with a Reply or an error")


async def _record(turn: Turn, reply: Reply) -> None:
    await turn.emit(AssistantMessageAdded(turn.turn_id, reply.message))
    if reply.usage:
        await turn.emit(UsageReported(turn.turn_id, reply.usage))
    if reply.truncated and not reply.message.tool_calls:
        text = "The model's reply was cut at its token limit. Ask it to go on to see the rest."
        await turn.emit(Notice("warning", text))
