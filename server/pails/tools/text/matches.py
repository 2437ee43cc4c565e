"""What ripgrep prints, as lines for the model."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pails.core.text import safe_cut, shown_name
from pails.host.search import SearchOutput

MAX_MATCHES = 200
MAX_CHARS = 20_000
LINE_CHARS = 300

Keeps = Callable[[str], bool]
"""Whether a path is one of the files asked for."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a search printed of the disk and, where open documents differ from it, of their texts.

    `unsaved_paths` are all those documents, as ripgrep prints them: what the disk has of them does
    not count. Paths in `unsaved` are below `root`, or relative like all others.
    """

    disk: SearchOutput
    unsaved: SearchOutput | None = None
    unsaved_paths: frozenset[str] = frozenset()
    root: str = ""

    def parts(self, keeps: Keeps) -> Iterator[tuple[SearchOutput, str, Keeps]]:
        """Each output with the folder that its paths are below, and which of them count."""
        yield self.disk, "", lambda path: path not in self.unsaved_paths and keeps(path)
        if self.unsaved is not None:
            yield self.unsaved, self.root, keeps


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


@dataclass(slots=True)
class _File:
    """The lines that were printed of one file, and how many lines match in all, if it is known."""

    path: str
    lines: list[bytes] = field(default_factory=list[bytes])
    total: int | None = None


def parse_matches(printed: Printed, keeps: Keeps) -> Found:
    """Read the output of `rg --json`, as far as it goes; the files may come in any order.

    Only as many matches are decoded as can be shown; the totals are in the record that ends a file.
    """
    files = [
        file
        for output, root, counts in printed.parts(keeps)
        for file in _files(output, root)
        if counts(file.path)
    ]
    files.sort(key=lambda file: file.path.split("/"))  # as ripgrep sorts by path
    records = list(_first_records(files))
    totals = {file.path: file.total for file in files if file.total is not None}
    lines, shown = _rendered(records, separated=any(not record.is_match for record in records))
    return Found(tuple(lines), sum(totals.values()), frozenset(totals), shown)


def _files(output: SearchOutput, root: str) -> Iterator[_File]:
    """What was printed of each file; of the last one the end may be missing."""
    file = _File("")
    for line in _lines(output):
        if line.startswith(b'{"type":"begin"'):
            file = _File(_plain(_text(json.loads(line)["data"]["path"]), root))
        elif line.startswith((b'{"type":"match"', b'{"type":"context"')):
            file.lines.append(line)
        elif line.startswith(b'{"type":"end"'):
            file.total = json.loads(line)["data"]["stats"]["matched_lines"]
            yield file
            file = _File("")
    if file.lines:
        yield file


def _first_records(files: Iterable[_File]) -> Iterator[_Record]:
    """As many as hold the matches that can be shown."""
    decoded = 0
    for file in files:
        for line in file.lines:
            if decoded >= MAX_MATCHES:
                return
            record = _record(json.loads(line), file.path)
            decoded += record.is_match
            yield record


def parse_counts(printed: Printed, keeps: Keeps) -> dict[str, int]:
    """Read the output of `rg --count --null`: matching lines by path."""
    found: dict[str, int] = {}
    for output, root, counts in printed.parts(keeps):
        pairs = [line.decode(errors="replace").split("\0") for line in _lines(output)]
        named = {_plain(pair[0], root): int(pair[1]) for pair in pairs if len(pair) == 2}
        found |= {path: count for path, count in named.items() if counts(path)}
    return found


def parse_names(printed: Printed, keeps: Keeps) -> frozenset[str]:
    """Read the output of `rg --files-with-matches --null`: paths."""
    found: set[str] = set()
    for output, root, counts in printed.parts(keeps):
        names = output.stdout.decode(errors="replace").split("\0")[:-1]
        found |= {path for name in names if counts(path := _plain(name, root))}
    return frozenset(found)


def _lines(output: SearchOutput) -> list[bytes]:
    """The complete lines: the last one may have been cut off."""
    return output.stdout.split(b"\n")[:-1]


def _record(entry: dict[str, Any], path: str) -> _Record:
    data = entry["data"]
    text = _text(data["lines"]).removesuffix("\n")
    parts = data["submatches"]
    start = _characters(text, parts[0]["start"]) if parts else 0
    lines = text.split("\n")
    clipped = [
        _clipped(line.removesuffix("\r"), start if not n else 0) for n, line in enumerate(lines)
    ]
    is_match = entry["type"] == "match"
    return _Record(path, data["line_number"], is_match, tuple(clipped))


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


def _plain(path: str, root: str = "") -> str:
    return path.removeprefix("./").removeprefix(root)


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
