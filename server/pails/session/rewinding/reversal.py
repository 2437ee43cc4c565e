"""From what the log says of turns to a plan that takes them back. Blocks: use it in a thread."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pails.core.errors import InvalidRequestError, StorageError
from pails.core.ports import Texts
from pails.core.text import join_surrogates
from pails.host.encodings import TextFile, decode, encode
from pails.host.paths import named_and_real
from pails.host.tree import status_of
from pails.session.rewinding.deeds import Command, TurnDeeds, Write
from pails.snapshots.entries import FILE, LINK, PROGRAM, Entry, FileDelta, Snapshot, blob_id
from pails.snapshots.restore import entry_on_disk
from pails.snapshots.rewind import Conflict, Deed, Now, RewindPlan, between, plan_rewind
from pails.tools.files.document import NEW_FILE, Document

if TYPE_CHECKING:
    from pails.snapshots.store import SnapshotStore

_OUTSIDE = "it is outside of the workspace"


Undone = Callable[[str, int], Collection[str]]
"""See `Rewinds.undone_files`."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """A plan and what it starts from. `notes` say what of the agent's work is not known.

    `links` are paths, as events have them, by which tools wrote the files of these names.
    """

    plan: RewindPlan
    now: Now
    notes: tuple[str, ...]
    links: Mapping[str, Collection[str]]

    def links_to(self, names: Iterable[str]) -> list[str]:
        """The links by which files of these names were written."""
        return sorted(link for name in names for link in self.links.get(name, ()))


class Reverser:
    """Plans what is to be done in one workspace as it is now, once.

    `now` is a snapshot of it; `documents` are the open ones, by real path. A name is a path
    relative to the workspace, or absolute for one outside.
    """

    def __init__(
        self,
        store: "SnapshotStore",
        texts: Texts,
        workspace: Path,
        now: Snapshot,
        documents: Mapping[Path, Document],
    ) -> None:
        self._store = store
        self._texts = texts
        self._workspace = workspace
        self._snapshot = now
        self._documents = documents
        self._entries: dict[str, Entry | None] = {}
        self._made: dict[str, bytes] = {}
        self._conflicts: dict[str, Conflict] = {}
        self._fileless: dict[str, Document] = {}  # they are open, and there is no file
        self._links: dict[str, set[str]] = {}
        self._notes: list[str] = []

    def of_turns(self, turns: Sequence[TurnDeeds], undone: Undone) -> Reversal:
        """Take back what the turns did, given oldest first."""
        return self._planned([d for turn in reversed(turns) for d in self._of_turn(turn, undone)])

    def of_rewind(self, before_id: str, after_id: str) -> Reversal:
        """Take back what a rewind did: just that lies between its two snapshots.

        Raises `InvalidRequestError` when these are gone.
        """
        before, after = self._kept(before_id), self._kept(after_id)
        if before is None or after is None:
            raise InvalidRequestError(
                "This rewind is too old to be taken back: its snapshots are kept no longer. "
                "Nothing was changed."
            )
        return self._planned([replace(between(self._store, before, after), kept=True)])

    def told(self, name: str) -> str:
        """The absolute path as events have it."""
        return join_surrogates(str(self._workspace / name))

    def _planned(self, deeds: Sequence[Deed]) -> Reversal:
        for deed in deeds:
            for name in deed.deltas:
                self._find(name, on_disk=deed.kept)
        self._judge_fileless(deeds)
        possible = [_part(deed, lambda name: name not in self._conflicts) for deed in deeds]
        now = Now(self._snapshot, self._entries, self._made)
        plan = plan_rewind(self._store, possible, now)
        plan = replace(plan, conflicts=(*self._conflicts.values(), *plan.conflicts))
        return Reversal(plan, now, tuple(self._notes), self._links)

    def _judge_fileless(self, deeds: Sequence[Deed]) -> None:
        """A buffer without a file holds what the agent wrote into it, but not what it deleted."""
        for name, document in self._fileless.items():
            newest = next(deed.deltas[name] for deed in deeds if name in deed.deltas)
            if newest.new is not None:
                self._entries[name] = self._make(_encoded(NEW_FILE, document.text), FILE)

    # -- what a turn did

    def _of_turn(self, turn: TurnDeeds, undone: Undone) -> list[Deed]:
        """The newest first, without what a rewind has taken back."""
        before, after = self._kept(turn.before), self._kept(turn.after)
        deeds: list[Deed] = []
        lost: set[str] = set()
        for deed in reversed(turn.deeds):
            done = undone(turn.turn_id, deed.at)
            if isinstance(deed, Command):
                deeds += self._of_command(deed, turn, done)
                continue
            name = self._name(deed.path, before)
            if self.told(name) in done:
                continue
            delta = self._delta(name, deed, before)
            if delta is None:
                lost.add(name)
            else:
                around = before or self._snapshot
                deeds.append(Deed({name: delta}, around, around, kept=True))
        return self._with_lost(deeds, lost, turn, before, after) if lost else deeds

    def _of_command(self, command: Command, turn: TurnDeeds, done: Collection[str]) -> list[Deed]:
        before, after = self._kept(command.before), self._kept(command.after)
        if before and after:
            changed = between(self._store, before, after)
            return [_part(changed, lambda name: self.told(name) not in done)]
        note = f"What a command changed in “{turn.title}” is not known, and stays as it is."
        if note not in self._notes:
            self._notes.append(note)
        return []

    def _with_lost(
        self,
        deeds: Sequence[Deed],
        lost: Collection[str],
        turn: TurnDeeds,
        before: Snapshot | None,
        after: Snapshot | None,
    ) -> list[Deed]:
        """Of files whose texts are not kept, all that changed while the turn ran."""
        others = [_part(deed, lambda name: name not in lost) for deed in deeds]
        if before and after:
            whole = between(self._store, before, after)
            return [_part(whole, lambda name: name in lost), *others]
        names = ", ".join(sorted(lost))
        self._notes.append(f"What “{turn.title}” wrote to {names} is not known, and stays.")
        return others

    def _kept(self, snapshot_id: str) -> Snapshot | None:
        return self._store.get(snapshot_id) if snapshot_id else None

    def _name(self, path: str, before: Snapshot | None) -> str:
        """The name of a file that a tool wrote; through a link it wrote what that leads to."""
        named, real = named_and_real(Path(path))
        name = self._relative(named)
        if before is not None and not Path(name).is_absolute():
            entry = self._store.entry(before, name)
            if entry is not None and entry.mode == LINK:
                target = self._relative(real)
                self._links.setdefault(target, set()).add(path)
                return target
        return name

    def _relative(self, path: Path) -> str:
        inside = path.is_relative_to(self._workspace)
        return path.relative_to(self._workspace).as_posix() if inside else str(path)

    # -- texts and entries

    def _delta(self, name: str, write: Write, before: Snapshot | None) -> FileDelta | None:
        """What a tool did to a file; None where its texts are not kept."""
        try:
            old, new = (
                None if text_id is None else self._texts.get(text_id)
                for text_id in (write.before_id, write.after_id)
            )
        except StorageError:
            return None
        self._find(name, on_disk=True)
        likes = [self._entries.get(name)]
        if before is not None and not Path(name).is_absolute():
            likes.append(self._store.entry(before, name))
        files = [entry for entry in likes if entry is not None and entry.mode != LINK]
        return FileDelta(name, self._entry(old, files), self._entry(new, files))

    def _entry(self, text: str | None, likes: Sequence[Entry]) -> Entry | None:
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

    def _find(self, name: str, *, on_disk: bool) -> None:
        """Look what stands at a path, where that is not for the snapshot to say."""
        if name in self._entries or name in self._conflicts:
            return
        path = self._workspace / name
        if Path(name).is_absolute():
            self._conflicts[name] = Conflict(name, _OUTSIDE)
        elif self._documents.get(path) or on_disk:
            try:
                self._entries[name] = self._at(name, path)
            except OSError as error:
                self._conflicts[name] = Conflict(name, error.strerror or str(error))

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
        self._made[id] = data
        return Entry(mode, id)

    def _read(self, entry: Entry) -> bytes:
        made = self._made.get(entry.id)
        return self._store.read(entry) if made is None else made


def _part(deed: Deed, wanted: Callable[[str], bool]) -> Deed:
    return replace(deed, deltas={name: d for name, d in deed.deltas.items() if wanted(name)})


def _encoded(stored: TextFile, text: str) -> bytes:
    try:
        return encode(replace(stored, text=text))
    except UnicodeEncodeError:  # it had another encoding then
        return encode(TextFile(text))
