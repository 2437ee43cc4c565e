"""The conversation of a session by itself: for a copy of it, and for reading.

A copy begins with the talk alone. What was changed in files, what was allowed and what can be taken
back belong to the session in which it happened.
"""

from collections.abc import Iterable, Iterator, Sequence

from pails.core.errors import NotFoundError
from pails.core.events import (
    AssistantMessageAdded,
    Event,
    Notice,
    PlanUpdated,
    PromptAccepted,
    PromptEdited,
    PromptJoined,
    QuestionAnswered,
    QuestionAsked,
    Rewound,
    RoundStarted,
    RunStateChanged,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessageAdded,
)
from pails.session.rewinding.rewind_history import RewindHistory

_OF_A_TURN = (
    *(TurnStarted, RunStateChanged, UserMessageAdded, RoundStarted, AssistantMessageAdded),
    *(UsageReported, ToolCallPrepared, ToolCallStarted, PlanUpdated, QuestionAsked),
    *(QuestionAnswered, ToolCallEnded, TurnEnded, PromptJoined),
)


def talk_of(events: Sequence[Event], before_turn_id: str | None = None) -> list[Event]:
    """What of a session's events a copy of it begins with: its turns that have ended.

    Those that a rewind took out of the talk are left out, and with `before_turn_id` that turn and
    all after it. Raises `NotFoundError` when there is no such turn.
    """
    turns = _turns_in_talk(events)
    if before_turn_id is not None:
        if before_turn_id not in turns:
            raise NotFoundError(f"The talk has no turn {before_turn_id!r}. Nothing was copied.")
        turns = turns[: turns.index(before_turn_id)]
    ended = {event.turn_id for event in events if isinstance(event, TurnEnded)}
    kept = ended & set(turns)
    joined = {e.joined_id for e in events if isinstance(e, PromptJoined) and e.turn_id in kept}
    return [event for event in events if _belongs(event, kept, joined)]


def markdown_of(title: str, events: Iterable[Event]) -> str:
    """The talk as a text for people. Results of tools are told in a line each."""
    blocks = [f"# {title}", *_blocks(events)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _turns_in_talk(events: Iterable[Event]) -> list[str]:
    rewinds, turns = RewindHistory(), list[str]()
    for place, event in enumerate(events):
        if isinstance(event, TurnStarted):
            rewinds.start(event.turn_id)
            turns.append(event.turn_id)
        elif isinstance(event, Rewound):
            rewinds.add(event, place)
    return [turn_id for turn_id in turns if rewinds.in_talk(turn_id)]


def _belongs(event: Event, turns: set[str], joined: set[str]) -> bool:
    if isinstance(event, PromptAccepted | PromptEdited):
        return event.turn_id in turns | joined
    return isinstance(event, _OF_A_TURN) and event.turn_id in turns


def _blocks(events: Iterable[Event]) -> Iterator[str]:
    prompts: dict[str, str] = {}
    titles: dict[str, str] = {}
    for event in events:
        match event:
            case PromptAccepted() | PromptEdited():
                prompts[event.turn_id] = event.text
            case TurnStarted():
                yield f"## You\n\n{prompts.get(event.turn_id, event.title)}"
            case PromptJoined():
                yield f"## You, meanwhile\n\n{prompts.get(event.joined_id, '')}"
            case AssistantMessageAdded():
                yield event.message.text and f"## Pails\n\n{event.message.text}"
            case ToolCallPrepared():
                titles[event.call_id] = event.title
            case ToolCallEnded():
                name = titles.get(event.call_id, "A call")
                yield f"- {name}: {event.summary or ('failed' if event.is_error else 'done')}"
            case Notice():
                yield f"> {event.text}"
            case TurnEnded() if event.error:
                yield f"> {event.error}"
            case _:
                pass
