"""Changes between two texts as hunks of lines, and how to take some of them back. Pure.

Lines end as in the Language Server Protocol (`\\r\\n`, `\\n` or a lone `\\r`) and keep their ends:
joined they are the text again. Line numbers count from 0; ranges exclude their end.

The comparison is patience diff (Bram Cohen's): lines that occur once on each side and in the same
order on both hold the two texts together, and what lies between them is compared by `difflib`.
"""

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from pails.core.text import common_ends, split_lines

# `difflib` takes time with the product of both sides; beyond this a block counts as replaced.
_MOST_COMPARISONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start`…`end` of the old text that became `new_start`…`new_end` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int

    def moved(self, lines: int, new_lines: int) -> "Block":
        """The block that many lines further down."""
        start, new_start = self.start + lines, self.new_start + new_lines
        return Block(start, self.end + lines, new_start, self.new_end + new_lines)


@dataclass(frozen=True, slots=True)
class Hunk:
    """A block with its text before and after."""

    at: Block
    old: str
    new: str

    @property
    def inverse(self) -> "Hunk":
        """The hunk that takes this one back."""
        at = self.at
        return Hunk(Block(at.new_start, at.new_end, at.start, at.end), self.new, self.old)


@dataclass(frozen=True, slots=True)
class Rebased:
    """A text in which hunks were made that belong to another, and those that could not be."""

    text: str
    conflicts: tuple[Hunk, ...]


def diff_hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """The hunks that lead from one text to the other, in order; none touches the next."""
    old, new = split_lines(before), split_lines(after)
    return tuple(
        Hunk(at, "".join(old[at.start : at.end]), "".join(new[at.new_start : at.new_end]))
        for at in changed_blocks(old, new)
    )


def apply_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """The text with the hunks made in it. Raises `ValueError` where it is not what they expect."""
    return "".join(_applied(split_lines(text), hunks))


def diff_lines(old: str, new: str) -> list[str]:
    """The lines of one hunk as a unified diff has them, without their ends."""
    signed = (
        *(f"-{line}" for line in split_lines(old)),
        *(f"+{line}" for line in split_lines(new)),
    )
    return [line.rstrip("\r\n") for line in signed]


def rebase_hunks(hunks: Sequence[Hunk], base: str, now: str) -> Rebased:
    """`now` with the changes made in it that `hunks`, in order, make in `base`.

    What changed between `base` and `now` stays. A hunk whose own lines changed there is a conflict
    and is left out.
    """
    lines = split_lines(now)
    moved = list(zip(hunks, placed_hunks(hunks, base, now), strict=True))
    result = _applied(lines, [found for _, found in moved if found])
    text = "".join(result)
    if split_lines(text) != result:  # a last line without an end would run into the next one
        return Rebased(now, tuple(hunks))
    return Rebased(text, tuple(hunk for hunk, found in moved if not found))


def revert_hunks(hunks: Sequence[Hunk], after: str, now: str) -> Rebased:
    """`now` without the changes that `hunks`, in order, had made to become `after`; as above."""
    rebased = rebase_hunks([hunk.inverse for hunk in hunks], after, now)
    return Rebased(rebased.text, tuple(hunk.inverse for hunk in rebased.conflicts))


def placed_hunks(hunks: Sequence[Hunk], base: str, now: str) -> tuple[Hunk | None, ...]:
    """The hunks, made for `base`, as they stand in `now`; None for one whose own lines changed."""
    if base == now:
        return tuple(hunks)
    drift = changed_blocks(split_lines(base), split_lines(now))
    return tuple(_moved(hunk, drift) for hunk in hunks)


def hunk_ids(path: str, hunks: Sequence[Hunk], taken: Collection[str] = ()) -> tuple[str, ...]:
    """An id for each hunk of a file, of its contents, so that it stays while other lines move.

    Of hunks with the same contents each has its own; none is among those `taken`.
    """
    used = Counter[tuple[str, str]]()
    ids: list[str] = []
    for hunk in hunks:
        content = (hunk.old, hunk.new)
        while (hunk_id := _hunk_id(path, hunk, used[content])) in taken:
            used[content] += 1
        used[content] += 1
        ids.append(hunk_id)
    return tuple(ids)


def _hunk_id(path: str, hunk: Hunk, number: int) -> str:
    parts = (path, hunk.old, hunk.new, str(number))
    data = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _applied(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    result: list[str] = []
    done = 0
    for hunk in hunks:
        start, end = hunk.at.start, hunk.at.end
        if start < done or "".join(lines[start:end]) != hunk.old:
            raise ValueError(f"the text differs at line {start + 1}")
        result += (*lines[done:start], *split_lines(hunk.new))
        done = end
    return [*result, *lines[done:]]


def _moved(hunk: Hunk, drift: Sequence[Block]) -> Hunk | None:
    """The hunk as it stands behind the drift; None when its own lines drifted."""
    at, shift = hunk.at, 0
    for block in drift:
        same_place = at.start == at.end == block.start == block.end
        if same_place or (at.start < block.end and block.start < at.end):
            return None
        if block.start >= at.end:
            break
        shift += (block.new_end - block.new_start) - (block.end - block.start)
    return replace(hunk, at=replace(at, start=at.start + shift, end=at.end + shift))


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Where two lists of lines differ, in order; between two blocks at least one line is equal."""
    found: list[Block] = []
    waiting = [Block(0, len(old), 0, len(new))]
    while waiting:
        block = _trimmed(waiting.pop(), old, new)
        if block.start == block.end or block.new_start == block.new_end:
            if block.start < block.end or block.new_start < block.new_end:
                found.append(block)
        elif anchors := _anchors(block, old, new):
            waiting.extend(_between(block, anchors))
        else:
            found.extend(_compared(block, old, new))
    return _joined(sorted(found, key=lambda block: (block.start, block.new_start)))


def _trimmed(block: Block, old: Sequence[str], new: Sequence[str]) -> Block:
    """The block without the lines that are equal at its start and at its end."""
    olds, news = old[block.start : block.end], new[block.new_start : block.new_end]
    head, tail = common_ends(olds, news)
    return Block(block.start + head, block.end - tail, block.new_start + head, block.new_end - tail)


def _anchors(block: Block, old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once on each side, as pairs of numbers that rise on both sides."""
    olds, news = old[block.start : block.end], new[block.new_start : block.new_end]
    once = {line for line, count in Counter(olds).items() if count == 1}
    once &= {line for line, count in Counter(news).items() if count == 1}
    places = {line: n for n, line in enumerate(news, block.new_start) if line in once}
    pairs = [(n, places[line]) for n, line in enumerate(olds, block.start) if line in once]
    return _longest_rise(pairs)


def _longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers rise, as the first ones do (patience sort)."""
    tops: list[int] = []
    piles: list[int] = []  # for each pile the pair that is its top
    before: list[int] = []  # for each pair the one that stands before it
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        piles[pile : pile + 1] = [number]
    rise: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        rise.append(pairs[number])
        number = before[number]
    return rise[::-1]


def _between(block: Block, anchors: Sequence[tuple[int, int]]) -> Iterator[Block]:
    start, new_start = block.start, block.new_start
    for line, new_line in (*anchors, (block.end, block.new_end)):
        yield Block(start, line, new_start, new_line)
        start, new_start = line + 1, new_line + 1


def _compared(block: Block, old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    olds, news = old[block.start : block.end], new[block.new_start : block.new_end]
    if len(olds) * len(news) > _MOST_COMPARISONS:
        yield block
        return
    for tag, a, b, c, d in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        if tag != "equal":
            start, new_start = block.start, block.new_start
            yield Block(a + start, b + start, c + new_start, d + new_start)


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Blocks that touch, as one."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.end == block.start and last.new_end == block.new_start:
            joined[-1] = Block(last.start, block.end, last.new_start, block.new_end)
        else:
            joined.append(block)
    return joined
