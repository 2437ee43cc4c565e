"""What files looked like when they were last read, so that a full scan reads only the others.

The cache is a file in the store. Without it, or when it is damaged, everything is read again.
"""

import hashlib
import struct
from collections.abc import Iterable, Mapping

from pails.host.tree import Status

_MAGIC = b"pails stat cache 1\n"
_SEEN = struct.Struct("<QqqQ")
_ID_BYTES = 20
_ROW_BYTES = _SEEN.size + _ID_BYTES
_DIGEST_BYTES = 16
_COUNT = struct.Struct("<Q")
# A file may change twice within a tick of the clock: 2 s on the coarsest file systems.
_TICK = 2_000_000_000

Row = tuple[Status, str]
"""A file's status when it was read, and the id of its bytes."""


def lookup(cache: Mapping[str, bytes], path: str, status: Status) -> str | None:
    """The id of the file's bytes, if it looks exactly as it did."""
    row = cache.get(path)
    if row is None or row[: _SEEN.size] != _seen(status):
        return None
    return row[_SEEN.size :].hex()


def encode(rows: Iterable[tuple[str, Row]], started: int) -> bytes:
    """The file for these rows, seen in a scan that began at `started` (nanoseconds since 1970).

    Rows of files that changed so late that they may have changed again unseen are left out.
    """
    names: list[bytes] = []
    packed: list[bytes] = []
    for path, (status, id) in rows:
        if max(status.modified, status.changed) < started - _TICK:
            names.append(path.encode("utf-8", "surrogateescape"))
            packed.append(_seen(status) + bytes.fromhex(id))
    body = _COUNT.pack(len(names)) + b"".join(packed) + b"\0".join(names)
    return _MAGIC + _digest(body) + body


def decode(data: bytes) -> dict[str, bytes]:
    """The rows by path; none of a file that is not exactly as it was written."""
    start = len(_MAGIC) + _DIGEST_BYTES
    body = data[start:]
    if data[:start] != _MAGIC + _digest(body) or not body:
        return {}
    (count,) = _COUNT.unpack_from(body)
    rows = range(_COUNT.size, _COUNT.size + count * _ROW_BYTES, _ROW_BYTES)
    names = body[rows.stop :].decode("utf-8", "surrogateescape").split("\0")
    return {name: body[at : at + _ROW_BYTES] for name, at in zip(names, rows, strict=False)}


def _seen(status: Status) -> bytes:
    """What is compared: everything that the system changes when the content changes."""
    return _SEEN.pack(status.size, status.modified, status.changed, status.inode)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest()
