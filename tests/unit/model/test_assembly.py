"""Replies from chunks, as servers really send them."""

import json
import signal
from collections.abc import Iterator

import pytest

from pails.core.messages import ToolCall, Usage
from pails.core.ports import Reply
from pails.model.assembly import ReplyAssembler, new_call_id, read_usage


def delta(finish: str | None = None, **fields: object) -> dict:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def part(
    index: object = None, id_: object = None, name: object = None, args: object = None
) -> dict:
    """One fragment of a call; what is None is absent."""
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value}
    keys = (("index", index), ("id", id_), ("function", function))
    return delta(tool_calls=[{key: value for key, value in keys if value is not None}])


def assemble(*chunks: dict, used: tuple[str, ...] = ()) -> Reply:
    numbers = iter(range(1, 100))
    assembler = ReplyAssembler(used, lambda: f"new{next(numbers)}")
    for chunk in chunks:
        assembler.add(chunk)
    return assembler.reply()


def calls(*chunks: dict, used: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    made = assemble(*chunks, used=used).message.tool_calls
    return [(call.id, call.name, call.arguments) for call in made]


A, B = '{"p":"a"}', '{"p":"b"}'


def test_text_and_reasoning_are_shown_and_kept():
    assembler = ReplyAssembler()
    shown = [
        assembler.add(delta(role="assistant", content="")),
        assembler.add(delta(reasoning_content="hm")),
        assembler.add(delta(content="Hello ")),
        assembler.add(delta(content="你好")),
        assembler.add(delta("stop")),
    ]
    assert [(d.text, d.reasoning) for d in shown if d] == [("", "hm"), ("Hello ", ""), ("你好", "")]
    message = assembler.reply().message
    assert (message.text, message.reasoning) == ("Hello 你好", "hm")
    assert message.reasoning_field == "reasoning_content"
    assert assembler.is_whole


def test_reasoning_under_two_names_counts_once():
    reply = assemble(
        delta(reasoning="a", reasoning_content="a"), delta(reasoning="b", reasoning_content="b")
    )
    assert (reply.message.reasoning, reply.message.reasoning_field) == ("ab", "reasoning_content")
    other = assemble(delta(reasoning="a"), delta(reasoning="b"))
    assert (other.message.reasoning, other.message.reasoning_field) == ("ab", "reasoning")


def test_one_call_in_fragments():
    assert calls(
        part(0, "c1", "read"), part(0, args='{"p'), part(0, args='":"a"}'), delta("tool_calls")
    ) == [("c1", "read", A)]


def test_interleaved_calls_with_the_id_only_on_the_first_fragment():
    assert calls(
        part(0, "c1", "read"), part(1, "c2", "grep"), part(0, args=A), part(1, args=B)
    ) == [("c1", "read", A), ("c2", "grep", B)]


def test_several_fragments_in_one_chunk():
    one = part(0, "c1", "read", A)
    one["choices"][0]["delta"]["tool_calls"] += part(1, "c2", "read", B)["choices"][0]["delta"][
        "tool_calls"
    ]
    assert calls(one) == [("c1", "read", A), ("c2", "read", B)]


@pytest.mark.parametrize("index", [0, None])
def test_calls_that_share_an_index_or_have_none(index):
    expected = [("c1", "read", A), ("c2", "read", B)]
    assert calls(part(index, "c1", "read", A), part(index, "c2", "read", B)) == expected
    assert (
        calls(
            part(index, "c1", "read", '{"p":'),
            part(index, args='"a"}'),
            part(index, "c2", "read", '{"p":'),
            part(index, args='"b"}'),
        )
        == expected
    )


@pytest.mark.parametrize("index", [0, None])
def test_interleaved_calls_that_share_an_index_are_told_apart_by_id(index):
    assert calls(
        part(index, "c1", "read"),
        part(index, "c2", "grep"),
        part(index, "c1", args=A),
        part(index, "c2", args=B),
    ) == [("c1", "read", A), ("c2", "grep", B)]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_get_some(index):
    assert calls(part(index, None, "read", A), part(index, None, "read", B)) == [
        ("new1", "read", A),
        ("new2", "read", B),
    ]
    assert calls(part(index, None, "read"), part(index, None, "grep", B)) == [
        ("new1", "read", "{}"),
        ("new2", "grep", B),
    ]


def test_an_index_that_arrives_late():
    assert calls(
        part(None, "c1", "read"), part(0, args=A), part(None, "c2", "grep"), part(1, args=B)
    ) == [("c1", "read", A), ("c2", "grep", B)]
    assert calls(part(None, "c1", "read", A), part(1, "c2", "grep", B)) == [
        ("c1", "read", A),
        ("c2", "grep", B),
    ]


def test_an_index_that_stops_coming():
    assert calls(
        part(0, "c1", "read", '{"p":'), part(None, args='"a"}'), part(1, "c2", "read", B)
    ) == [("c1", "read", A), ("c2", "read", B)]


def test_id_and_name_repeated_in_each_fragment_are_one_call():
    pieces = ['{"p"', ":", '"a"}', ""]
    assert calls(*(part(0, "c1", "read", piece) for piece in pieces)) == [("c1", "read", A)]
    assert calls(*(part(None, None, "read", piece) for piece in pieces)) == [("new1", "read", A)]


def test_a_new_id_in_each_fragment_is_one_call():
    assert calls(part(0, "x1", "read", '{"p"'), part(0, "x2", None, ':"a"}')) == [("x1", "read", A)]


def test_an_id_that_comes_after_the_name():
    assert calls(part(0, None, "read"), part(0, "c1", None, A)) == [("c1", "read", A)]


@pytest.mark.parametrize("second_index", [1, 0, None])
def test_an_id_used_twice_is_rewritten(second_index):
    first_index = None if second_index is None else 0
    assert calls(part(first_index, "c1", "read", A), part(second_index, "c1", "read", B)) == [
        ("c1", "read", A),
        ("new1", "read", B),
    ]


def test_an_id_used_earlier_in_the_conversation_is_rewritten():
    chunks = [part(0, "call_0", "read", A), part(1, "run:0", "read", B)]
    assert [id_ for id_, _, _ in calls(*chunks, used=("call_0", "run:0"))] == ["new1", "new2"]


def test_a_made_up_id_never_meets_a_used_one():
    assert calls(part(0, None, "read", A), used=("new1", "new2"))[0][0] == "new3"
    assert new_call_id() != new_call_id()
    assert len(new_call_id()) == 9


@pytest.mark.parametrize("arguments", ["", " ", "\n", None])
def test_no_arguments_are_an_empty_object(arguments):
    function = {"name": "list", "arguments": arguments}
    assert calls(delta(tool_calls=[{"index": 0, "id": "c", "function": function}])) == [
        ("c", "list", "{}")
    ]
    assert calls(part(0, "c", "list")) == [("c", "list", "{}")]


@pytest.mark.parametrize("arguments", ["null", "5", '"x"', "[1]", '{"path":"a"'])
def test_arguments_that_are_no_object_stay_as_they_are(arguments):
    assert calls(part(0, "c", "list", arguments)) == [("c", "list", arguments)]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ('"{\\"p\\":\\"a\\"}"', A),
        ('{"p": "one\n\ttwo"}', '{"p": "one\\n\\ttwo"}'),
        ('"{\\"p\\":"', '"{\\"p\\":"'),
        ('{"p": NaN, "q": "\n"}', '{"p": NaN, "q": "\n"}'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_objects_encoded_twice_or_with_bare_line_ends_are_mended(sent, kept):
    assert calls(part(0, "c", "list", sent)) == [("c", "list", kept)]


def test_arguments_sent_as_an_object_become_text():
    assert calls(part(0, "c", "read", {"p": "é"})) == [("c", "read", '{"p": "é"}')]


def test_stop_together_with_calls_keeps_the_calls():
    reply = assemble(part(0, "c1", "read", A), delta("stop"))
    assert reply.message.tool_calls == (ToolCall("c1", "read", A),)
    assert not reply.truncated


@pytest.mark.parametrize("arguments", [A, '{"p":"a'])
def test_a_reply_cut_at_the_token_limit_says_so(arguments):
    assert assemble(part(0, "c1", "read", arguments), delta("length")).truncated


def test_halves_of_characters_join_or_are_replaced():
    assembler = ReplyAssembler()
    first, second = assembler.add(delta(content="a\ud83d")), assembler.add(delta(content="\ude00b"))
    assert first is not None
    assert second is not None
    assert (first.text, second.text) == ("a", "😀b")
    assembler.add(delta(content="\ude00c\ud83d"))
    assert assembler.reply().message.text == "a😀b\ufffdc\ufffd"


def test_halves_in_arguments_names_and_ids_join_or_are_replaced():
    made = calls(part(0, "c\ud83d", "re\ud83dad", '{"p":"\ud83d'), part(0, args='\ude00 \ud83d"}'))
    assert made == [("c\ufffd", "re\ufffdad", '{"p":"😀 \ufffd"}')]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r'{"p":"\ud83d\ude00"}', r'{"p":"\ud83d\ude00"}'),
        (r'{"p":"\ud83d"}', r'{"p":"\ufffd"}'),
        (r'{"p":"\uDE00\uD83D"}', r'{"p":"\ufffd\ufffd"}'),
        (r'{"p":"\\ud83d"}', r'{"p":"\\ud83d"}'),
        (r'{"p":"\\\ud83d x\u00e9"}', r'{"p":"\\\ufffd x\u00e9"}'),
    ],
)
def test_escaped_halves_in_arguments(written, kept):
    ((_, _, arguments),) = calls(part(0, "c", "read", written))
    assert arguments == kept
    json.dumps(json.loads(arguments), ensure_ascii=False).encode()


