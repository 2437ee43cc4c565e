"""What became of the lines of one file: who wrote each, and what each turn changed. Pure.

The file is followed from text to text. Between two steps it is the person who changed it: their
lines have no author, and where a turn is still at work they count as if they had been there before
it. So a turn's hunks hold nothing that the person typed, and taking one back costs them nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pails.core.hunks import Block, Hunk, changed_blocks
from pails.core.text import split_lines


@dataclass(frozen=True, slots=True)
class Author:
    """The agent in one turn. `asked`: a person allowed the write."""

    turn_id: str
    asked: bool = False


@dataclass(eq=False, slots=True)
class Line:
    """A line with its end. `author` is None where it is not the agent's.

    `remover` is set when the agent has taken it out: then it is kept in its place all the same,
    because it belongs to the text before that turn.
    """

    text: str
    author: Author | None = None
    remover: Author | None = None


@dataclass(frozen=True, slots=True)
class LinedHunk:
    """A hunk, its new lines, and those that the agent has taken out for them.

    `asked`: a person allowed all of it.
    """

    hunk: Hunk
    lines: tuple[Line, ...]
    removed: tuple[Line, ...]
    asked: bool


class Lineage:
    """The lines of one file. Each method makes `text` the file's text."""

    def __init__(self) -> None:
        self._text = ""
        self._lines: list[Line] = []

    @property
    def lines(self) -> tuple[Line, ...]:
        """Those of the text as it is."""
        return tuple(line for line in self._lines if line.remover is None)

    def write(self, text: str, author: Author) -> None:
        """The agent has written."""
        self._become(text, partial(_written, author))

    def edit(self, text: str) -> None:
        """The person, or another program, has changed something."""
        self._become(text, _edited)

    def revert(self, hunks: Iterable[LinedHunk], text: str) -> None:
        """These hunks were taken back: old lines belong again to whom they did."""
        gone, back = set[Line](), set[Line]()
        for lined in hunks:
            gone.update(lined.lines)
            back.update(lined.removed)
        rest = [line for line in self._lines if line not in gone]
        if text == "".join(line.text for line in rest if line.remover is None or line in back):
            for line in back:
                line.remover = None
            self._text, self._lines = text, rest
        else:  # saving has changed the text, too
            self._become(text, _reverted)

    def lines_of(self, text: str) -> tuple[Line, ...]:
        """The lines of `text`, had the person made that of it now. Changes nothing."""
        edited = Lineage()
        edited._text, edited._lines = self._text, list(self._lines)
        edited.edit(text)
        return edited.lines

    def change(self, turn_id: str) -> tuple[str, tuple[LinedHunk, ...]]:
        """The text had this turn, the newest, not been, and what the turn has changed in it."""
        base = [line for line in self._lines if _was_before(line, turn_id)]
        before = _ended([line.text for line in base])
        after = self.lines
        now = [line.text for line in after]
        hunks: list[LinedHunk] = []
        for run in self._runs(turn_id):
            inner = changed_blocks(before[run.start : run.end], now[run.new_start : run.new_end])
            for at in (block.moved(run.start, run.new_start) for block in inner):
                old, new = before[at.start : at.end], now[at.new_start : at.new_end]
                hunk = Hunk(at, "".join(old), "".join(new))
                hunks.append(
                    _lined(hunk, base[at.start : at.end], after[at.new_start : at.new_end])
                )
        return "".join(before), tuple(hunks)

    def _runs(self, turn_id: str) -> Iterator[Block]:
        """Where lines of the turn stand between lines that are not its own.

        A comparison of the whole texts could put a line of the person into a hunk, where there are
        several of the kind.
        """
        old = new = start = new_start = 0
        for line in self._lines:
            was, is_there = _was_before(line, turn_id), line.remover is None
            if was and is_there:
                if old > start or new > new_start:
                    yield Block(start, old, new_start, new)
                start, new_start = old + 1, new + 1
            old, new = old + was, new + is_there
        yield Block(start, old, new_start, new)

    def _become(self, text: str, change: Callable[[list[Line], list[str]], list[Line]]) -> None:
        if text == self._text:
            return
        self._text = text
        living = [number for number, line in enumerate(self._lines) if line.remover is None]
        new = split_lines(text)
        result: list[Line] = []
        done = 0
        for block in changed_blocks([self._lines[number].text for number in living], new):
            # What was taken out at either side of the block stands in the same gap.
            start = living[block.start - 1] + 1 if block.start else 0
            end = living[block.end] if block.end < len(living) else len(self._lines)
            result += self._lines[done:start]
            result += change(self._lines[start:end], new[block.new_start : block.new_end])
            done = end
        self._lines = result + self._lines[done:]


def _was_before(line: Line, turn_id: str) -> bool:
    if line.remover:
        return line.remover.turn_id == turn_id
    return line.author is None or line.author.turn_id != turn_id


def _written(author: Author, gap: list[Line], new: list[str]) -> list[Line]:
    """What the turn itself wrote goes without a trace, what it took out may come back."""
    for line in gap:
        line.remover = line.remover or author
    kept = [line for line in gap if not line.author or line.author.turn_id != author.turn_id]

    def is_own(line: Line) -> bool:
        return line.remover is not None and line.remover.turn_id == author.turn_id

    return _revived(kept, new, is_own, lambda line: line, lambda text: Line(text, author))


def _edited(gap: list[Line], new: list[str]) -> list[Line]:
    """A person who changes the agent's own lines has taken over what stood there before, too."""
    taken_over = any(line.author for line in gap if not line.remover)
    removed = [line for line in gap if line.remover]
    result = _revived(removed, new, lambda _: True, lambda line: Line(line.text), Line)
    return [line for line in result if not (taken_over and line.remover)]


def _reverted(gap: list[Line], new: list[str]) -> list[Line]:
    removed = [line for line in gap if line.remover]
    return _revived(removed, new, lambda _: True, lambda line: line, Line)


def _revived(
    removed: list[Line],
    new: list[str],
    may_come_back: Callable[[Line], bool],
    revive: Callable[[Line], Line],
    make: Callable[[str], Line],
) -> list[Line]:
    """New lines in a gap: those that had been taken out there are the old ones again."""
    result = [line for line in removed if not may_come_back(line)]
    candidates = [line for line in removed if may_come_back(line)]
    done = 0

    def come_back(end: int) -> None:
        for line in candidates[done:end]:
            revived = revive(line)
            revived.remover = None
            result.append(revived)

    for block in changed_blocks([line.text for line in candidates], new):
        come_back(block.start)
        result.extend(candidates[block.start : block.end])
        result.extend(make(text) for text in new[block.new_start : block.new_end])
        done = block.end
    come_back(len(candidates))
    return result


def _ended(lines: list[str]) -> list[str]:
    """A last line that had no end gets one where lines of the person have come behind it."""
    if all(line[-1] in "\r\n" for line in lines):
        return lines
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line[-1] in "\r\n"), "\n")
    return [
        line if line[-1] in "\r\n" or number == len(lines) else line + end
        for number, line in enumerate(lines, 1)
    ]


def _lined(hunk: Hunk, old: Sequence[Line], new: Sequence[Line]) -> LinedHunk:
    removed = tuple(line for line in old if line.remover)
    authors = [line.author for line in new if line.author]
    authors += [line.remover for line in removed if line.remover]
    asked = bool(authors) and all(author.asked for author in authors)
    return LinedHunk(hunk, tuple(new), removed, asked)
