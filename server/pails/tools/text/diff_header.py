"""What a diff says of a file above its hunks: its two names, and what git adds to them. Pure."""

import re
from collections.abc import Mapping

_NOTE = re.compile(
    r"(diff --git|index|old mode|new mode|new file mode|deleted file mode|similarity index"
    r"|dissimilarity index|rename from|rename to|copy from|copy to) (.+)"
)
_PLAIN_FILE = re.compile(r"(?:100)?[0246]{3}")
_PREFIX = re.compile(r"^[abciow]/")
_TIME = re.compile(r"\t.*|\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def read_note(line: str) -> tuple[str, str] | None:
    """What git says in a line above the names, such as `("rename from", "src/a.py")`."""
    found = _NOTE.fullmatch(line.rstrip())
    if found is None:
        return None
    return found[1], _unquoted(found[2]) if found[1].startswith("rename") else found[2]


def fault_of(notes: Mapping[str, str]) -> str:
    """Why what git says of a file cannot be done, so that nothing of it is silently left out."""
    if "old mode" in notes or "new mode" in notes:
        return "a patch changes no modes here: leave that out, and use run_command for it"
    if "copy from" in notes or "copy to" in notes:
        return "a patch copies nothing here: add the new file with its text"
    if not _PLAIN_FILE.fullmatch(notes.get("new file mode", "100644")):
        return "a patch adds plain files only, no links and no programs: use run_command for it"
    return ""


def file_names(old: str, new: str, notes: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The names in the lines `--- a/src/x.py` and `+++ b/src/x.py`; None for no file."""
    names = _name(old), _name(new)
    is_plain = names[0] == names[1] or _is_without_prefixes(notes)
    return names if is_plain else (_without_prefix(names[0]), _without_prefix(names[1]))


def git_name(notes: Mapping[str, str]) -> str | None:
    """The one name in the line `diff --git a/src/x.py b/src/x.py`; None where there are two."""
    old, new = _git_names(notes)
    if old != new:
        old, new = _without_prefix(old), _without_prefix(new)
    return old if old == new else None


def _is_without_prefixes(notes: Mapping[str, str]) -> bool:
    old, new = _git_names(notes)
    return bool(old) and old == new


def _git_names(notes: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Both names are as long, unless they are two, which other lines tell."""
    line = notes.get("diff --git", "")
    middle = len(line) // 2
    return _unquoted(line[:middle]) or None, _unquoted(line[middle + 1 :]) or None


def _name(header: str) -> str | None:
    name = header[4:]
    name = _unquoted(name if name.startswith('"') else _TIME.sub("", name).strip())
    return None if name == "/dev/null" else name


def _without_prefix(name: str | None) -> str | None:
    return name and _PREFIX.sub("", name)


def _unquoted(name: str) -> str:
    """A name as git quotes it, with bytes beyond ASCII as octal numbers: `"\\303\\244.py"`."""
    name = name.strip()
    quoted, quote, _ = name[1:].rpartition('"')
    if not name.startswith('"') or not quote:
        return name
    return _ESCAPE.sub(_unescaped, quoted.encode()).decode(errors="surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    char = found[1]
    return bytes([int(char, 8) & 0xFF]) if len(char) == 3 else _ESCAPES.get(char, char)
