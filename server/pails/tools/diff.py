"""Unified diffs that are exact: raw line ends, and whether the last line has one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_CONTEXT = 3
# Comparing takes time with the product of both sides; beyond this a block is shown as replaced.
_MOST_COMPARISONS = 1_000_000

_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class DiffText:
    """A unified diff, empty when nothing differs, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def unified(path: str, before: str | None, after: str) -> DiffText:
    """The diff from `before` (None: there was no file) to `after`, lines ended by `\\n` only.

    A `\\r` stays at the end of its line, so that the diff can be applied to the bytes.
    """
    old, new = _split(before or ""), _split(after)
    groups = list(_groups(old, new))
    changed = [opcode for group in groups for opcode in group if opcode[0] != "equal"]
    removed = sum(opcode[2] - opcode[1] for opcode in changed)
    added = sum(opcode[4] - opcode[3] for opcode in changed)
    if not changed:
        return DiffText("", 0, 0)
    header = f"--- {'/dev/null' if before is None else f'a/{path}'}\n+++ b/{path}\n"
    hunks = (line for group in groups for line in _hunk(group, old, new))
    return DiffText(header + "".join(hunks), added, removed)


def _split(text: str) -> list[str]:
    """Lines with their ends; unlike `splitlines` it leaves U+2028 and a lone `\\r` alone."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[_Opcode]]:
    """The hunks as opcodes with context. Only what lies between the equal ends is compared."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - start
    end = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    first = max(0, start - _CONTEXT)
    old_stop, new_stop = len(old) - max(0, end - _CONTEXT), len(new) - max(0, end - _CONTEXT)
    if (old_stop - first) * (new_stop - first) > _MOST_COMPARISONS:
        yield [
            ("equal", first, start, first, start),
            ("replace", start, len(old) - end, start, len(new) - end),
            ("equal", len(old) - end, old_stop, len(new) - end, new_stop),
        ]
        return
    matcher = SequenceMatcher(None, old[first:old_stop], new[first:new_stop], autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield [(tag, a + first, b + first, c + first, d + first) for tag, a, b, c, d in group]


def _hunk(group: Sequence[_Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    head, tail = group[0], group[-1]
    yield f"@@ -{_extent(head[1], tail[2])} +{_extent(head[3], tail[4])} @@\n"
    for tag, old_start, old_stop, new_start, new_stop in group:
        if tag == "equal":
            yield from (_line(" ", line) for line in old[old_start:old_stop])
            continue
        yield from (_line("-", line) for line in old[old_start:old_stop])
        yield from (_line("+", line) for line in new[new_start:new_stop])


def _extent(start: int, stop: int) -> str:
    """`line,count` as diff writes it: an empty extent names the line before it."""
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
