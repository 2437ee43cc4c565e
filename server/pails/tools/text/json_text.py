"""JSON as text: where its values stand, and how the file is written. Pure.

For edits that change some values of a file and leave every other character of it alone.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_FIRST_LINE = re.compile(r"[ \t\r\n]*\{[ \t]*(\r\n|\n|\r)([ \t]*)")
_MARGIN = re.compile(r"[ \t]*")
_COLON = re.compile(r'"\s*:( ?)')
_UNICODE_ESCAPE = re.compile(r"(\\+)u(?!00[0-7])")


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the JSON: it is `text[start:end]`. Of outer ones the inner nodes are known too."""

    start: int
    end: int
    value: Any
    members: Mapping[str, "Node"] = field(default_factory=dict[str, "Node"])
    items: tuple["Node", ...] = ()


def read_json(text: str, levels: int) -> Node:
    """The value that the text is, with the nodes in it down to so many levels.

    Raises `ValueError`, mostly a `JSONDecodeError`, and `RecursionError` for what is too deep.
    """
    root = _node(text, _after_blanks(text, 0), levels)
    if _after_blanks(text, root.end) < len(text):
        raise json.JSONDecodeError("Text after the end", text, root.end)
    return root


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How a file is written. `indent` is one level's blanks; None: a value stands on one line."""

    indent: str | None
    line_end: str
    blank: str
    """What stands behind a colon, and on one line behind a comma."""
    ascii_only: bool
    """Whether other characters are written as `\\uXXXX`."""

    def dumps(self, value: object, margin: str = "") -> str:
        """The value as this file would have it, in a line that begins with the blanks `margin`."""
        comma = "," if self.indent is not None else f",{self.blank}"
        text = json.dumps(
            value,
            ensure_ascii=self.ascii_only,
            indent=self.indent,
            separators=(comma, f":{self.blank}"),
        )
        return text.replace("\n", self.line_end + margin)


def json_style(text: str) -> JsonStyle:
    """The style of a text whose value is an object."""
    first, colon = _FIRST_LINE.match(text), _COLON.search(text)
    blank = colon[1] if colon else " "
    ascii_only = text.isascii() and _has_escapes(text)
    if first is None:
        return JsonStyle(None, "\n", blank, ascii_only)
    return JsonStyle(first[2], first[1], blank, ascii_only)


def _has_escapes(text: str) -> bool:
    """Whether characters beyond ASCII are written by their numbers."""
    # Of backslashes in pairs each stands for one that is in the value. The plain search is there
    # because most texts have no such escape and it takes a hundredth of the time.
    return "\\u" in text and any(len(found[1]) % 2 for found in _UNICODE_ESCAPE.finditer(text))


def margin(text: str, node: Node) -> str:
    """The blanks at the start of the line in which a value begins."""
    line = max(text.rfind("\n", 0, node.start), text.rfind("\r", 0, node.start)) + 1
    found = _MARGIN.match(text, line, node.start)
    return found[0] if found else ""


def gap(text: str, array: Node) -> str:
    """What stands between two items of an array that has at least one."""
    first, *others = array.items
    if others:
        return text[first.end : others[0].start]
    return "," + (text[array.start + 1 : first.start] or json_style(text).blank)


def _node(text: str, start: int, levels: int) -> Node:
    opening = text[start : start + 1]
    if levels and opening == "{":
        return _object(text, start, levels)
    if levels and opening == "[":
        return _array(text, start, levels)
    value, end = _DECODER.raw_decode(text, start)
    return Node(start, end, value)


def _object(text: str, start: int, levels: int) -> Node:
    members: dict[str, Node] = {}
    at = _after_blanks(text, start + 1)
    while text[at : at + 1] != "}":
        if members:
            at = _after(text, at, ",")
        name = _node(text, at, 0)
        if not isinstance(name.value, str):
            raise json.JSONDecodeError("Expecting a name in quotes", text, at)
        member = _node(text, _after(text, _after_blanks(text, name.end), ":"), levels - 1)
        members[name.value] = member
        at = _after_blanks(text, member.end)
    return Node(start, at + 1, {name: node.value for name, node in members.items()}, members)


def _array(text: str, start: int, levels: int) -> Node:
    items: list[Node] = []
    at = _after_blanks(text, start + 1)
    while text[at : at + 1] != "]":
        if items:
            at = _after(text, at, ",")
        items.append(_node(text, at, levels - 1))
        at = _after_blanks(text, items[-1].end)
    return Node(start, at + 1, [item.value for item in items], items=tuple(items))


def _after(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"Expecting '{mark}'", text, at)
    return _after_blanks(text, at + 1)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
