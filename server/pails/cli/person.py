"""The person at the command line: asked at a terminal, or nobody."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, TextIO

from pails.cli.screen import Screen, printable
from pails.core.events import ApprovalChoice, ApprovalRequested
from pails.core.hunks import diff_lines
from pails.core.ports import ApprovalAnswer
from pails.host.terminal import TerminalLines


class Person(Protocol):
    """Who decides. `missed` names what could not be decided because nobody was there."""

    missed: list[str]

    async def approve(self, request: ApprovalRequested) -> ApprovalAnswer: ...

    async def answer(self, question: str, options: Sequence[str]) -> str | None:
        """The answer, or None when nobody could or would answer."""
        ...


class Nobody:
    """There is no terminal: what needs a person is refused, and said so."""

    def __init__(self, screen: Screen) -> None:
        self.missed: list[str] = []
        self._screen = screen

    async def approve(self, request: ApprovalRequested) -> ApprovalAnswer:
        self._miss(f"Refused, nobody is at a terminal to allow it: {request.title}", request.title)
        return ApprovalAnswer(ApprovalChoice.UNANSWERED, "nobody is at a terminal to be asked")

    async def answer(self, question: str, options: Sequence[str]) -> str | None:
        del options
        self._miss(f"Not answered, nobody is at a terminal: {question}", question)
        return None

    def _miss(self, text: str, what: str) -> None:
        self.missed.append(what)
        self._screen.row(self._screen.paint(f"! {printable(text)}", "yellow"))


class AtTerminal:
    """A person who reads the screen and types. One question at a time."""

    def __init__(self, screen: Screen, stdin: TextIO) -> None:
        self.missed: list[str] = []
        self._screen = screen
        self._lines = TerminalLines(stdin)
        self._turn = asyncio.Lock()

    async def approve(self, request: ApprovalRequested) -> ApprovalAnswer:
        async with self._turn:
            self._show_request(request)
            while True:
                line = await self._read("  > ")
                if line is None:
                    return self._left(request)
                word, _, rest = line.strip().partition(" ")
                match word.lower():
                    case "y" | "yes":
                        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
                    case "s" if request.rule:
                        return ApprovalAnswer(ApprovalChoice.ALLOW_SESSION)
                    case "p" if len(request.hunks) > 1:
                        return await self._parts(request)
                    case "n" | "no":
                        return await self._refusal(rest.strip())
                    case _:
                        self._screen.row("  Please type one of the letters.")

    async def answer(self, question: str, options: Sequence[str]) -> str | None:
        async with self._turn:
            self._screen.row(self._screen.paint(f"? {printable(question)}", "bold", "cyan"))
            for number, option in enumerate(options, 1):
                self._screen.row(f"  [{number}] {printable(option)}")
            hint = "a number or your own words" if options else "your answer"
            line = await self._read(f"  {hint} (Enter: no answer) > ")
        typed = (line or "").strip()
        if typed.isdecimal() and 1 <= int(typed) <= len(options):
            return options[int(typed) - 1]
        return typed or None

    def _show_request(self, request: ApprovalRequested) -> None:
        """All of what would be done, and the exact rule that "this session" would store."""
        screen = self._screen
        screen.row(screen.paint(f"? {printable(request.title)}", "bold", "yellow"))
        for line in printable(request.text).split("\n"):
            screen.row(f"  {line}")
        for line in screen.diff(request.diff):
            screen.row(line)
        if request.reason:
            screen.row(screen.paint(f"  asks because of {printable(request.reason)}", "dim"))
        screen.row("  [y] yes, once")
        if request.rule:
            screen.row(f"  [s] yes, for this session: {printable(request.rule)}")
        if len(request.hunks) > 1:
            screen.row(f"  [p] part by part ({len(request.hunks)} parts)")
        screen.row("  [n] no; what you type behind it is told to the model")

    async def _parts(self, request: ApprovalRequested) -> ApprovalAnswer:
        """One question for each part; a part is written only when the person says yes to it."""
        taken: list[str] = []
        for number, hunk in enumerate(request.hunks, 1):
            where = f"part {number} of {len(request.hunks)}, {hunk.path}:{hunk.line + 1}"
            self._screen.row(self._screen.paint(f"  {printable(where)}", "bold"))
            for line in self._screen.diff("\n".join(diff_lines(hunk.old, hunk.new))):
                self._screen.row(line)
            word = await self._one_of(("y", "n"), "  [y] take it  [n] leave it out > ")
            if word is None:
                return self._left(request)
            if word == "y":
                taken.append(hunk.id)
        if not taken:
            return await self._refusal("")
        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=tuple(taken))

    async def _one_of(self, letters: Sequence[str], prompt: str) -> str | None:
        """The letter that the person typed; None at the end of the input."""
        while True:
            line = await self._read(prompt)
            letter = None if line is None else line.strip().lower()[:1]
            if letter is None or letter in letters:
                return letter

    async def _refusal(self, reason: str) -> ApprovalAnswer:
        if not reason:
            reason = (await self._read("  why (Enter: no reason) > ") or "").strip()
        return ApprovalAnswer(ApprovalChoice.REJECT, reason)

    def _left(self, request: ApprovalRequested) -> ApprovalAnswer:
        self.missed.append(request.title)
        return ApprovalAnswer(ApprovalChoice.UNANSWERED, "the person closed the input")

    async def _read(self, prompt: str) -> str | None:
        self._lines.discard_typed()
        self._screen.prompt(prompt)
        line = await self._lines.next_line()
        if line is not None:
            self._screen.prompt_answered()
        return line
