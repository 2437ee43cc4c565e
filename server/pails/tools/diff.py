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
    """The hunks: opcodes with context before and after, which may be empty."""
    first, *between, last = _opcodes(old, new)
    group = [_end_of(first)]
    for opcode in between:
        if opcode[0] == "equal" and opcode[2] - opcode[1] > 2 * _CONTEXT:
            yield [*group, _start_of(opcode)]
            group = [_end_of(opcode)]
        else:
            group.append(opcode)
    yield [*group, _start_of(last)]


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    """All lines as opcodes, the first and the last of which are equal. Between them is compared.

    Only there: were equal lines compared too, a change could slide into them, up to where the
    comparison ends, and its hunk would have no context.
    """
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - start
    end = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    old_stop, new_stop = len(old) - end, len(new) - end
    if (old_stop - start) * (new_stop - start) > _MOST_COMPARISONS:
        compared = [("replace", start, old_stop, start, new_stop)]
    else:
        matcher = SequenceMatcher(None, old[start:old_stop], new[start:new_stop], autojunk=False)
        compared = [
            (tag, a + start, b + start, c + start, d + start)
            for tag, a, b, c, d in matcher.get_opcodes()
        ]
    before = ("equal", 0, start, 0, start)
    return [before, *compared, ("equal", old_stop, len(old), new_stop, len(new))]


def _start_of(equal: _Opcode) -> _Opcode:
    tag, a, b, c, d = equal
    return tag, a, min(a + _CONTEXT, b), c, min(c + _CONTEXT, d)


def _end_of(equal: _Opcode) -> _Opcode:
    tag, a, b, c, d = equal
    return tag, max(a, b - _CONTEXT), b, max(c, d - _CONTEXT), d


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
