"""Questions about a node of a tree: what is behind it, which bracket belongs to it. Pure."""

from tree_sitter import Node

CLOSERS = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}"}
QUOTES = {'"': '"', "'": "'", "`": "`", "string_start": "string_end"}
PAIRS = CLOSERS | QUOTES
OPENERS = {")": "(", "]": "[", "}": "{"}


def first_leaf(node: Node) -> Node:
    """The first token of a node."""
    while node.children:
        node = node.children[0]
    return node


def leaf_after(node: Node) -> Node | None:
    """The first token behind a node, but for comments and empty ones; None at the end."""
    at: Node | None = node
    while at is not None:
        sibling = at.next_sibling
        while sibling is not None and (
            sibling.start_byte == sibling.end_byte or is_comment(sibling)
        ):
            sibling = sibling.next_sibling
        if sibling is not None:
            return first_leaf(sibling)
        at = at.parent
    return None


def is_comment(node: Node) -> bool:
    """Whether it may stand anywhere, as a comment does."""
    return node.is_extra and node.is_named and not node.is_error


def is_trailing_comma(node: Node) -> bool:
    """Whether the error is only a comma before a closing bracket, or what is missing behind it."""
    comma: Node | None = node
    if node.is_missing:
        comma = node.prev_sibling
    elif node.is_error and node.child_count == 1:
        comma = node.children[0]
    closer = leaf_after(node)
    return bool(comma and comma.type == "," and closer and closer.type in ("]", "}"))


def open_bracket(around: list[Node], limit: int) -> Node | None:
    """The innermost bracket or quote before `limit` that these nested ERROR nodes left open."""
    for error in reversed(around):
        opened: list[Node] = []
        for child in error.children:
            if child.start_byte >= limit:
                break
            if opened and child.type == PAIRS[opened[-1].type]:
                opened.pop()
            elif child.type in PAIRS and child.child_count == 0:
                opened.append(child)
        if opened:
            return opened[-1]
    return None


def sibling_opener(missing: Node) -> Node | None:
    """The bracket that a missing one would close."""
    wanted = OPENERS.get(missing.type)
    sibling = missing.prev_sibling
    while wanted is not None and sibling is not None:
        if sibling.type.endswith(wanted) and sibling.child_count == 0:
            return sibling
        sibling = sibling.prev_sibling
    return None
