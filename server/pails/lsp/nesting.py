"""How deep JSON from a client may be nested.

Decoding, validating and copying it recurse, each to a depth of its own. Refused once, at the
border, it ends in none of them.
"""

from typing import cast

DEEPEST = 100
"""Levels of objects and arrays; no message of LSP comes near it."""


def is_nested_too_deep(data: object) -> bool:
    """Whether there are more than `DEEPEST` levels; found level by level, without recursion."""
    level = [data]
    for _ in range(DEEPEST + 1):
        level = [child for value in level for child in _children(value)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []
