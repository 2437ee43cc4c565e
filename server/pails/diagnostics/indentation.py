"""Indentation as syntax: what Python refuses and its tree-sitter grammar lets pass.

The grammar accepts a block without statements, and statements that stand at any column. Both are
common slips of an edit by lines, so they are looked for in the tree: only statements are visited,
never expressions, which keeps it cheap.
"""

from collections.abc import Iterator

from tree_sitter import Node

_HOLDERS = frozenset(
    (
        "block",
        "function_definition",
        "class_definition",
        "decorated_definition",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "match_statement",
        "case_clause",
    )
)
"""The kinds of node in which a block may be."""


def badly_indented(
    root: Node, within: tuple[int, int] | None = None
) -> Iterator[tuple[int, int, str]]:
    """Start and end in bytes, and a message, for each block or statement out of place.

    Bodies in which the parser itself got stuck are left to it. Looked through is the body around
    the bytes `within`, or all.
    """
    pending = [root if within is None else _body_around(root, *within)]
    while pending:
        node = pending.pop()
        children = node.children
        if node.type in ("module", "block") and not any(child.is_error for child in children):
            yield from _misplaced(node, children)
        pending += [child for child in children if child.type in _HOLDERS]


def _body_around(root: Node, start: int, end: int) -> Node:
    """The innermost body that has these bytes and what is right before and behind them."""
    node = root.descendant_for_byte_range(max(0, start - 1), min(end + 1, root.end_byte))
    while node is not None and node.type not in ("module", "block"):
        node = node.parent
    return node or root


def _misplaced(body: Node, children: list[Node]) -> Iterator[tuple[int, int, str]]:
    statements = [child for child in children if child.is_named and child.type != "comment"]
    owner = body.parent
    if not statements:
        if owner is not None and not owner.has_error:
            place = body.prev_sibling.end_byte if body.prev_sibling else body.start_byte
            line = owner.start_point.row + 1
            yield place, place, f"expected an indented block for line {line}"
        return
    column, last_row = statements[0].start_point.column, -1
    for statement in statements:
        start = statement.start_point
        if start.row > last_row and start.column != column and not statement.has_error:
            yield statement.start_byte, statement.end_byte, "unexpected indentation"
        last_row = statement.end_point.row
