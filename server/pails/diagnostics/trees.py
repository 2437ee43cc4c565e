"""Trees of the texts that were checked last, so that the next version of one is parsed from it.

An edit of one word in a large file then costs a fraction of a whole parse. A tree that was made
from another may place errors elsewhere than one made from nothing, so it serves only to find that
a text has none.
"""

from typing import NamedTuple

from tree_sitter import Parser, Range, Tree

from pails.core.text import common_ends
from pails.diagnostics.grammars import load
from pails.diagnostics.indentation import badly_indented
from pails.diagnostics.source import Source
from pails.diagnostics.syntax import Finding, find_errors


class Checked(NamedTuple):
    """A text with its tree and its errors in one language."""

    language: str
    source: Source
    tree: Tree
    found: list[Finding]


def check(text: str, language: str, before: Checked | None = None) -> Checked:
    """The errors of a text. `before` is another version of it, in any language.

    Raises ImportError or ValueError for a language that cannot be loaded.
    """
    source = Source(text)
    if before is not None and before.language == language and not before.found:
        tree = _without_errors(source, before)
        if tree is not None:
            return Checked(language, source, tree, [])
    tree = Parser(load(language)).parse(source.data)
    return Checked(language, source, tree, find_errors(source, tree, language))


def _without_errors(source: Source, before: Checked) -> Tree | None:
    """The tree of the next version of a text without errors; None when it has some."""
    edited = before.tree.copy()
    old, new = before.source, source
    start, end = _common_ends(old.data, new.data)
    old_end, new_end = len(old.data) - end, len(new.data) - end
    edited.edit(start, old_end, new_end, old.point(start), old.point(old_end), new.point(new_end))
    tree = Parser(load(before.language)).parse(new.data, edited)
    if tree.root_node.has_error:
        return None
    if before.language == "python":
        changed = [(start, new_end), *map(_bytes_of, edited.changed_ranges(tree))]
        if any(True for span in changed for _ in badly_indented(tree.root_node, span)):
            return None
    return tree


def _bytes_of(changed: Range) -> tuple[int, int]:
    return changed.start_byte, changed.end_byte


def _common_ends(one: bytes, other: bytes) -> tuple[int, int]:
    """How many bytes two texts share at both ends, whole characters only."""
    start, end = common_ends(one, other)
    while start and (_is_inside(one, start) or _is_inside(other, start)):
        start -= 1
    while end and (_is_inside(one, len(one) - end) or _is_inside(other, len(other) - end)):
        end -= 1
    return start, end


def _is_inside(data: bytes, place: int) -> bool:
    """Whether the place is in the middle of a character of UTF-8."""
    return place < len(data) and data[place] & 0xC0 == 0x80
