"""Events, however they are framed and wherever the bytes are cut."""

import pytest

from pails.model.sse import EventDecoder, EventTooLongError, ServerEvent

CLEAN = 'data: {"a": "é😀"}\n\ndata: two\n\nevent: error\ndata: three\n\n'.encode()
EXPECTED = [ServerEvent("", '{"a": "é😀"}'), ServerEvent("", "two"), ServerEvent("error", "three")]


def decode(*chunks: bytes) -> list[ServerEvent]:
    decoder = EventDecoder(longest=1 << 20)
    return [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.end()


def test_several_events_in_one_chunk():
    assert decode(CLEAN) == EXPECTED


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_cut_at_every_byte_with_every_line_end(end):
    stream = CLEAN.replace(b"\n", end)
    for at in range(len(stream) + 1):
        assert decode(stream[:at], stream[at:]) == EXPECTED, at
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == EXPECTED


def test_comments_blank_data_and_other_fields_are_no_events():
    noise = b": keep-alive\n\ndata:\n\ndata: \n\nid: 7\nretry: 10\n\n\n\nevent: ping\n\n"
    assert decode(noise + CLEAN + noise) == EXPECTED


def test_a_comment_within_an_event_does_not_end_it():
    assert decode(b"data: a\n: still here\ndata: b\n\n") == [ServerEvent("", "a\nb")]


def test_only_real_line_ends_cut_lines():
    text = "data: a\u2028b\u0085c\x0bd\x0ce\n\n"
    assert decode(text.encode()) == [ServerEvent("", "a\u2028b\u0085c\x0bd\x0ce")]


def test_the_last_event_may_lack_its_blank_line():
    assert decode(b"data: [DONE]") == [ServerEvent("", "[DONE]")]
    assert decode(b"data: [DONE]\r\n") == [ServerEvent("", "[DONE]")]


def test_byte_order_mark_and_bare_error_object():
    assert decode(b'\xef\xbb\xbfdata: a\n\n{"error": 1}\n') == [
        ServerEvent("", "a"),
        ServerEvent("", '{"error": 1}'),
    ]


@pytest.mark.parametrize(
    "unit", [b"data: aaaa\n", b"data:\n", b"x"], ids=["lines", "blank", "line"]
)
def test_an_event_without_an_end_is_not_kept_for_ever(unit):
    decoder = EventDecoder(longest=1000)
    with pytest.raises(EventTooLongError):
        for _ in range(1001):
            decoder.feed(unit)


def test_any_number_of_events_and_comments_may_follow_each_other():
    decoder = EventDecoder(longest=100)
    events = [decoder.feed(b": still here\n: and here\ndata: a\n\n") for _ in range(100)]
    assert events == [[ServerEvent("", "a")]] * 100
    assert [decoder.feed(b": still here\n") for _ in range(100)] == [[]] * 100
