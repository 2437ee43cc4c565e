"""Unified diffs that are exact: raw line ends, and whether the last line has one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pails.core.hunks import Block, changed_blocks
from pails.core.text import common_ends

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class DiffText:
    """A unified diff, empty when nothing differs, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def unified(path: str, before: str | None, after: str | None) -> DiffText:
    """The diff from `before` to `after` (None: there is no file), lines ended by `\\n` only.

    A `\\r` stays at the end of its line, so that the diff can be applied to the bytes.
    """
    one, other = before or "", after or ""
    head, tail = _unchanged(one, other)
    old, new = _split(one[head : len(one) - tail]), _split(other[head : len(other) - tail])
    blocks = changed_blocks(old, new)
    if not blocks:
        return DiffText("", 0, 0)
    header = f"--- {_name('a', path, before)}\n+++ {_name('b', path, after)}\n"
    skipped = one.count("\n", 0, head)
    hunks = (line for group in _groups(blocks) for line in _hunk(group, old, new, skipped))
    removed = sum(block.end - block.start for block in blocks)
    added = sum(block.new_end - block.new_start for block in blocks)
    return DiffText(header + "".join(hunks), added, removed)


def _unchanged(one: str, other: str) -> tuple[int, int]:
    """The whole lines at both ends that are equal, but for the context of what differs.

    Large texts need not be split into lines that nobody will see.
    """
    head, tail = common_ends(one, other)
    for _ in range(_CONTEXT + 1):
        head = one.rfind("\n", 0, max(head, 0))
    place = len(one) - tail
    for _ in range(_CONTEXT + 1):
        place = one.find("\n", place) + 1 or len(one)
    return head + 1, len(one) - place


def _name(side: str, path: str, text: str | None) -> str:
    return "/dev/null" if text is None else f"{side}/{path}"


def _split(text: str) -> list[str]:
    """Lines with their ends; unlike `splitlines` it leaves U+2028 and a lone `\\r` alone."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The blocks of each hunk: those between which there is context only."""
    group = [blocks[0]]
    for block in blocks[1:]:
        if block.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    yield group


def _hunk(
    group: Sequence[Block], old: Sequence[str], new: Sequence[str], skipped: int
) -> Iterator[str]:
    """One hunk; `skipped` lines stand before the first ones of both texts."""
    before = min(_CONTEXT, group[0].start)
    after = min(_CONTEXT, len(old) - group[-1].end)
    start, end = group[0].start - before, group[-1].end + after
    new_start, new_end = group[0].new_start - before, group[-1].new_end + after
    old_extent = _extent(start + skipped, end + skipped)
    yield f"@@ -{old_extent} +{_extent(new_start + skipped, new_end + skipped)} @@\n"
    done = start
    for block in group:
        yield from (_line(" ", line) for line in old[done : block.start])
        yield from (_line("-", line) for line in old[block.start : block.end])
        yield from (_line("+", line) for line in new[block.new_start : block.new_end])
        done = block.end
    yield from (_line(" ", line) for line in old[done:end])


def _extent(start: int, stop: int) -> str:
    """`line,count` as diff writes it: an empty extent names the line before it."""
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
