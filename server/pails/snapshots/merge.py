"""Three-way merging of files, line by line. Pure."""

from dataclasses import dataclass, replace

from pails.core.hunks import Hunk, diff_hunks, rebase_hunks
from pails.host.encodings import TextFile, decode, encode

# Every byte is a character of it, so bytes of any encoding pass through unharmed.
_BYTES = "latin-1"


@dataclass(frozen=True, slots=True)
class Merged:
    """`data` has all of ours, and of theirs whatever is no conflict.

    `conflicts` are changes of theirs to lines that ours changed otherwise.
    """

    data: bytes
    conflicts: tuple[Hunk, ...] = ()


def three_way(base: bytes, ours: bytes, theirs: bytes) -> Merged | None:
    """Make in `ours` the changes that lead from `base` to `theirs`; None where that needs text."""
    if theirs in (base, ours):
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    wide = _as_wide_text(base, ours, theirs)
    if wide is not None:
        text, conflicts = _merged(*(file.text for file in wide))
        return Merged(encode(replace(wide[1], text=text)), conflicts)
    if b"\0" in base + ours + theirs:
        return None
    text, conflicts = _merged(*(data.decode(_BYTES) for data in (base, ours, theirs)))
    return Merged(text.encode(_BYTES), conflicts)


def _as_wide_text(*versions: bytes) -> list[TextFile] | None:
    """The texts, if all are in the same encoding of 16 or 32 bits, whose lines are not bytes'."""
    if b"\0" not in versions[0]:
        return None
    files = [decode(data) for data in versions]
    texts = [file for file in files if isinstance(file, TextFile) and file.exact]
    alike = len({(file.encoding, file.bom) for file in texts}) == 1
    return texts if alike and len(texts) == len(versions) else None


def _merged(base: str, ours: str, theirs: str) -> tuple[str, tuple[Hunk, ...]]:
    made = {_change(hunk) for hunk in diff_hunks(base, ours)}
    missing = [hunk for hunk in diff_hunks(base, theirs) if _change(hunk) not in made]
    merged = rebase_hunks(missing, base, ours)
    return merged.text, merged.conflicts


def _change(hunk: Hunk) -> tuple[int, int, str]:
    """What a hunk does to the base, wherever it stands in the new text."""
    return hunk.at.start, hunk.at.end, hunk.new
