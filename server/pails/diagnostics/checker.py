"""The syntax check of a written file.

Parsing runs in a child process: it is native code over any text, and a crash or a hang there
must not be one of the server. Nothing that goes wrong with the check is ever reported as an error
of the code: it becomes the report's `note`.
"""

import logging
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from pails.core.events import Problem, SourcePosition
from pails.core.ports import SyntaxReport
from pails.diagnostics.languages import GRAMMARS, candidates
from pails.host.worker import Worker, WorkerError

log = logging.getLogger(__name__)

ARGV = (sys.executable, "-P", "-m", "pails.diagnostics.worker")
"""`-P` keeps the working directory, which is somebody's workspace, off the import path."""

_SECONDS = 2.0
_MOST_CHARACTERS = 5_000_000
_MOST_SHOWN = 20


class GrammarStatus(NamedTuple):
    """Whether a language can be checked; `detail` is its wheel's version, or what is wrong."""

    language: str
    ok: bool
    detail: str


class TreeSitterChecker:
    """Implements `core.ports.SyntaxChecker`. Close it with `aclose`."""

    def __init__(self, argv: Sequence[str] = ARGV, seconds: float = _SECONDS) -> None:
        self._worker = Worker(argv)
        self._seconds = seconds

    async def warm(self) -> None:
        """Start the child now, so that the first check need not wait for it."""
        try:
            await self._worker.warm()
        except WorkerError as error:
            log.warning("%s", error)  # the next check tries again and tells the person

    async def aclose(self) -> None:
        await self._worker.aclose()

    async def check(self, path: Path, before: str | None, after: str) -> SyntaxReport:
        """What the write that turned `before` (None: a new file) into `after` newly broke."""
        languages = candidates(path, after)
        if not languages:
            return SyntaxReport("", checked=False)
        language = languages[0]
        if max(len(after), len(before or "")) > _MOST_CHARACTERS:
            return _unchecked(language, "more than 5 million characters")
        if "\0" in after:
            return _unchecked(language, "the text is binary")
        request = {"languages": languages, "before": before, "after": after}
        answer = await self._answer(request)
        if "error" in answer:
            return _unchecked(language, answer["error"])
        return _report(answer)

    async def available(self) -> list[GrammarStatus]:
        """Try every grammar, each by itself: a crash is told of the one that crashed."""
        statuses: list[GrammarStatus] = []
        for language, grammar in GRAMMARS.items():
            answer = await self._answer({"load": language})
            detail = answer.get("error") or _version(grammar.module)
            statuses.append(GrammarStatus(language, "error" not in answer, detail))
        return statuses

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._worker.request(request, self._seconds)
        except TimeoutError:
            return {"error": f"took longer than {self._seconds:g} s"}
        except WorkerError as error:
            return {"error": _within_sentence(error)}


def _unchecked(language: str, why: str) -> SyntaxReport:
    return SyntaxReport(language, note=f"syntax not checked: {why}", checked=False)


def _report(answer: dict[str, Any]) -> SyntaxReport:
    new = answer["new"]
    problems = tuple(
        Problem(SourcePosition(*start), SourcePosition(*end), message, source_line)
        for start, end, message, source_line in new[:_MOST_SHOWN]
    )
    more = len(new) - len(problems)
    note = f"{more} more not shown" if more else ""
    return SyntaxReport(answer["language"], problems, answer["existing"], note)


def _version(module: str) -> str:
    name = module.replace("_", "-")
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return name


def _within_sentence(error: WorkerError) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]
