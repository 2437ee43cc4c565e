"""What a snapshot holds, as plain data.

A path is a string relative to the workspace, with `/` between its parts; bytes that are not UTF-8
stand in it as lone surrogates. An id is the hash that git gives an object, 40 hex digits.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pails.core.errors import StorageError

FOLDER = 0o040000
FILE = 0o100644
PROGRAM = 0o100755
LINK = 0o120000


class SnapshotError(StorageError):
    """A snapshot could not be taken or read; the workspace is as it was."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`file_bytes`: larger files are left out. `store_bytes`: what `clean_up` keeps to."""

    file_bytes: int = 5_000_000
    store_bytes: int = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path: a file (`FILE`, or `PROGRAM` if its owner may run it) or a `LINK`.

    `id` names its bytes; those of a link are its target. Inside trees there are `FOLDER`s too.
    """

    mode: int
    id: str


class Reason(StrEnum):
    """Why something is in no snapshot, so that changes there cannot be taken back."""

    TOO_LARGE = "too large"
    NESTED = "a repository of its own"
    UNREADABLE = "cannot be read"
    BUILD = "dependencies or build output"
    IGNORED = "hidden by an ignore file"
    OUTSIDE = "outside the workspace"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, or a folder with everything below it, that is not in a snapshot."""

    path: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workspace at one moment. `id` is its commit, `tree` what was there.

    `taken` is in seconds since 1970; taking it took `seconds`. `left_out` names large files, nested
    repositories and what could not be read; of ignored files and the like only those that the
    caller had named as changed.
    """

    name: str
    id: str
    tree: str
    taken: float
    seconds: float
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class FileDelta:
    """One path that differs between two snapshots; None where it is not in that one."""

    path: str
    old: Entry | None
    new: Entry | None

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"


def blob_id(data: bytes) -> str:
    """The id of these bytes, without storing them."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_below(path: str, folder: str) -> bool:
    """Whether the path is the folder itself or below it; everything is below ""."""
    return not folder or path == folder or path.startswith(folder + "/")


def parents(path: str) -> list[str]:
    """The folders above a path, the nearest first, without the workspace itself."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
