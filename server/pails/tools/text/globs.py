"""Glob patterns, matched by us: ripgrep's own `--glob` would override the ignore files."""

import re
from dataclasses import dataclass

MAX_GLOB_CHARS = 4000
"""Longer ones take noticeably long to compile, during which nothing else runs."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled pattern for relative paths with `/`.

    `*` and `?` stay within a name, `**` spans folders, `[…]` and `{a,b}` as usual. A pattern
    without `/` is meant for names at any depth.
    """

    pattern: str
    regex: re.Pattern[str]

    def matches(self, path: str) -> bool:
        return self.regex.fullmatch(path) is not None

    @property
    def names_hidden(self) -> bool:
        """Whether the pattern itself asks for names that begin with a dot."""
        return any(re.match(r"\.[^./]", part) for part in self.pattern.split("/"))


def compile_glob(pattern: str) -> Glob:
    """The pattern, ready to match. What is not well formed stands for itself."""
    plain = pattern.removeprefix("./")
    anchored = _REPEATED.sub("**/", plain.removeprefix("/"))
    if anchored.endswith("/"):
        anchored += "**"
    prefix = "" if "/" in plain else "(?:.*/)?"
    balanced = anchored.count("{") == anchored.count("}")
    try:
        regex = re.compile(prefix + _translated(anchored, braces=balanced), re.DOTALL)
    except (re.error, RecursionError):
        regex = re.compile(prefix + re.escape(anchored), re.DOTALL)
    return Glob(anchored, regex)


_REPEATED = re.compile(r"(?:(?:^|(?<=/))\*\*/){2,}")
_TOKEN = re.compile(r"(?:^|(?<=/))\*\*/|\*+|\?|\[[!^]?\]?[^\]/]*\]|[{},]|[^*?\[{},]+|\[", re.DOTALL)


def _translated(pattern: str, *, braces: bool) -> str:
    depth = 0
    parts: list[str] = []
    star: int | None = None
    for token in _TOKEN.findall(pattern):
        if token == "*" and star is not None:
            # What stands between two stars may be taken where it first occurs, once and for all:
            # trying every other place too would freeze the process at a name such as aaaa….
            parts[star] = "(?>[^/]*?"
            parts.append(")")
        if token == "*":
            star = len(parts)
        elif token[0] == "*" or token in "{}," or "/" in token:
            star = None
        if token == "**/":
            parts.append("(?:.*/)?")
        elif token[0] == "*":
            parts.append("[^/]*" if token == "*" else ".*")
        elif token == "?":
            parts.append("[^/]")
        elif token[0] == "[" and len(token) > 1:
            inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[^/{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
        elif token in "{}" and braces:
            depth += 1 if token == "{" else -1
            parts.append("(?:" if token == "{" else ")")
        elif token == "," and depth > 0:
            parts.append("|")
        else:
            parts.append(re.escape(token))
    return "".join(parts)
