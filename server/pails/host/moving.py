"""Moving and deleting what stands at a path. Links are moved and deleted, never followed.

A move is one rename: at any instant a thing has its old name or its new one. Deleting a folder is
many steps; each file in it is whole or gone. Every function blocks.
"""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import StorageError
from pails.host import files, tree
from pails.host.leftovers import temporary_name
from pails.host.paths import named_and_real


@dataclass(frozen=True, slots=True)
class Below:
    """What stands at a path and below it: `files` are all that is no folder, sorted."""

    kind: tree.Kind
    files: tuple[Path, ...]
    folders: tuple[Path, ...] = ()


def kind_of(path: Path) -> tree.Kind | None:
    """What stands at the path, itself and not what it links to; None for nothing.

    Raises `OSError` when we cannot know.
    """
    found = tree.status_of(str(path))
    return found and found.kind


def look_below(path: Path, limit: int) -> Below | None:
    """What stands at the path and below it; None for nothing.

    Raises `OSError`: EFBIG for a folder that holds more than `limit` files and folders.
    """
    kind = kind_of(path)
    if kind != "folder":
        return kind and Below(kind, (path,))
    found: list[Path] = []
    folders: list[Path] = []
    waiting = [path]
    while waiting:
        parent = waiting.pop()
        for name, kind in tree.names_and_kinds(str(parent)):
            if kind == "folder":
                waiting.append(parent / name)
                folders.append(parent / name)
            else:
                found.append(parent / name)
        if len(found) + len(folders) > limit:
            raise OSError(errno.EFBIG, f"holds more than {limit:,} files", str(path))
    return Below("folder", tuple(sorted(found)), tuple(sorted(folders)))


def new_place(source: Path, target: Path) -> Path | None:
    """The target with the links in its folders resolved; None where something stands already."""
    named, _ = named_and_real(target)
    return None if _is_taken(source, named) else named


def _is_taken(source: Path, target: Path) -> bool:
    """Whether something else than `source` stands at `target`.

    Where case does not count, a file may be given its own name in another case.
    """
    if not os.path.lexists(target):
        return False
    is_same = source.parent == target.parent and os.path.samestat(source.lstat(), target.lstat())
    return not is_same or target.name in dict(tree.names_and_kinds(str(target.parent)))


def move(source: Path, target: Path) -> None:
    """Give what is at `source` another name; the folders above that one are made.

    Raises `StorageError`; everything is then as it was.
    """
    try:
        if _is_taken(source, target):
            raise FileExistsError(errno.EEXIST, "exists already")
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    except OSError as error:
        why = files.reason(error)
        raise StorageError(f"{target}: {why}. Nothing was moved.", why) from error
    for folder in {source.parent, target.parent}:
        files.flush_folder(folder)


def led_to(link: Path) -> tuple[int, int] | None:
    """What a link leads to, as device and number; None where it is no link or leads nowhere."""
    try:
        status = link.stat() if link.is_symlink() else None
    except OSError:
        return None
    return status and (status.st_dev, status.st_ino)


def second_name(path: Path) -> Path | None:
    """Another name for the same file, by which it outlives its deletion; None without links."""
    other = path.parent / temporary_name()
    try:
        other.hardlink_to(path)
    except OSError:
        return None
    return other


def give_back(other: Path, path: Path) -> bool:
    """Give a file the name that it had, unless something stands there by now; whether it has it."""
    try:
        path.hardlink_to(other)
    except OSError:
        return False
    return True


def remove_all(path: Path, below: Below) -> None:
    """Delete what stands at the path; of a folder what is named in `below`.

    Raises `StorageError`: what was not deleted by then is still there.
    """
    try:
        for file in below.files:
            tree.remove(file)
        if below.kind == "folder":
            for folder in (*reversed(below.folders), path):
                folder.rmdir()
    except OSError as error:
        why = files.reason(error)
        raise StorageError(
            f"{error.filename or path}: {why}. It was not deleted, nor what comes behind it.", why
        ) from error
    files.flush_folder(path.parent)
