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
from dataclasses import replace

from pails.tools.paths import usable_path
from pails.tools.text.diff_header import fault_of, file_names, git_name, read_note
from pails.tools.text.lines import fold
from pails.tools.text.patch_reader import (
    END_OF_FILE,
    FilePatch,
    PatchError,
    PatchHunk,
    PatchReader,
)

_ACTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = "*** Move to: "
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_WRAPPER = re.compile(r"```\w*|(?:apply_patch\s*)?<<\s*['\"]?(?P<end>\w+)['\"]?")


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """What the patch wants, in its order. Raises `PatchError`."""
    lines = _unwrapped(fold(text.removeprefix("\ufeff")).text.strip("\n").split("\n"))
    is_own_form = any(line.startswith("*** ") for line in lines)
    found = list((_Envelope if is_own_form else _Unified)(lines).files())
    if not found:
        raise PatchError("It names no file.")
    for file in found:
        for path in filter(None, (file.path, file.move_to)):
            try:
                usable_path(path)
            except ValueError as error:
                raise PatchError(f"{path!r} {error}.") from error
    return _joined(found)


def _unwrapped(lines: list[str]) -> list[str]:
    """Without the fence, or the words for a shell, that models put around a patch."""
    found = _WRAPPER.fullmatch(lines[0].strip())
    if found and len(lines) > 1 and lines[-1].strip() == (found["end"] or "```"):
        return lines[1:-1]
    return lines


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


class _Envelope(PatchReader):
    """The form of coding agents."""

    def is_header(self) -> bool:
        line = self.next
        return line is None or (line.startswith("*** ") and line != END_OF_FILE)

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
        lines = self.signed_lines(("", "+"), "each line of a file to be added begins with +")
        return "".join(f"{line[1:]}\n" for line in lines)


class _Unified(PatchReader):
    """The form of `diff -u` and git."""

    def is_header(self) -> bool:
        line = self.next
        if line is None or line.startswith("diff --git "):
            return True
        return self._is_names() and not self._are_names_due()

    def _is_names(self) -> bool:
        """A line that goes, and was `-- x`, looks like a header too, but for the line behind it."""
        pair = self._lines[self._at : self._at + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def _are_names_due(self) -> bool:
        """Whether what looks like names is `-- x` that becomes `++ y`, by the count of its hunk.

        Models count badly: behind real names a range comes, behind such a line only where it is
        the last one.
        """
        behind = self._lines[self._at + 2 : self._at + 3]
        is_range_behind = any(line.startswith("@@") for line in behind)
        return self._due == (1, 1) if is_range_behind else min(self._due) > 0

    def files(self) -> Iterator[FilePatch]:
        while self.next is not None:
            notes = self._notes()
            if self._is_names():
                yield self._file(notes)
            elif notes:
                yield self._without_hunks(notes)
            elif self.take().strip():
                raise self.error("here --- and +++ with the names of a file are due")

    def _notes(self) -> dict[str, str]:
        """What git says of the next file above its names."""
        notes: dict[str, str] = {}
        while self.next is not None and (note := read_note(self.next)) and note[0] not in notes:
            notes[note[0]] = note[1]
            self.take()
            if fault := fault_of(notes):
                raise self.error(fault)
        return notes

    def _without_hunks(self, notes: Mapping[str, str]) -> FilePatch:
        """A file that is only moved, or has no text."""
        if "rename from" in notes and "rename to" in notes:
            return FilePatch("update", notes["rename from"], notes["rename to"])
        name = git_name(notes)
        if name and "new file mode" in notes:
            return FilePatch("add", name)
        if name and "deleted file mode" in notes:
            return FilePatch("delete", name)
        raise self.error("nothing is said of what is to become of this file")

    def _file(self, notes: Mapping[str, str]) -> FilePatch:
        old, new = file_names(self.take(), self.take(), notes)
        if "rename from" in notes and "rename to" in notes:
            hunks = tuple(self.hunks())
            return FilePatch("update", notes["rename from"], notes["rename to"], hunks)
        if old and new and old != new:
            raise self.error("two files are named: to move one, say rename from and rename to")
        name = new or old
        if name is None:
            raise self.error("it names no file")
        hunks = tuple(self.hunks())
        if old is None:
            return FilePatch("add", name, content=_content_of(hunks))
        return FilePatch("update" if new else "delete", name, hunks=hunks)


def _content_of(hunks: Sequence[PatchHunk]) -> str:
    content = "".join(f"{line}\n" for hunk in hunks for line in hunk.new)
    return content.removesuffix("\n") if hunks and hunks[-1].new_is_open else content
