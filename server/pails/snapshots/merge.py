"""Three-way merging of bytes, line by line. Pure."""

from dataclasses import dataclass

from pails.core.hunks import Hunk, diff_hunks, rebase_hunks

# Every byte is a character of it, so bytes of any encoding pass through unharmed.
_BYTES = "latin-1"


@dataclass(frozen=True, slots=True)
class Merged:
    """`data` has all of ours, and of theirs whatever is no conflict.

    `conflicts` are changes of theirs to lines that ours changed otherwise.
    """

    data: bytes
    conflicts: tuple[Hunk, ...] = ()


def three_way(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Make in `ours` the changes that lead from `base` to `theirs`."""
    if theirs in (base, ours):
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    old, mine, wanted = (data.decode(_BYTES) for data in (base, ours, theirs))
    made = {_change(hunk) for hunk in diff_hunks(old, mine)}
    missing = [hunk for hunk in diff_hunks(old, wanted) if _change(hunk) not in made]
    merged = rebase_hunks(missing, old, mine)
    return Merged(merged.text.encode(_BYTES), merged.conflicts)


def _change(hunk: Hunk) -> tuple[int, int, str]:
    """What a hunk does to the base, wherever it stands in the new text."""
    return hunk.at.start, hunk.at.end, hunk.new
