"""What ripgrep prints, as lines for the model."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pails.core.text import safe_cut, shown_name
from pails.host.search import SearchOutput

MAX_MATCHES = 200
MAX_CHARS = 20_000
LINE_CHARS = 300

Keeps = Callable[[str], bool]
"""Whether a path is one of the files asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """`lines` to show, with `shown` of the `matches` (matching lines) that are in `files`."""

    lines: tuple[str, ...]
    matches: int
    files: frozenset[str]
    shown: int

    @property
    def note(self) -> str:
        """What is missing from the lines, in words."""
        if self.shown >= self.matches:
            return ""
        missing = f"{self.matches - self.shown:,} of {self.matches:,} matches not shown"
        return f"{missing}; {len(self.files):,} files match; narrow the search"


@dataclass(frozen=True, slots=True)
class _Record:
    """A matching line, or one of its context; several lines for a multi-line match."""

    path: str
    number: int
    is_match: bool
    lines: tuple[str, ...]


def parse_matches(output: SearchOutput, keeps: Keeps) -> Found:
    """Read the output of `rg --json`, as far as it goes.

    Only as many matches are decoded as can be shown; the totals are in the record that ends a file.
    """
    records: list[_Record] = []
    totals: dict[str, int] = {}
    decoded = 0
    for line in _lines(output):
        if line.startswith(b'{"type":"end"'):
            data = json.loads(line)["data"]
            totals[_plain(_text(data["path"]))] = data["stats"]["matched_lines"]
        elif decoded < MAX_MATCHES and line.startswith((b'{"type":"match"', b'{"type":"context"')):
            record = _record(json.loads(line))
            if keeps(record.path):
                records.append(record)
                decoded += record.is_match
    kept = {path: count for path, count in totals.items() if keeps(path)}
    lines, shown = _rendered(records, separated=any(not record.is_match for record in records))
    return Found(tuple(lines), sum(kept.values()), frozenset(kept), shown)


def parse_counts(output: SearchOutput, keeps: Keeps) -> dict[str, int]:
    """Read the output of `rg --count --null`: matching lines by path."""
    pairs = [line.decode(errors="replace").split("\0") for line in _lines(output)]
    named = {_plain(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2}
    return {path: count for path, count in named.items() if keeps(path)}


def parse_names(output: SearchOutput, keeps: Keeps) -> frozenset[str]:
    """Read the output of `rg --files-with-matches --null`: paths."""
    names = output.stdout.decode(errors="replace").split("\0")[:-1]
    return frozenset(path for path in map(_plain, names) if keeps(path))


def _lines(output: SearchOutput) -> list[bytes]:
    """The complete lines: the last one may have been cut off."""
    return output.stdout.split(b"\n")[:-1]


def _record(entry: dict[str, Any]) -> _Record:
    data = entry["data"]
    text = _text(data["lines"]).removesuffix("\n")
    parts = data["submatches"]
    start = _characters(text, parts[0]["start"]) if parts else 0
    lines = text.split("\n")
    clipped = [
        _clipped(line.removesuffix("\r"), start if not n else 0) for n, line in enumerate(lines)
    ]
    is_match = entry["type"] == "match"
    return _Record(_plain(_text(data["path"])), data["line_number"], is_match, tuple(clipped))


def _rendered(records: Sequence[_Record], *, separated: bool) -> tuple[list[str], int]:
    """The lines that fit, and how many of them match; `--` stands where line numbers jump."""
    lines: list[str] = []
    chars = shown = 0
    following: tuple[str, int] | None = None
    for record in records:
        if shown >= MAX_MATCHES or chars >= MAX_CHARS:
            break
        if separated and following not in {None, (record.path, record.number)}:
            lines.append("--")
        sign, name = ":" if record.is_match else "-", shown_name(record.path)
        for number, line in enumerate(record.lines, record.number):
            lines.append(f"{name}{sign}{number}{sign}{line}")
            chars += len(lines[-1])
        shown += len(record.lines) if record.is_match else 0
        following = (record.path, record.number + len(record.lines))
    return lines, shown


def _text(value: dict[str, str]) -> str:
    """A text as ripgrep writes it: plain, or in base64 where it is not UTF-8."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode(errors="replace")


def _plain(path: str) -> str:
    return path.removeprefix("./")


def _characters(text: str, size: int) -> int:
    """How many characters the first `size` bytes of the text are."""
    return len(text.encode()[:size].decode(errors="ignore"))


def _clipped(line: str, start: int) -> str:
    """A long line cut around the character at `start`, where the match begins."""
    if len(line) <= LINE_CHARS:
        return line
    first = safe_cut(line, max(0, min(start - LINE_CHARS // 4, len(line) - LINE_CHARS)))
    end = safe_cut(line, first + LINE_CHARS)
    before, after = "…" if first else "", "…" if end < len(line) else ""
    return f"{before}{line[first:end]}{after} [{len(line):,} characters]"
