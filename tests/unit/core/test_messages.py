"""The one rule that keeps a conversation sendable."""

import pytest

from pails.core.errors import HistoryError
from pails.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    check_sendable,
)
from pails.core.text import join_surrogates

ASK = UserMessage("hi")
A, B = ToolCall("a", "t", "{}"), ToolCall("b", "t", "{}")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [ASK, AssistantMessage("hello")],
        [ASK, AssistantMessage("", (A, B)), ToolMessage("a", ""), ToolMessage("b", "")],
        [ASK, AssistantMessage("", (A,)), ToolMessage("a", ""), AssistantMessage("done"), ASK],
    ],
)
def test_sendable(messages: list[Message]) -> None:
    check_sendable(messages)


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([ASK, ToolMessage("a", "")], "unknown call"),
        ([ASK, AssistantMessage("", (A,))], "without a result at the end"),
        ([ASK, AssistantMessage("", (A,)), ASK], "without a result"),
        ([ASK, AssistantMessage("", (A,)), ToolMessage("a", ""), ToolMessage("a", "")], "unknown"),
        ([ASK, AssistantMessage("", (A, A)), ToolMessage("a", "")], "used twice"),
        ([ASK, AssistantMessage(" \n")], "empty assistant"),
        (
            [
                AssistantMessage("", (A,)),
                ToolMessage("a", ""),
                AssistantMessage("", (A,)),
                ToolMessage("a", ""),
            ],
            "used twice",
        ),
    ],
)
def test_not_sendable(messages: list[Message], fault: str) -> None:
    with pytest.raises(HistoryError, match=fault):
        check_sendable(messages)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain 日本語 😀", "plain 日本語 😀"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_surrogates_are_joined_or_replaced(text: str, clean: str) -> None:
    assert join_surrogates(text) == clean
