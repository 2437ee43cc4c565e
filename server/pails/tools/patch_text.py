"""Reading a patch: what it wants of which file. Pure.

Two forms are read. The one of coding agents:

    *** Begin Patch
    *** Update File: src/a.py
    *** Move to: src/b.py
    @@ def area(self):
     a line of context
    -a line that goes
    +a line that comes
    *** Add File: src/c.py
    +its first line
    *** Delete File: src/d.py
    *** End Patch

and the one of `diff -u` and git, where the numbers behind `@@` only choose among equal places.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pails.core.text import first_line, join_surrogates
from pails.tools.lines import fold

_ACTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = "*** Move to: "
_BEGIN, _END, _END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_SIGNS = ("", " ", "+", "-", "\\")
_EXTENDED = (
    *("diff --git ", "index ", "old mode ", "new mode ", "new file mode ", "deleted file mode "),
    *("similarity index ", "dissimilarity index "),
)
"""What git writes above the names of a file, and what tells us nothing."""
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """Lines, without their ends, and what they become.

    `anchors` are lines that stand above it, the outermost first. `line` (from 0) is where a
    unified diff says that it begins; `at_end` that it ends with the file.
    """

    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    line: int | None = None
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch wants of one file. `content` is the text of a file to be added."""

    kind: Literal["add", "update", "delete"]
    path: str
    move_to: str | None = None
    hunks: tuple[PatchHunk, ...] = ()
    content: str = ""


class PatchError(ValueError):
    """The text is no patch; the message says where and why."""


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """What the patch wants, in its order. Raises `PatchError`."""
    lines = fold(text.removeprefix("\ufeff")).text.strip("\n").split("\n")
    is_own_form = any(line.startswith("*** ") for line in lines)
    found = list((_Envelope if is_own_form else _Unified)(lines).files())
    if not found:
        raise PatchError("It names no file.")
    for file in found:
        for path in filter(None, (file.path, file.move_to)):
            if "\0" in path or path != join_surrogates(path):
                raise PatchError(f"{path!r} is not a path that can exist.")
    return _joined(found)


def _joined(files: Iterable[FilePatch]) -> tuple[FilePatch, ...]:
    """The same, with what is wanted of one file in several updates as one."""
    found: list[FilePatch] = []
    for file in files:
        last = next((one for one in found if one.path == file.path), None)
        if last and last.kind == file.kind == "update" and not (last.move_to and file.move_to):
            hunks, move_to = (*last.hunks, *file.hunks), last.move_to or file.move_to
            found[found.index(last)] = replace(last, hunks=hunks, move_to=move_to)
        else:
            found.append(file)
    return tuple(found)


class _Reader:
    """Lines to be read one after the other, and the hunks that both forms share."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    @property
    def next(self) -> str | None:
        """The line to be read next; None at the end."""
        return self._lines[self._at] if self._at < len(self._lines) else None

    def take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def error(self, message: str) -> PatchError:
        """About the line read last."""
        shown = first_line(self._lines[self._at - 1], _SHOWN_CHARS)
        return PatchError(f"Line {self._at} ({shown!r}): {message}.")

    def is_header(self) -> bool:
        """Whether the next line begins something new, or there is none."""
        raise NotImplementedError

    def hunks(self) -> Iterator[PatchHunk]:
        while not self.is_header():
            hunk = self._hunk()
            if hunk != PatchHunk():
                yield hunk

    def _hunk(self) -> PatchHunk:
        anchors: list[str] = []
        number = None
        while self.next is not None and self.next.startswith("@@"):
            line = self.take()
            if found := _RANGE.match(line):
                # Of no lines the number says behind which they would stand.
                number = int(found[1]) - (found[2] != "0")
            elif anchor := line.strip("@ "):
                anchors.append(anchor)
        lines = self._signed_lines(_SIGNS, "each line of a hunk begins with a blank, + or -")
        at_end = self.next == _END_OF_FILE
        if at_end:
            self.take()
        old = tuple(line[1:] for line in lines if line[:1] in ("", " ", "-"))
        new = tuple(line[1:] for line in lines if line[:1] in ("", " ", "+"))
        return PatchHunk(old, new, tuple(anchors), number, at_end)

    def _signed_lines(self, signs: Sequence[str], rule: str) -> list[str]:
        lines: list[str] = []
        while not self.is_header() and not str(self.next).startswith(("@@", _END_OF_FILE)):
            line = self.take()
            if line[:1] not in signs:
                raise self.error(rule)
            lines.append(line)
        while lines and not lines[-1]:  # blank lines between two hunks
            lines.pop()
        return lines


class _Envelope(_Reader):
    """The form of coding agents."""

    def is_header(self) -> bool:
        line = self.next
        return line is None or (line.startswith("*** ") and line != _END_OF_FILE)

    def files(self) -> Iterator[FilePatch]:
        while self.next is not None:
            line = self.take().strip()
            if action := _ACTION.fullmatch(line):
                yield self._file(action[1], action[2].strip())
            elif line == _END:
                return
            elif line not in ("", _BEGIN):
                raise self.error("here *** Add File, *** Update File or *** Delete File is due")
        raise PatchError(f"It has no {_END!r}: it may have been cut off.")

    def _file(self, action: str, path: str) -> FilePatch:
        if action == "Delete":
            return FilePatch("delete", path)
        if action == "Add":
            return FilePatch("add", path, content=self._content())
        move_to = None
        if self.next is not None and self.next.startswith(_MOVE):
            move_to = self.take().removeprefix(_MOVE).strip()
        return FilePatch("update", path, move_to, tuple(self.hunks()))

    def _content(self) -> str:
        lines = self._signed_lines(("", "+"), "each line of a file to be added begins with +")
        return "".join(f"{line[1:]}\n" for line in lines)


class _Unified(_Reader):
    """The form of `diff -u` and git."""

    def is_header(self) -> bool:
        line = self.next
        return line is None or line.startswith("diff --git ") or self._is_names()

    def _is_names(self) -> bool:
        """A line that goes, and was `-- x`, looks like a header too, but for the line behind it."""
        pair = self._lines[self._at : self._at + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def files(self) -> Iterator[FilePatch]:
        moved: dict[str, str] = {}
        while (line := self.next) is not None:
            if self._is_names():
                yield self._file(moved)
                moved = {}
                continue
            self.take()
            name, _, path = line.partition(" from " if line.startswith("rename f") else " to ")
            if name == "rename":
                moved[line.split()[1]] = path
            elif not line.startswith(_EXTENDED) and line.strip():
                raise self.error("here --- and +++ with the names of a file are due")
            if len(moved) == 2 and self.is_header():
                yield FilePatch("update", moved["from"], moved["to"])
                moved = {}

    def _file(self, moved: Mapping[str, str]) -> FilePatch:
        old, new = _name(self.take()), _name(self.take())
        hunks = tuple(self.hunks())
        if old is None and new is not None:
            return FilePatch("add", new, content="".join(f"{n}\n" for h in hunks for n in h.new))
        if old is None:
            raise self.error("it names no file")
        if new is None:
            return FilePatch("delete", old)
        return FilePatch("update", old, new if moved and new != old else None, hunks)


def _name(header: str) -> str | None:
    """The path in a line such as `--- a/src/x.py`; None for one that does not exist."""
    name = header[4:].partition("\t")[0].strip()
    return None if name == "/dev/null" else re.sub(r"^[ab]/", "", name)
