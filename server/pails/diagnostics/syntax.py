"""From a text to its syntax errors, by tree-sitter.

A tree-sitter parser never gives up: what it cannot place it wraps into ERROR nodes, and what it
invents to go on it marks as missing. An ERROR node often spans far more than the mistake, up to
the whole file, so its start says little. What helps is the token at which the parser got stuck:
the first one that was skipped (its parse state is 0) or that the grammar does not allow in the
state in which it was met. Where a bracket is still open at that point, that bracket is the place
to show, as people and compilers do.

This module runs in a child process that has to start quickly, hence plain tuples: importing
`pails.core` would take longer than everything here.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tree_sitter import Language, Node, Tree

from pails.diagnostics.indentation import badly_indented
from pails.diagnostics.nodes import (
    CLOSERS,
    OPENERS,
    QUOTES,
    first_leaf,
    is_comment,
    is_trailing_comma,
    leaf_after,
    open_bracket,
    sibling_opener,
)
from pails.diagnostics.source import Position, Source

MAX_FINDINGS = 500
"""Enough to tell old errors from new ones; a person or a model is shown far fewer."""

_SHOWN_TOKEN = 30
_SKIPPED = 0  # the parse state of a token that was read while recovering from an error


class Finding(NamedTuple):
    """One syntax error; `end` is exclusive.

    `anchor` is a second place that belongs to it: the end of the token before, which stays when
    text is inserted between the two. `region` is what the parser did not understand because of
    it; `start` is in there. `nested`: within an ERROR node that has a finding already, so it may
    be nothing but a consequence of that one.
    """

    start: Position
    end: Position
    message: str
    source_line: str
    anchor: Position
    region: tuple[Position, Position]
    nested: bool = False


class Place(NamedTuple):
    """A finding in bytes."""

    start: int
    end: int
    message: str
    anchor: int
    region: tuple[int, int]
    nested: bool = False


def find_errors(source: Source, tree: Tree, name: str) -> list[Finding]:
    """The syntax errors of a text in source order, at most `MAX_FINDINGS`, one for each place.

    `name` is the language's name in the table: Python's indentation and the trailing commas of
    `jsonc` are beyond their grammars.
    """
    root = tree.root_node
    places: list[Place] = []
    if root.has_error:
        places += islice(_Search(tree.language, name, source).places(root), MAX_FINDINGS)
    if name == "python":
        places += [Place(a, b, say, a, (a, b)) for a, b, say in badly_indented(root)]
    found: dict[int, Finding] = {}
    for place in sorted(places, key=lambda place: (place.start, place.nested)):
        found.setdefault(place.start, _finding(source, place))
    return list(found.values())[:MAX_FINDINGS]


def _finding(source: Source, place: Place) -> Finding:
    start = source.position(place.start)
    return Finding(
        start,
        source.position(place.end),
        place.message,
        source.line(*start),
        source.position(place.anchor),
        (source.position(place.region[0]), source.position(place.region[1])),
        place.nested,
    )


class _Search:
    """Walks down a tree where it has errors, and only there."""

    def __init__(self, language: Language, name: str, source: Source) -> None:
        self._language = language
        self._source = source
        # A brace that encloses statements is open at nearly every error and explains nothing.
        self._block_brace = "" if name == "python" else "{"
        self._trailing_commas = name == "jsonc"
        self._allowed: dict[int, frozenset[int]] = {}

    def places(self, root: Node) -> Iterator[Place]:
        """One place for each error, in the order of the text as far as the tree has it."""
        pending: list[tuple[Node, int | None]] = [(root, None)]
        while pending:
            node, head = pending.pop()
            if self._trailing_commas and is_trailing_comma(node):
                continue
            if node.is_missing or node.is_error:
                place = self._missing(node) if node.is_missing else self._stuck(node, head)
                yield place._replace(nested=head is not None and place.start >= head)
                head = place.start if head is None and node.is_error else head
            if node.has_error:
                pending += [(child, head) for child in reversed(node.children) if child.has_error]

    def _missing(self, node: Node) -> Place:
        """A token that the parser invented; at the end of the file its bracket is the place."""
        end = self._source.end_of_token_before(node.start_byte)
        what = node.type.strip("_").replace("_", " ") if node.is_named else _quoted(node.type)
        opener = sibling_opener(node)
        following = leaf_after(node)
        if opener and following is None:
            return self._at_bracket(opener, None, (opener.start_byte, opener.end_byte))
        where = f" for {self._named(opener)}" if opener else f" before {self._shown(following)}"
        return Place(end, end, f"missing {what}{where}", end, (end, end))

    def _stuck(self, error: Node, head: int | None) -> Place:
        """The token at which the parser got stuck, or the bracket that is open there.

        The bracket is looked for only in an outermost ERROR node, one without a `head` so far.
        """
        token, around = self._offender(error)
        if token and token.is_missing:
            return self._missing(token)
        limit = token.start_byte if token else len(self._source.data)
        opener = open_bracket(around, limit) if head is None else None
        region = error.start_byte, max(error.end_byte, limit)
        if opener and (opener.type != self._block_brace or token is None):
            return self._at_bracket(opener, token, region)
        anchor = self._source.end_of_token_before(limit)
        start, end = (token.start_byte, token.end_byte) if token else (anchor, anchor)
        return Place(start, end, f"unexpected {self._shown(token)}", anchor, region)

    def _at_bracket(self, opener: Node, token: Node | None, region: tuple[int, int]) -> Place:
        said = f"{self._shown(opener)} is not closed"
        if opener.type not in QUOTES:
            said += f" before {self._shown(token)}"
            if token and token.start_point.row != opener.start_point.row:
                said += f" of line {self._line_of(token)}"
        return Place(opener.start_byte, opener.end_byte, said, opener.start_byte, region)

    def _offender(self, error: Node) -> tuple[Node | None, list[Node]]:
        """The first token that has no place there, and the ERROR nodes around it, outermost first.

        It is the token behind the innermost ERROR node when all within fit: None at the end.
        """
        node, around = error, [error]
        while node.children:
            bad = self._first_bad(node)
            if bad is None:
                return leaf_after(node), around
            if not bad.has_error:
                return first_leaf(bad), around
            node = bad
            if node.is_error:
                around.append(node)
        return node, around

    def _first_bad(self, node: Node) -> Node | None:
        """The first child that has an error within or, in an ERROR node, has no place there."""
        opened: list[str] = []
        for child in node.children:
            if child.has_error:
                return child
            if not node.is_error or is_comment(child):
                continue
            if child.type in OPENERS and (not opened or CLOSERS[opened.pop()] != child.type):
                return child
            if child.type in CLOSERS:
                opened.append(child.type)
            if not self._fits(first_leaf(child)):
                return child
        return None

    def _fits(self, leaf: Node) -> bool:
        state = leaf.parse_state
        if state == _SKIPPED:
            return False
        if state not in self._allowed:
            iterator = self._language.lookahead_iterator(state)
            self._allowed[state] = frozenset(iterator.symbols()) if iterator else frozenset()
        allowed = self._allowed[state]
        return not allowed or leaf.grammar_id in allowed

    def _line_of(self, node: Node) -> int:
        return self._source.position(node.start_byte)[0]

    def _named(self, node: Node) -> str:
        return f"{self._shown(node)} of line {self._line_of(node)}"

    def _shown(self, node: Node | None) -> str:
        if node is None:
            return "end of file"
        text = " ".join(self._source.text(node.start_byte, node.end_byte).split())
        return _quoted(text if len(text) <= _SHOWN_TOKEN else text[:_SHOWN_TOKEN] + "…")


def _quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'
