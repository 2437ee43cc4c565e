"""Document URIs: one spelling of each as a key, and paths to and fro.

Clients spell the same document differently (`file:///c%3A/x`, `file:///C:/x`), so URIs are
compared by `canonical` and sent back as the client wrote them.
"""

import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:(?=/|$)")


def canonical(uri: str) -> str:
    """The one spelling under which a URI is kept. Other schemes than `file` stay as they are."""
    path = _file_path(uri)
    return uri if path is None else f"file://{path}"


def is_uri(text: str) -> bool:
    """Whether it can be taken apart as a URI; a bracket in the host's place, say, forbids that."""
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


def to_path(uri: str) -> Path | None:
    """The path that a `file` URI means; None for `untitled:` and every other scheme."""
    path = _file_path(uri)
    if path is None:
        return None
    return Path(path[1:] if _DRIVE.match(path) else path)


def from_path(path: Path) -> str:
    """The `file` URI of an absolute path; bytes that are no UTF-8 stay what they are."""
    text = path.as_posix()
    if text.startswith("//"):
        return "file:" + quote(text, errors="surrogateescape")
    drive = "/" if not text.startswith("/") else ""
    return f"file://{drive}" + quote(text, errors="surrogateescape")


def name(uri: str) -> str:
    """The last part, for people: `calc.py`, `Untitled-1`."""
    return unquote(uri.rstrip("/").replace(":", "/").rsplit("/", 1)[-1]) or uri


def _file_path(uri: str) -> str | None:
    """The decoded path with forward slashes, the host of a network share in front."""
    if not is_uri(uri):
        return None
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        return None
    path = unquote(parts.path, errors="surrogateescape") or "/"
    if parts.netloc and parts.netloc != "localhost":
        return f"//{unquote(parts.netloc)}{path}"
    return path[0] + path[1].lower() + path[2:] if _DRIVE.match(path) else path
