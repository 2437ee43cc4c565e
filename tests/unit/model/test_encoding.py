"""Requests as bytes: stable prefixes, always encodable, always in a form strict servers take."""

import itertools
import json
from dataclasses import replace

import pytest

from pails.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from pails.core.ports import ModelRequest
from pails.model.encoding import Dialect, RequestEncoder, is_json_object
from tests.support.scripted_model import find_problem

TOOLS = (ToolSpec("read_file", "Reads.", {"type": "object", "properties": {}}),)

TALK: tuple[Message, ...] = (
    UserMessage("读 a.py 😀"),
    AssistantMessage(
        "", (ToolCall("c1", "read_file", '{ "path" :"a.py"}'),), "hm", "reasoning_content"
    ),
    ToolMessage("c1", "x = 1\n"),
    AssistantMessage("Done."),
    UserMessage("thanks"),
)


def encode(messages: tuple[Message, ...], dialect: Dialect | None = None) -> bytes:
    return RequestEncoder().encode(ModelRequest("sys", messages, TOOLS), "m", dialect or Dialect())


def encode_call(call: ToolCall) -> dict:
    talk = (UserMessage("x"), AssistantMessage("", (call,)), ToolMessage("c1", "r"))
    return json.loads(encode(talk))["messages"][2]["tool_calls"][0]


def test_each_body_begins_with_the_one_before():
    bodies = [encode(TALK[:count]) for count in range(1, len(TALK) + 1)]
    for shorter, longer in itertools.pairwise(bodies):
        assert shorter.endswith(b"]}")
        assert longer.startswith(shorter.removesuffix(b"]}"))


def test_many_conversations_in_turn_do_not_disturb_each_other():
    """More than are remembered, so that some are encoded anew: always to the same bytes."""
    talks = [(UserMessage(f"talk {n}"), *TALK[1:]) for n in range(12)]
    encoder = RequestEncoder()
    for count in range(1, len(TALK) + 1):
        for talk in talks:
            request = ModelRequest("sys", talk[:count], TOOLS)
            assert encoder.encode(request, "m", Dialect()) == encode(talk[:count])


def test_the_order_of_keys_is_fixed_and_messages_come_last():
    body = json.loads(encode(TALK))
    assert list(body) == ["model", "stream", "stream_options", "tools", "messages"]
    assert [message["role"] for message in body["messages"]][:2] == ["system", "user"]


def test_without_tools_there_is_no_tools_key():
    body = json.loads(RequestEncoder().encode(ModelRequest("", TALK[:1]), "m", Dialect()))
    assert "tools" not in body
    assert body["messages"] == [{"role": "user", "content": "读 a.py 😀"}]


def test_a_strict_server_takes_it():
    assert find_problem(encode(TALK)) is None


def test_valid_arguments_go_back_byte_for_byte():
    written = '{ "path" :"a.py",\n "n": 1.0, "path": "b"}'
    assert encode_call(ToolCall("c1", "t", written))["function"]["arguments"] == written


@pytest.mark.parametrize(
    "arguments",
    ["null", "5", '"x"', "[1]", '{"path":"a"', "", "{}{}", '{"a": NaN}', "{" * 5000, "{'a': 1}"],
)
def test_arguments_that_are_no_object_go_back_as_an_empty_one(arguments):
    assert not is_json_object(arguments)
    assert encode_call(ToolCall("c1", "t", arguments))["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("name", "sent"), [("a.b c", "a_b_c"), ("", "unknown"), ("x" * 80, "x" * 64), ("读", "_")]
)
def test_a_name_no_tool_could_have_goes_back_as_one_that_could(name, sent):
    assert encode_call(ToolCall("c1", name, "{}"))["function"]["name"] == sent


def test_half_characters_never_break_a_request():
    talk = (UserMessage("a\ud83d"), AssistantMessage("\ude00"), UserMessage("\ud83d\ude00"))
    contents = [message["content"] for message in json.loads(encode(talk))["messages"]]
    assert contents == ["sys", "a\ufffd", "\ufffd", "😀"]


def test_a_mended_half_character_changes_nothing_before_it():
    odd = ToolSpec("odd", "\ud83d", {"type": "object", "default": 1.0, "enum": ["\ud83d", None]})
    request = ModelRequest("\x1b\x7f\u2028é", TALK[:1], (*TOOLS, odd))
    longer = replace(request, messages=(*TALK[:4], UserMessage("\ud83d")))
    clean = replace(request, messages=TALK[:4])
    assert (
        RequestEncoder()
        .encode(longer, "m", Dialect())
        .startswith(RequestEncoder().encode(clean, "m", Dialect()).removesuffix(b"]}"))
    )


def test_reasoning_goes_back_under_the_name_it_came_in():
    reply = json.loads(encode(TALK))["messages"][2]
    assert reply["reasoning_content"] == "hm"
    plain = json.loads(encode(TALK, Dialect(reasoning=False)))["messages"][2]
    assert "reasoning_content" not in plain


def test_stream_options_can_be_left_out():
    assert "stream_options" not in json.loads(encode(TALK, Dialect(stream_options=False)))


def test_reused_bytes_are_those_of_a_fresh_encoder() -> None:
    """Growing, shortened and replaced histories, and a change of dialect in between."""
    encoder = RequestEncoder()
    other = (UserMessage("else"), *TALK[1:])
    for messages in (TALK[:1], TALK, TALK[:2], other, TALK):
        for dialect in (Dialect(), Dialect(reasoning=False)):
            request = ModelRequest("sys", messages, TOOLS)
            assert encoder.encode(request, "m", dialect) == encode(messages, dialect)
