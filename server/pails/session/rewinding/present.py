"""What stands at the paths of a workspace now, as entries of the store. Blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pails.host.encodings import TextFile, decode, encode
from pails.host.tree import status_of
from pails.snapshots.entries import FILE, PROGRAM, Entry, blob_id
from pails.snapshots.restore import entry_on_disk
from pails.snapshots.rewind import Conflict, Deed
from pails.tools.files.document import NEW_FILE, Document

if TYPE_CHECKING:
    from pails.snapshots.store import SnapshotStore

_OUTSIDE = "it is outside of the workspace"


class Present:
    """Made by looking at one path after the other: `entries` where a snapshot is not to say what is
    there, and `conflicts` where nobody can.

    `made` has the bytes of entries that the store may not have, by id. `documents` are the open
    ones, by real path. A name is a path relative to the workspace, or absolute for one outside.
    """

    def __init__(
        self, store: "SnapshotStore", workspace: Path, documents: Mapping[Path, Document]
    ) -> None:
        self.entries: dict[str, Entry | None] = {}
        self.made: dict[str, bytes] = {}
        self.conflicts: dict[str, Conflict] = {}
        self._store = store
        self._workspace = workspace
        self._documents = documents
        self._fileless: dict[str, Document] = {}  # they are open, and there is no file

    def find(self, name: str, *, on_disk: bool) -> None:
        """Look what stands at a path, where that is not for the snapshot to say."""
        if name in self.entries or name in self.conflicts:
            return
        path = self._workspace / name
        if Path(name).is_absolute():
            self.conflicts[name] = Conflict(name, _OUTSIDE)
        elif self._documents.get(path) or on_disk:
            try:
                self.entries[name] = self._at(name, path)
            except OSError as error:
                self.conflicts[name] = Conflict(name, error.strerror or str(error))

    def judge_fileless(self, deeds: Sequence[Deed]) -> None:
        """A buffer without a file holds what the agent wrote into it, but not what it deleted."""
        for name, document in self._fileless.items():
            newest = next(deed.deltas[name] for deed in deeds if name in deed.deltas)
            if newest.new is not None:
                self.entries[name] = self._make(_encoded(NEW_FILE, document.text), FILE)

    def file(self, text: str | None, likes: Sequence[Entry]) -> Entry | None:
        """A file with this text: one of those that are like it, else stored as the first is."""
        if text is None:
            return None
        mode = likes[0].mode if likes else FILE
        stored = NEW_FILE
        for like in reversed(likes):
            found = decode(self._read(like))
            if isinstance(found, TextFile):
                if found.exact and found.text == text:
                    return Entry(mode, like.id)
                stored = found
        return self._make(_encoded(stored, text), mode)

    def _at(self, name: str, path: Path) -> Entry | None:
        """What is there; an open document counts as a file with its text."""
        status = status_of(str(path))
        if document := self._documents.get(path):
            if document.stored is None:
                self._fileless[name] = document
                return None
            mode = PROGRAM if status and status.executable else FILE
            return self._make(_encoded(document.stored, document.text), mode)
        if status is None or status.kind == "folder":
            return None
        entry, data = entry_on_disk(path)
        return entry and self._make(data, entry.mode)

    def _make(self, data: bytes, mode: int) -> Entry:
        id = blob_id(data)
        self.made[id] = data
        return Entry(mode, id)

    def _read(self, entry: Entry) -> bytes:
        made = self.made.get(entry.id)
        return self._store.read(entry) if made is None else made


def _encoded(stored: TextFile, text: str) -> bytes:
    try:
        return encode(replace(stored, text=text))
    except UnicodeEncodeError:  # it had another encoding then
        return encode(TextFile(text))
