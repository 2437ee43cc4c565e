"""Turns shown by plain LSP: in order, whatever the client takes, and a word at the end."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.errors import StorageError
from pails.core.events import (
    AssistantMessageAdded,
    Effect,
    Envelope,
    Event,
    Mode,
    RunState,
    StopReason,
    ToolCallPrepared,
    TurnEnded,
    TurnStarted,
)
from pails.core.messages import AssistantMessage, Usage
from pails.lsp.client import Client
from pails.lsp.display import HOW_TO_REVIEW, TurnDisplay, turn_summary
from tests.unit.lsp.conftest import FakeWire

WORKSPACE = Path("/w")
CREATE, PROGRESS = "window/workDoneProgress/create", "$/progress"
STARTED = TurnStarted("t", "Fix it", Mode.AUTO, "m")
EDITING = ToolCallPrepared("t", "c", "edit_file", "Edit calc.py", Effect.WRITE)


def ended(
    state: RunState = RunState.COMPLETED,
    reason: StopReason = StopReason.DONE,
    files: tuple[str, ...] = (),
    error: str = "",
) -> TurnEnded:
    return TurnEnded("t", state, reason, 20, Usage(), 1.0, files, error)


def said(text: str) -> AssistantMessageAdded:
    return AssistantMessageAdded("t", AssistantMessage(text))


async def keep(name: str, text: str) -> Path:
    return Path("/state/answer 1.md")


async def full(name: str, text: str) -> Path:
    raise StorageError("the disk is full")


async def show(display: TurnDisplay, *events: Event) -> None:
    for event in events:
        display.push(Envelope("s", 1, event))
    for _ in range(10):
        await asyncio.sleep(0)


def values(wire: FakeWire) -> list[Any]:
    return [params.value for params in wire.of(PROGRESS)]


async def test_progress_begins_reports_and_ends(client: Client, wire: FakeWire) -> None:
    wire.answers[CREATE] = lambda _: None
    display = TurnDisplay(client, WORKSPACE, keep, is_bare=True)
    await show(display, STARTED, EDITING)
    assert display.shows("pails/t") == "t"
    await show(display, said("Did it."), ended(files=("/w/calc.py",)))
    assert display.shows("pails/t") is None
    begin, report, end = values(wire)
    assert (begin.title, begin.cancellable, begin.message) == ("Pails", True, "Fix it")
    assert report.message == "Edit calc.py"
    assert end.message == "done. Edited: calc.py."
    assert wire.of(PROGRESS)[0].token == wire.of(CREATE)[0].token == "pails/t"
    [message] = wire.of("window/showMessage")
    assert message.message == f"Pails: done. Edited: calc.py.\nDid it.\n{HOW_TO_REVIEW}"
    assert message.type == types.MessageType.Info


async def test_how_to_review_is_said_once_and_not_before_there_is_something(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[CREATE] = lambda _: None
    display = TurnDisplay(client, WORKSPACE, keep, is_bare=True)
    changed = ended(files=("/w/calc.py",))
    allowed = replace(STARTED, mode=Mode.ASK)
    for started, end in ((STARTED, ended()), (allowed, changed), *[(STARTED, changed)] * 2):
        await show(display, started, end)
    told = [HOW_TO_REVIEW in message.message for message in wire.of("window/showMessage")]
    assert told == [False, False, True, False]


async def test_a_turn_that_ends_before_the_client_takes_the_token(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[CREATE] = lambda _: None
    await show(TurnDisplay(client, WORKSPACE, keep, is_bare=True), STARTED, EDITING, ended())
    assert [value.kind for value in values(wire)] == ["begin", "report", "end"]


async def test_a_client_that_refuses_the_token_is_told_nothing_more(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[CREATE] = lambda _: JsonRpcException("no")
    await show(TurnDisplay(client, WORKSPACE, keep, is_bare=True), STARTED, EDITING, ended())
    assert values(wire) == []


async def test_a_client_with_events_sees_the_turns_of_commands_only(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[CREATE] = lambda _: None
    display = TurnDisplay(client, WORKSPACE, keep, is_bare=False)
    await show(display, STARTED, EDITING, ended())
    assert wire.asked == wire.sent == []
    display.expect("t", "Explanation")
    await show(display, STARTED, said("So."), ended())
    assert [value.kind for value in values(wire)] == ["begin", "end"]
    assert wire.of("window/showMessage") == wire.of("window/showDocument") == []


async def test_an_answer_opens_as_a_document(client: Client, wire: FakeWire) -> None:
    wire.answers[CREATE] = lambda _: None
    wire.answers["window/showDocument"] = lambda _: types.ShowDocumentResult(success=True)
    display = TurnDisplay(client, WORKSPACE, keep, is_bare=True)
    display.expect("t", "Explanation")
    await show(display, STARTED, said("So."), ended())
    assert wire.of("window/showDocument")[0].uri == "file:///state/answer%201.md"
    assert wire.of("window/showMessage") == []


@pytest.mark.parametrize(
    ("keeper", "answer"),
    [
        (keep, types.ShowDocumentResult(success=False)),
        (keep, JsonRpcException("cannot")),
        (full, types.ShowDocumentResult(success=True)),
    ],
)
async def test_an_answer_that_cannot_open_is_a_message(
    client: Client, wire: FakeWire, keeper: Any, answer: Any
) -> None:
    wire.answers[CREATE] = lambda _: None
    wire.answers["window/showDocument"] = lambda _: answer
    display = TurnDisplay(client, WORKSPACE, keeper, is_bare=True)
    display.expect("t", "Explanation")
    await show(display, STARTED, said("So it is.\n\nTruly."), ended())
    [message] = wire.of("window/showMessage")
    assert message.message == "So it is.\n\nTruly."


@pytest.mark.parametrize(
    ("event", "text", "level"),
    [
        (ended(files=("/w/a.py", "/x/b.py")), "done. Edited: a.py, /x/b.py.", "Info"),
        (ended(reason=StopReason.MAX_ROUNDS), "limit of 20 rounds", "Info"),
        (
            ended(RunState.CANCELLED, StopReason.CANCELLED),
            "cancelled. No file was edited.",
            "Info",
        ),
        (
            ended(RunState.FAILED, StopReason.ERROR, error="No connection."),
            "No connection. No file",
            "Error",
        ),
        (ended(RunState.INTERRUPTED, StopReason.INTERRUPTED), "the turn was cut off.", "Error"),
        (ended(files=tuple(f"/w/{n}" for n in range(7))), "Edited: 0, 1, 2, 3, 4 and 2", "Info"),
    ],
)
async def test_the_word_at_the_end(
    client: Client, wire: FakeWire, event: TurnEnded, text: str, level: str
) -> None:
    assert text in turn_summary(event, WORKSPACE)
    wire.answers[CREATE] = lambda _: None
    await show(TurnDisplay(client, WORKSPACE, keep, is_bare=True), STARTED, event)
    [message] = wire.of("window/showMessage")
    assert text in message.message
    assert message.type == types.MessageType[level]


async def test_a_long_first_line_is_cut_in_the_message(client: Client, wire: FakeWire) -> None:
    wire.answers[CREATE] = lambda _: None
    display = TurnDisplay(client, WORKSPACE, keep, is_bare=True)
    await show(display, STARTED, said("😀" * 300 + "\nmore"), ended())
    [message] = wire.of("window/showMessage")
    assert message.message.endswith("😀…") and len(message.message) < 260
    display.close()
