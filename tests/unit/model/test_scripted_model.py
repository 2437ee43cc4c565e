"""The scripted server is only worth something if it refuses what strict providers refuse."""

import json

import pytest

from tests.support.scripted_model import find_problem

USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "s"}
DONE = {"role": "assistant", "content": "done"}


def call(id_: object = "c1", name: object = "read", arguments: object = "{}") -> dict:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict) -> dict:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(id_: str = "c1") -> dict:
    return {"role": "tool", "tool_call_id": id_, "content": ""}


def problem(*messages: object, **more: object) -> str | None:
    return find_problem(
        json.dumps({"model": "m", "stream": True, "messages": messages, **more}).encode()
    )


@pytest.mark.parametrize(
    "messages",
    [
        (USER,),
        (SYSTEM, USER, DONE, USER),
        (USER, USER),
        (USER, calling(call("a"), call("b")), result("a"), result("b")),
        (USER, calling(call("a")), result("a"), USER),
        (USER, calling(call("a")), result("a"), calling(call("b")), result("b")),
    ],
)
def test_good_conversations_pass(messages):
    assert problem(*messages) is None


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ((), "not empty"),
        ((SYSTEM,), "last one"),
        ((USER, DONE), "last one"),
        ((USER, SYSTEM), "cannot follow"),
        ((SYSTEM, SYSTEM, USER), "cannot follow"),
        ((DONE, USER), "cannot follow"),
        ((USER, DONE, DONE, USER), "cannot follow"),
        ((USER, result()), "cannot follow"),
        (({"role": "developer", "content": "x"},), "cannot follow"),
        ((USER, calling(call())), "have no result"),
        ((USER, calling(call()), USER), "have no result"),
        ((USER, calling(call("a"), call("b")), result("a"), USER), "have no result"),
        ((USER, calling(call("a"), call("b")), result("b"), result("a")), "expected a"),
        ((USER, calling(call("a")), result("a"), result("a")), "expected none"),
        ((USER, calling(call("a"), call("a")), result("a"), result("a")), "used twice"),
        ((USER, calling(call()), result(), calling(call()), result()), "used twice"),
        ((USER, {"role": "assistant", "content": " \n"}, USER), "empty assistant"),
        ((USER, {"role": "assistant", "content": None, "tool_calls": []}, USER), "tool_calls"),
        ((USER, calling(call("")), result("")), "no id"),
        ((USER, calling(call(name="a.b")), result()), "function name"),
        ((USER, calling(call(arguments="")), result()), "no JSON object"),
        ((USER, calling(call(arguments="[1]")), result()), "no JSON object"),
        ((USER, calling(call(arguments='{"a": NaN}')), result()), "no JSON object"),
        ((USER, calling(call(arguments={})), result()), "must be a string"),
        (({"role": "user", "content": " "},), "empty user"),
        (({"role": "user"},), "must be text"),
    ],
)
def test_bad_conversations_are_refused(messages, says):
    assert says in (problem(*messages) or "")


def tool(name: str = "a", **parameters: object) -> dict:
    function = {"name": name, "description": "", "parameters": parameters or {"type": "object"}}
    return {"type": "function", "function": function}


@pytest.mark.parametrize("tools", [[], [tool(), tool()], [tool("a b")], [tool(type="array")]])
def test_bad_tools_are_refused(tools):
    assert problem(USER, tools=tools)
    assert problem(USER, tools=[tool("a"), tool("b")]) is None


def test_bad_bodies_are_refused():
    assert find_problem(b"{")
    assert find_problem(b"[]")
    assert problem(USER, model="")
    assert problem(USER, stream=False)
