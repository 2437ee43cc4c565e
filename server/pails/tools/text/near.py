"""When `old` is not in the file as it stands: the one near match, or the lines most like it.

Near means line by line the same except for blanks at line ends, or for an indentation that is
shifted by the same blanks on every line. It must be the only such place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pails.core.text import common_ends

_SHOWN_LINES = 8
_SHOWN_COLUMNS = 200
_COMPARED_LINES = 5000
_SIMILAR = 0.5


@dataclass(frozen=True, slots=True)
class NearMatch:
    """Replace `text[start:end]` (line ends folded) by `replacement`; `note` says how near."""

    start: int
    end: int
    replacement: str
    note: str


@dataclass(frozen=True, slots=True)
class NoMatch:
    """Why there is no near match, and what would help."""

    message: str


@dataclass(frozen=True, slots=True)
class _Shift:
    """How the file's indentation differs from the one in `old`."""

    remove: str = ""
    add: str = ""

    def apply(self, line: str) -> str | None:
        """The line as the file would have it; None where it has too little to remove."""
        if not line.strip():
            return line
        return self.add + line.removeprefix(self.remove) if line.startswith(self.remove) else None


def find_near(text: str, old: str, new: str) -> NearMatch | NoMatch:
    """The one near match of an `old` that is not in the text (line ends of all three folded)."""
    old_lines, new_lines = _as_lines(old, new)
    lines = text.split("\n")
    same_but_ends = _windows(lines, old_lines, str.rstrip)
    found = same_but_ends or _windows(lines, old_lines, str.strip)
    if not found or not old.strip():
        return NoMatch(_describe_nearest(lines, old))
    if len(found) > 1:
        numbers = ", ".join(str(first + 1) for first in found[:_SHOWN_LINES])
        return NoMatch(
            f"`old` matches nothing exactly, and {len(found)} places all but for blanks (lines "
            f"{numbers}). Copy the exact text with enough lines around it."
        )
    first = found[0]
    shift = _Shift() if same_but_ends else _uniform_shift(old_lines, lines[first:])
    fitted = None if shift is None else _fit(new_lines, shift)
    if fitted is None:
        return NoMatch(_indentation_differs(lines, first, len(old_lines)))
    kind = "blanks at line ends" if same_but_ends else "indentation, adapted in the new text"
    note = f"Approximate match, lines {first + 1}-{first + len(old_lines)}: differed in {kind}."
    same_start, same_end = common_ends(old_lines, new_lines)
    start = _offset(lines, first + same_start)
    end = _offset(lines, first + len(old_lines) - same_end)
    inserted = "".join(line + "\n" for line in fitted[same_start : len(fitted) - same_end])
    if end > len(text):  # the last line, which has no line end
        end, inserted = len(text), inserted.removesuffix("\n")
    return NearMatch(start, end, inserted, note)


def _describe_nearest(lines: Sequence[str], old: str) -> str:
    """The error for an `old` that is nowhere: the rule, and the lines most like it."""
    rule = (
        "`old` was not found. It must be the file's exact text; only line ends, blanks at line "
        "ends and an indentation shifted alike on every line are tolerated, where unique."
    )
    old_lines = old.removesuffix("\n").split("\n")
    anchor = max(range(len(old_lines)), key=lambda index: len(old_lines[index].strip()))
    best = _most_similar(lines, old_lines[anchor].strip())
    if best is None:
        return f"{rule} No line is similar: read the file again."
    return f"{rule} Nearest lines:\n{_shown(lines, max(0, best - anchor), len(old_lines))}"


def _as_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts as whole lines; a `new` that is empty removes the lines."""
    if old.endswith("\n") and not new:
        return old[:-1].split("\n"), []
    if old.endswith("\n") and new.endswith("\n"):
        return old[:-1].split("\n"), new[:-1].split("\n")
    return old.split("\n"), new.split("\n")


def _windows(lines: Sequence[str], old: Sequence[str], key: Callable[[str], str]) -> list[int]:
    """Where the lines of `old` stand in the file, compared by `key`."""
    keys, wanted = [key(line) for line in lines], [key(line) for line in old]
    starts = range(len(keys) - len(wanted) + 1)
    return [at for at in starts if keys[at] == wanted[0] and keys[at : at + len(wanted)] == wanted]


def _uniform_shift(old_lines: Sequence[str], file_lines: Sequence[str]) -> _Shift | None:
    """The one shift that leads from every line of `old` to its line in the file."""
    shifts: set[_Shift] = set()
    for old_line, file_line in zip(old_lines, file_lines, strict=False):
        if old_line.strip():
            ours, theirs = _indentation(old_line), _indentation(file_line)
            if theirs.endswith(ours):
                shifts.add(_Shift(add=theirs[: len(theirs) - len(ours)]))
            elif ours.endswith(theirs):
                shifts.add(_Shift(remove=ours[: len(ours) - len(theirs)]))
            else:
                return None
    return shifts.pop() if len(shifts) == 1 else None


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _fit(new_lines: Sequence[str], shift: _Shift) -> list[str] | None:
    fitted: list[str] = []
    for line in new_lines:
        shifted = shift.apply(line)
        if shifted is None:
            return None
        fitted.append(shifted)
    return fitted


def _offset(lines: Sequence[str], index: int) -> int:
    return sum(len(line) + 1 for line in lines[:index])


def _indentation_differs(lines: Sequence[str], first: int, count: int) -> str:
    return (
        f"`old` matches lines {first + 1}-{first + count} only if indentation is ignored, and it "
        f"differs from line to line. Copy it exactly:\n{_shown(lines, first, count)}"
    )


def _shown(lines: Sequence[str], first: int, count: int) -> str:
    shown = lines[first : first + min(count, _SHOWN_LINES)]
    return "\n".join(f"{first + n}\t{line[:_SHOWN_COLUMNS]}" for n, line in enumerate(shown, 1))


def _most_similar(lines: Sequence[str], wanted: str) -> int | None:
    """The index of the line most like `wanted`; bounded, so that a huge file costs no minute."""
    matcher = SequenceMatcher(None, "", wanted[:_SHOWN_COLUMNS], autojunk=False)
    best, best_ratio = None, _SIMILAR
    for index, line in enumerate(lines[:_COMPARED_LINES]):
        matcher.set_seq1(line.strip()[:_SHOWN_COLUMNS])
        if matcher.real_quick_ratio() <= best_ratio or matcher.quick_ratio() <= best_ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio:
            best, best_ratio = index, ratio
    return best
