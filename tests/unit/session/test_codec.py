"""Events as JSON: one form for the log and the wire."""

import json

import pytest

from pails.core.events import (
    Envelope,
    Event,
    Mode,
    Notice,
    RunState,
    SessionCreated,
    StopReason,
    TextDelta,
    TurnEnded,
)
from pails.core.messages import Usage
from pails.session.codec import decode_event, encode_envelope, encode_event


def test_half_a_character_does_not_stop_an_event() -> None:
    sent = json.loads(encode_envelope(Envelope("s", 7, TextDelta("t", "a\ud800b"))))
    assert sent["event"]["text"] == "a\ufffdb"


@pytest.mark.parametrize("error", ["", "\ud800"])
def test_no_number_leaves_that_json_does_not_have(error: str) -> None:
    end = TurnEnded("t", RunState.FAILED, StopReason.ERROR, 1, Usage(), float("nan"), error=error)
    assert b"NaN" not in encode_envelope(Envelope("s", 7, end))


@pytest.mark.parametrize(
    "event",
    [
        SessionCreated("/w", Mode.ASK, "m"),
        TextDelta("t1", "日本語 😀\u2028\r\n\0"),
        Notice("info", ""),
    ],
)
def test_the_wire_has_the_events_of_the_log(event: Event) -> None:
    sent = json.loads(encode_envelope(Envelope("s", 7, event)))
    assert sent == {"sessionId": "s", "seq": 7, "event": encode_event(event)}
    assert decode_event(sent["event"]) == event
