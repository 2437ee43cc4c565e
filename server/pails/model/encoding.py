"""A request as bytes, made so that each one starts with the bytes of the one before.

Servers cache by prefix. So the messages come last in the body, everything before them is frozen
per session, and a message always turns into the same bytes.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_core import PydanticSerializationError, from_json, to_json

from pails.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, ToolSpec
from pails.core.ports import ModelRequest
from pails.core.text import join_surrogates_within
from pails.model.json_values import Json

_HISTORIES = 8
_Encoded = list[tuple[Message, bytes]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes beyond the least. Each is sent until the server has refused it."""

    stream_options: bool = True
    reasoning: bool = True


class RequestEncoder:
    """Turns requests into bodies, and encodes a message only once while its history grows.

    That holds for the histories used last. The body is always valid UTF-8, whatever the texts hold.
    """

    def __init__(self) -> None:
        self._dialect = Dialect()
        self._histories: deque[_Encoded] = deque(maxlen=_HISTORIES)

    def encode(self, request: ModelRequest, model: str, dialect: Dialect) -> bytes:
        head: Json = {"model": model, "stream": True}
        if dialect.stream_options:
            head["stream_options"] = {"include_usage": True}
        if request.tools:
            head["tools"] = [_encode_tool(tool) for tool in request.tools]
        messages = self._messages(request.messages, dialect)
        if request.system:
            messages.insert(0, _to_bytes({"role": "system", "content": request.system}))
        return b'%b,"messages":[%b]}' % (_to_bytes(head)[:-1], b",".join(messages))

    def _messages(self, messages: Sequence[Message], dialect: Dialect) -> list[bytes]:
        """What was sent last time is sent again as it was; only what follows is encoded."""
        if dialect != self._dialect:
            self._dialect = dialect
            self._histories.clear()
        done = self._known(messages)
        same = 0
        for (known, _), message in zip(done, messages, strict=False):
            if known is not message:
                break
            same += 1
        del done[same:]
        new = messages[same:]
        done += [(message, _to_bytes(_encode_message(message, dialect))) for message in new]
        return [encoded for _, encoded in done]

    def _known(self, messages: Sequence[Message]) -> "_Encoded":
        """What is encoded of this history, which begins with the same message; now used last."""
        for history in self._histories:
            if history and messages and history[0][0] is messages[0]:
                self._histories.remove(history)
                break
        else:
            history = []
        self._histories.append(history)
        return history


def _to_bytes(value: Json) -> bytes:
    try:
        return to_json(value)
    except PydanticSerializationError:
        return to_json(join_surrogates_within(value))


def is_json_object(arguments: str) -> bool:
    """True when this is one JSON object as strict parsers understand it: no NaN, no tail."""
    try:
        return isinstance(from_json(arguments, allow_inf_nan=False), dict)
    except ValueError:
        return False


def _encode_message(message: Message, dialect: Dialect) -> Json:
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if isinstance(message, AssistantMessage):
        return _encode_reply(message, dialect)
    return {"role": "user", "content": message.text}


def _encode_reply(message: AssistantMessage, dialect: Dialect) -> Json:
    encoded: Json = {"role": "assistant", "content": message.text or None}
    if message.reasoning and message.reasoning_field and dialect.reasoning:
        encoded[message.reasoning_field] = message.reasoning
    if message.tool_calls:
        encoded["tool_calls"] = [_encode_call(call) for call in message.tool_calls]
    return encoded


def _encode_call(call: ToolCall) -> Json:
    """The call as the model made it, or its nearest valid form.

    A call whose arguments are no object was never run, but a strict server refuses a history with
    such arguments or with a name that no tool could have; and it would refuse it for ever.
    """
    arguments = call.arguments if is_json_object(call.arguments) else "{}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unknown"
    function: Json = {"name": name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _encode_tool(tool: ToolSpec) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}
