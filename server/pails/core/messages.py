"""The conversation that goes to the model, and the one rule that keeps it sendable.

A conversation is a tuple of messages in the order in which the model saw them. The system prompt
is not among them: it is frozen per session and travels beside the list.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pails.core.errors import HistoryError


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for.

    `arguments` is the JSON text exactly as the model wrote it. It goes back to the model byte for
    byte, so that a server which caches by tokens keeps its cache.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person sent, with attachments already rendered into the text.

    `origin` is "pails" for a word of the harness itself, such as the request to wrap up.
    """

    text: str
    origin: Literal["person", "pails"] = "person"
    role: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One reply of the model.

    `reasoning` goes back under the field name it came in (`reasoning_field`, such as
    `reasoning_content`), for providers that want it back.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_field: str = ""
    role: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The one result of the call with this id."""

    call_id: str
    text: str
    is_error: bool = False
    role: Literal["tool"] = "tool"


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. `cached_tokens` is a part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `parameters` is JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, object]


def check_sendable(messages: Iterable[Message]) -> None:
    """Raise `HistoryError` unless every tool call has exactly one result, right behind its reply.

    Strict providers refuse anything else, and a refused history is refused for ever. This guards
    every request.
    """
    open_calls: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if message.call_id not in open_calls:
                raise HistoryError(f"message {index}: result for unknown call {message.call_id!r}")
            open_calls.remove(message.call_id)
            continue
        if open_calls:
            raise HistoryError(f"message {index}: calls without a result: {open_calls}")
        if isinstance(message, AssistantMessage):
            if not message.text.strip() and not message.tool_calls:
                raise HistoryError(f"message {index}: empty assistant message")
            open_calls = [call.id for call in message.tool_calls]
            repeated = [i for n, i in enumerate(open_calls) if i in seen or i in open_calls[:n]]
            if repeated:
                raise HistoryError(f"message {index}: call ids used twice: {repeated}")
            seen.update(open_calls)
    if open_calls:
        raise HistoryError(f"calls without a result at the end: {open_calls}")
