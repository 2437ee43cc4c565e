"""Events reach the client in order, each once, deltas gathered."""

import asyncio

from pails.core.events import (
    Envelope,
    Event,
    Mode,
    ModeChanged,
    Notice,
    ReasoningDelta,
    ReplyDiscarded,
    TextDelta,
    ToolOutputDelta,
)
from pails.lsp.outbox import EventFeed

LONG = 3600.0


class Sent(list[Event]):
    def __call__(self, envelope: Envelope) -> None:
        self.append(envelope.event)


def push(feed: EventFeed, seq: int, *events: Event) -> None:
    for event in events:
        feed.push(Envelope("s", seq, event))


def text(words: str) -> TextDelta:
    return TextDelta("t", words)


async def test_the_first_delta_goes_at_once_and_the_next_ones_together() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=LONG)
    push(feed, 1, text("a"))
    assert sent == [text("a")]
    push(feed, 1, text("b"), text("c"), ReasoningDelta("t", "r"), text("d"), text("e"))
    assert sent == [text("a")]
    feed.close()
    assert sent[1:] == [text("bc"), ReasoningDelta("t", "r"), text("de")]


async def test_gathered_deltas_go_out_by_themselves() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=0.001)
    push(feed, 1, text("a"), text("b"), text("c"))
    async with asyncio.timeout(10):
        while len(sent) < 2:
            await asyncio.sleep(0.001)
    assert sent == [text("a"), text("bc")]
    feed.close()


async def test_nothing_overtakes_a_delta() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=LONG)
    push(feed, 1, text("a"), text("b"), ReplyDiscarded("t", "broke"), text("c"))
    push(feed, 2, Notice("info", "n"))
    assert sent == [
        text("a"),
        text("b"),
        ReplyDiscarded("t", "broke"),
        text("c"),
        Notice("info", "n"),
    ]
    feed.close()


async def test_output_of_two_calls_and_text_of_two_turns_stay_apart() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=LONG)
    push(feed, 1, text("first"))
    apart = [
        ToolOutputDelta("t", "1", "a"),
        ToolOutputDelta("t", "2", "b"),
        TextDelta("t", "x"),
        TextDelta("u", "y"),
    ]
    push(feed, 1, *apart)
    feed.close()
    assert sent[1:] == apart


async def test_a_replay_and_the_live_events_join_without_gap_or_duplicate() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=LONG)
    modes = [ModeChanged(mode) for mode in (Mode.ASK, Mode.PLAN, Mode.AUTO)]
    feed.hold()
    # Number 3 happens while the log is read and is in it; 4 happens after it was read.
    push(feed, 2, text("void, its reply is in 3"))
    push(feed, 3, modes[2], text("on its way to 4"))
    push(feed, 4, Notice("info", "four"))
    assert sent == []
    feed.resume([Envelope("s", seq, mode) for seq, mode in enumerate(modes, start=1)], after_seq=0)
    assert sent == [*modes, text("on its way to 4"), Notice("info", "four")]
    push(feed, 5, Notice("info", "five"))
    assert sent[-1] == Notice("info", "five")
    feed.close()


async def test_an_empty_replay_keeps_what_is_new() -> None:
    sent = Sent()
    feed = EventFeed(sent, interval_seconds=LONG)
    feed.hold()
    push(feed, 7, text("current"))
    push(feed, 8, Notice("info", "eight"))
    feed.resume([], after_seq=7)
    assert sent == [text("current"), Notice("info", "eight")]
    feed.close()