def test_chunks_without_sense_are_harmless():
    nonsense = [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None, 3]},
        {"choices": [{"delta": None}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        delta(content=None, tool_calls=None),
        delta(tool_calls=[]),
        {"usage": None},
    ]
    assert assemble(*nonsense, delta(content="ok")).message.text == "ok"


def test_content_in_parts_and_whole_messages():
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": []}, None]
    assert assemble(delta(content=parts)).message.text == "a"
    whole = {"choices": [{"message": {"content": "b"}, "finish_reason": "stop"}]}
    assert assemble(whole).message.text == "b"


def test_usage_in_the_last_chunk_or_beside_choices():
    alone = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    assert assemble(delta(content="x"), alone).usage == Usage(5, 2, 0)
    assert assemble(delta(content="x") | {"usage": alone["usage"]}, delta()).usage == Usage(5, 2)
    assert assemble(delta(content="x")).usage is None


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (
            {"prompt_tokens": 17111, "prompt_tokens_details": {"cached_tokens": 17102}},
            Usage(17111, 0, 17102),
        ),
        ({"prompt_tokens": 17111, "prompt_cache_hit_tokens": 17102}, Usage(17111, 0, 17102)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(9, 0, 8)),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 17102}},
            Usage(17111, 0, 17102),
        ),
        (
            {"input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": 17102},
            Usage(17111, 3, 17102),
        ),
        ({"prompt_tokens": None, "completion_tokens": -1, "prompt_tokens_details": None}, Usage()),
        ({"prompt_tokens": "many", "completion_tokens": 1}, Usage(0, 1)),
    ],
)
def test_usage_in_every_convention(sent, read):
    assert read_usage(sent) == read
    assert read.cached_tokens <= read.input_tokens


@pytest.fixture
def little_work() -> Iterator[None]:
    """A limit of processor time that only a loop over all of the input again and again reaches."""

    def too_much(*_: object) -> None:
        raise AssertionError("the work grows with the square of the input")

    before = signal.signal(signal.SIGVTALRM, too_much)
    signal.setitimer(signal.ITIMER_VIRTUAL, 12)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("little_work")
def test_many_small_fragments_are_not_parsed_over_and_over():
    text = json.dumps({"content": "x = {}\n" * 60_000})
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    fragments = (part(0, args=piece) for piece in pieces)
    assert calls(part(0, "c", "write"), *fragments) == [("c", "write", text)]
