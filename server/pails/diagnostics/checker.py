"""The syntax check of a written file.

Parsing runs in a child process: it is native code over any text, and a crash or a hang there
must not be one of the server. Nothing that goes wrong with the check is ever reported as an error
of the code: it becomes the report's `note`.
"""

import asyncio
import logging
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from pails.core.events import Problem, SourcePosition
from pails.core.ports import SyntaxReport
from pails.core.text import common_ends
from pails.diagnostics.languages import GRAMMARS, candidates
from pails.host.worker import Worker, WorkerError

log = logging.getLogger(__name__)

ARGV = (sys.executable, "-P", "-m", "pails.diagnostics.worker")
"""`-P` keeps the working directory, which is somebody's workspace, off the import path."""

_SECONDS = 2.0
_MOST_CHARACTERS = 5_000_000
_MOST_SHOWN = 20
_LARGE = 100_000
"""Characters; what takes noticeably long to parse."""
_MOST_KNOWN = 8
"""Texts that the child is taken to know; it keeps as many, if they are not too large."""


class GrammarStatus(NamedTuple):
    """Whether a language can be checked; `detail` is its wheel's version, or what is wrong."""

    language: str
    ok: bool
    detail: str


class _Sent(NamedTuple):
    """The text of a file that the child has seen last, under this id."""

    id: int
    text: str


class _Begun(NamedTuple):
    """A check that was started before anybody asked for it."""

    before: str | None
    after: str
    report: asyncio.Task[SyntaxReport]


class TreeSitterChecker:
    """Implements `core.ports.SyntaxChecker`. Close it with `aclose`."""

    def __init__(self, argv: Sequence[str] = ARGV, seconds: float = _SECONDS) -> None:
        self._worker = Worker(argv)
        self._seconds = seconds
        self._last_id = 0
        self._sent: OrderedDict[Path, _Sent] = OrderedDict()
        self._begun: dict[Path, _Begun] = {}

    async def warm(self, texts: Mapping[Path, str]) -> None:
        """Start the child, and let it read the large ones of these texts, one after the other."""
        try:
            await self._worker.warm()
        except WorkerError as error:
            log.warning("%s", error)  # the next check tries again and tells the person
            return
        large = [path for path in texts if len(texts[path]) >= _LARGE]
        for path in large[:_MOST_KNOWN]:
            if path not in self._sent or self._sent[path].text != texts[path]:
                await self._checked(path, texts[path], texts[path])

    async def aclose(self) -> None:
        await self._worker.aclose()
        tasks = [begun.report for begun in self._begun.values()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def begin(self, path: Path, before: str | None, after: str) -> None:
        """Start a check that will probably be asked for, and return at once."""
        for old in [path for path, begun in self._begun.items() if begun.report.done()]:
            del self._begun[old]  # nobody wanted to know
        report = asyncio.create_task(self._checked(path, before, after))
        self._begun[path] = _Begun(before, after, report)

    async def check(self, path: Path, before: str | None, after: str) -> SyntaxReport:
        """What the write that turned `before` (None: a new file) into `after` newly broke."""
        begun = self._begun.get(path)
        if begun is not None and (begun.before, begun.after) == (before, after):
            del self._begun[path]
            return await begun.report
        return await self._checked(path, before, after)

    async def available(self) -> list[GrammarStatus]:
        """Try every grammar, each by itself: a crash is told of the one that crashed."""
        statuses: list[GrammarStatus] = []
        for language, grammar in GRAMMARS.items():
            answer = await self._request({"load": language})
            detail = answer.get("error") or _version(grammar.module)
            statuses.append(GrammarStatus(language, "error" not in answer, detail))
        return statuses

    async def _checked(self, path: Path, before: str | None, after: str) -> SyntaxReport:
        languages = candidates(path, after)
        if not languages:
            return SyntaxReport("", checked=False)
        language = languages[0]
        if max(len(after), len(before or "")) > _MOST_CHARACTERS:
            return _unchecked(language, "more than 5 million characters")
        if "\0" in after:
            return _unchecked(language, "the text is binary")
        answer = await self._answer(path, languages, before or "", after)
        if "error" in answer:
            return _unchecked(language, answer["error"])
        return _report(answer)

    async def _answer(
        self, path: Path, languages: Sequence[str], before: str, after: str
    ) -> dict[str, Any]:
        """The child's answer. What it knows of the text already is not sent again."""
        identifier = self._last_id = self._last_id + 1
        about = {"languages": languages, "path": str(path), "id": identifier}
        known = self._sent.pop(path, None)
        answer: dict[str, Any] = {"unknown": True}
        if known is not None and known.text == before:
            start, end = common_ends(before, after)
            span, new = (start, len(before) - end), after[start : len(after) - end]
            change = {"base": known.id, "span": span, "texts": [new]}
            answer = await self._request({**about, **change})
        if "unknown" in answer:
            texts = [after] if before == after else [before, after]
            answer = await self._request({**about, "texts": texts})
        if "error" not in answer:
            self._sent[path] = _Sent(identifier, after)
        while len(self._sent) > _MOST_KNOWN:
            self._sent.popitem(last=False)
        return answer

    async def _request(self, request: dict[str, Any]) -> dict[str, Any]:
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
