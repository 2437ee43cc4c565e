"""Looking at and changing what is below a folder, without ever following a link.

Paths are strings here: looking at fifty thousand files takes twice as long with `Path`.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pails.host.leftovers import temporary_name

Kind = Literal["file", "link", "folder", "other"]

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 1_000_000


class Status(NamedTuple):
    """What stands at a path. `size` is in bytes; times are in nanoseconds since 1970."""

    kind: Kind
    size: int
    modified: int
    changed: int
    inode: int
    executable: bool


def status_of(path: str) -> Status | None:
    """None where nothing is. Raises `OSError` when we cannot know."""
    try:
        return _status(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def names_and_kinds(folder: str) -> list[tuple[str, Kind]]:
    """What is in a folder, in no order. Raises `OSError`."""
    with os.scandir(folder) as found:
        return [(item.name, _kind_of_item(item)) for item in found]


def read_file(path: str, limit: int) -> tuple[bytes, Status | None]:
    """The content of a regular file, and the status it had before; None if it changed meanwhile.

    Raises `OSError`: EFBIG for more than `limit` bytes, ELOOP for a link, EINVAL for no file.
    """
    descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT | _BINARY)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
        data = os.read(descriptor, min(before.st_size, limit) + 1)
        while len(data) <= limit and (more := os.read(descriptor, _CHUNK_BYTES)):
            data += more
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"has more than {limit:,} bytes", path)
    same = before.st_mtime_ns == after.st_mtime_ns and before.st_ctime_ns == after.st_ctime_ns
    return data, _status(before) if same and len(data) == before.st_size else None


def read_link(path: str) -> bytes:
    """What a link says. Raises `OSError`."""
    return os.readlink(os.fsencode(path))  # noqa: PTH115 - a Path would shorten `./a//b`


def folder_above(root: Path, name: str) -> str | None:
    """The first of the folders above `name` that is something else, such as a link; else None.

    `name` is relative to `root`, with `/`. A folder that is missing ends the search. Raises
    `OSError` when we cannot know.
    """
    parts = name.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        found = status_of(str(root.joinpath(*parts[:count])))
        if found is None:
            return None
        if found.kind != "folder":
            return "/".join(parts[:count])
    return None


def remove(path: Path) -> None:
    """Remove a file or a link. Raises `OSError`."""
    path.unlink()


def remove_if_empty(folders: Iterable[Path]) -> None:
    """Remove those of the folders in which nothing is left."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def set_executable(path: Path, *, executable: bool) -> None:
    """Let those run a file who may read it, or nobody. Raises `OSError`."""
    found = path.lstat().st_mode
    if not stat.S_ISREG(found):  # a link would pass the mode on to its target
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    mode = stat.S_IMODE(found)
    path.chmod(mode | (mode & 0o444) >> 2 if executable else mode & ~0o111)


def make_link(path: Path, target: bytes) -> None:
    """Make a link, in place of a file or a link that is there. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / temporary_name()
    temporary.symlink_to(os.fsdecode(target))
    try:
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def _status(found: os.stat_result) -> Status:
    mode = found.st_mode
    return Status(
        _kind(mode),
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_ino,
        bool(mode & stat.S_IXUSR),
    )


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "link"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _kind_of_item(item: "os.DirEntry[str]") -> Kind:
    try:
        if item.is_symlink():
            return "link"
        if item.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if item.is_file(follow_symlinks=False) else "other"
    except OSError:  # it went away while we looked
        return "other"
