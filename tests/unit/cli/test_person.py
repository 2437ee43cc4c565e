"""A person at a terminal decides about a write part by part."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from pails.cli.person import AtTerminal
from pails.core.events import ApprovalChoice, ApprovalRequested, ProposedHunk
from pails.core.ports import ApprovalAnswer
from tests.unit.cli.support import plain_screen

END_OF_INPUT = "\x04"
HUNKS = (
    ProposedHunk("h1", "/w/a.py", 0, "old\n", "new 名\n"),
    ProposedHunk("h2", "/w/a.py", 8, "", "\x1b[2Jmore\n"),
)


def request(hunks: tuple[ProposedHunk, ...] = HUNKS) -> ApprovalRequested:
    return ApprovalRequested("t", "c", "a", "edit_file", "Edit a.py", "", "", "", "", hunks)


@contextmanager
def a_terminal() -> Iterator[tuple[int, TextIO]]:
    """The end where a person types, and the stream where it is read."""
    ours, theirs = os.openpty()
    try:
        with os.fdopen(theirs, encoding="utf-8") as stdin:
            yield ours, stdin
    finally:
        os.close(ours)


async def decide(wanted: ApprovalRequested, *typed: str) -> tuple[ApprovalAnswer, str]:
    """Type each of these when a prompt waits, then close the input; and what the screen shows."""
    screen, shown = plain_screen()

    async def type_it(terminal: int) -> None:
        seen = 0
        for line in (*typed, END_OF_INPUT):
            while not (len(shown.getvalue()) > seen and shown.getvalue().endswith("> ")):
                await asyncio.sleep(0.01)
            seen = len(shown.getvalue())
            os.write(terminal, line.encode())

    with a_terminal() as (terminal, stdin):
        typing = asyncio.create_task(type_it(terminal))
        async with asyncio.timeout(20):
            answer = await AtTerminal(screen, stdin).approve(wanted)
        typing.cancel()
    return answer, shown.getvalue()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("p\ny\nn\n", ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=("h1",))),
        ("p\nwhat?\nY\ny\n", ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=("h1", "h2"))),
        ("p\nn\nn\ntoo long\n", ApprovalAnswer(ApprovalChoice.REJECT, "too long")),
        ("p\ny\n", ApprovalAnswer(ApprovalChoice.UNANSWERED, "the person closed the input")),
    ],
)
async def test_parts_are_taken_or_left(typed: str, answer: ApprovalAnswer) -> None:
    decided, shown = await decide(request(), *typed.splitlines(keepends=True))
    assert decided == answer
    assert "[p] part by part (2 parts)" in shown
    assert "part 1 of 2, /w/a.py:1\n  -old\n  +new 名\n" in shown


async def test_a_part_cannot_draw_on_the_screen() -> None:
    _, shown = await decide(request(), "p\n", "y\n", "y\n")
    assert "+\\x1b[2Jmore" in shown


async def test_one_part_is_the_whole() -> None:
    answer, shown = await decide(request(HUNKS[:1]), "p\n", "y\n")
    assert answer == ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
    assert "[p]" not in shown
