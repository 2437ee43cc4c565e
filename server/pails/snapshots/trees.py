"""Git's tree objects as bytes: parsing, writing, changing and comparing them.

By hand, because libgit2 refuses names that are special to git on some other system (`.GIT`,
`git~1`), and a person's files may have any name.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from pails.snapshots.entries import FOLDER, Entry, FileDelta

Read = Callable[[str], bytes]
"""The bytes of the tree with this id."""
Write = Callable[[bytes], str]
"""Stores a tree; its id."""
Edits = dict[str, "Edits | Entry | None"]
"""What becomes of the names in a folder; None: it goes. A mapping makes a folder, or changes it."""

_FOLDER = b"%o" % FOLDER
_NAMES = ("utf-8", "surrogateescape")
_ROW = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)


def parse(data: bytes) -> dict[str, Entry]:
    """The names in a tree."""
    rows: list[tuple[bytes, bytes, bytes]] = _ROW.findall(data)
    return {name.decode(*_NAMES): Entry(int(mode, 8), id.hex()) for mode, name, id in rows}


def edited(tree: str | None, edits: Edits, read: Read, write: Write) -> str | None:
    """The tree with the edits made in it, None when nothing is left; reads only changed trees."""
    rows = _rows(read(tree)) if tree else {}
    for name, edit in edits.items():
        raw = name.encode(*_NAMES)
        if isinstance(edit, dict):
            old = rows.get(raw)
            below = old[1].hex() if old and old[0] == _FOLDER else None
            changed = edited(below, edit, read, write)
            new = Entry(FOLDER, changed) if changed else None
        else:
            new = edit
        if new is None:
            rows.pop(raw, None)
        else:
            rows[raw] = (b"%o" % new.mode, bytes.fromhex(new.id))
    return write(_joined(rows)) if rows else None


def _rows(data: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    """Mode and id by name, as they are in the tree: most go back there unchanged."""
    rows: list[tuple[bytes, bytes, bytes]] = _ROW.findall(data)
    return {name: (mode, id) for mode, name, id in rows}


def _joined(rows: Mapping[bytes, tuple[bytes, bytes]]) -> bytes:
    """A tree in git's order: a folder stands as if its name ended with a slash."""
    order = sorted((name + b"/" if row[0] == _FOLDER else name, name) for name, row in rows.items())
    return b"".join([b"%s %s\0%s" % (rows[name][0], name, rows[name][1]) for _, name in order])


def set_edit(edits: Edits, path: str, entry: Entry | None) -> None:
    """Add the edit of one path; it replaces what was to be done there and below."""
    *folders, name = path.split("/")
    for folder in folders:
        below = edits.get(folder)
        if entry is None and folder in edits and below is None:
            return  # the folder goes as a whole
        if not isinstance(below, dict):
            below = edits[folder] = Edits()
        edits = below
    edits[name] = entry


def entry_at(tree: str, path: str, read: Read) -> Entry | None:
    """What the tree has at a path, a folder too."""
    entry: Entry | None = Entry(FOLDER, tree)
    for name in path.split("/"):
        if entry is None or entry.mode != FOLDER:
            return None
        entry = parse(read(entry.id)).get(name)
    return entry


def walk(tree: str, read: Read, prefix: str = "") -> Iterator[tuple[str, Entry]]:
    """Everything in a tree that is no folder, with its path."""
    for name, entry in parse(read(tree)).items():
        if entry.mode == FOLDER:
            yield from walk(entry.id, read, f"{prefix}{name}/")
        else:
            yield prefix + name, entry


def paths_in(tree: str, folder: str, read: Read) -> list[str]:
    """The paths of all that is no folder in a folder of the tree; in the whole of it for ""."""
    entry = entry_at(tree, folder, read) if folder else Entry(FOLDER, tree)
    if entry is None or entry.mode != FOLDER:
        return []
    return [path for path, _ in walk(entry.id, read, f"{folder}/" if folder else "")]


def compare(old: str, new: str, read: Read, prefix: str = "") -> Iterator[FileDelta]:
    """The paths that differ; equal folders are not read."""
    if old == new:
        return
    one, other = parse(read(old)), parse(read(new))
    for name in sorted(one.keys() | other.keys()):
        before, after = one.get(name), other.get(name)
        if before == after:
            continue
        if before and after and before.mode == after.mode == FOLDER:
            yield from compare(before.id, after.id, read, f"{prefix}{name}/")
            continue
        was, now = _files(before, prefix + name, read), _files(after, prefix + name, read)
        for path in sorted(was.keys() | now.keys()):
            yield FileDelta(path, was.get(path), now.get(path))


def _files(entry: Entry | None, path: str, read: Read) -> dict[str, Entry]:
    """An entry's path, or the paths below it."""
    if entry is None:
        return {}
    return dict(walk(entry.id, read, path + "/")) if entry.mode == FOLDER else {path: entry}
