"""From what the log says of turns to a plan that takes them back. Blocks: use it in a thread."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pails.core.errors import InvalidRequestError, StorageError
from pails.core.ports import Texts
from pails.core.text import join_surrogates
from pails.host.paths import named_and_real
from pails.session.rewinding.deeds import CommandRun, FileWrite, TurnDeeds
from pails.session.rewinding.present import Present
from pails.snapshots.entries import LINK, FileDelta, Snapshot
from pails.snapshots.rewind import Deed, Now, RewindPlan, between, plan_rewind
from pails.tools.files.document import Document

if TYPE_CHECKING:
    from pails.snapshots.store import SnapshotStore

Undone = Callable[[str, int], Collection[str]]
"""See `RewindHistory.undone_files`."""


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
        self._present = Present(store, workspace, documents)
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

    def _planned(self, deeds: Sequence[Deed]) -> Reversal:
        for deed in deeds:
            for name in deed.deltas:
                self._present.find(name, on_disk=deed.kept)
        self._present.judge_fileless(deeds)
        conflicts = self._present.conflicts
        possible = [_part(deed, lambda name: name not in conflicts) for deed in deeds]
        now = Now(self._snapshot, self._present.entries, self._present.made)
        plan = plan_rewind(self._store, possible, now)
        plan = replace(plan, conflicts=(*conflicts.values(), *plan.conflicts))
        return Reversal(plan, now, tuple(self._notes), self._links)

    def _of_turn(self, turn: TurnDeeds, undone: Undone) -> list[Deed]:
        """The newest first, without what a rewind has taken back."""
        before, after = self._kept(turn.before), self._kept(turn.after)
        deeds: list[Deed] = []
        lost: set[str] = set()
        for deed in reversed(turn.deeds):
            done = undone(turn.turn_id, deed.at)
            if isinstance(deed, CommandRun):
                deeds += self._of_command(deed, turn, done)
                continue
            name = self._name(deed.path, before)
            if told_path(self._workspace, name) in done:
                continue
            delta = self._delta(name, deed, before)
            if delta is None:
                lost.add(name)
            else:
                around = before or self._snapshot
                deeds.append(Deed({name: delta}, around, around, kept=True))
        return self._with_lost(deeds, lost, turn, before, after) if lost else deeds

    def _of_command(
        self, command: CommandRun, turn: TurnDeeds, done: Collection[str]
    ) -> list[Deed]:
        before, after = self._kept(command.before), self._kept(command.after)
        if before and after:
            changed = between(self._store, before, after)
            return [_part(changed, lambda name: told_path(self._workspace, name) not in done)]
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

    def _delta(self, name: str, write: FileWrite, before: Snapshot | None) -> FileDelta | None:
        """What a tool did to a file; None where its texts are not kept."""
        try:
            old, new = (
                None if text_id is None else self._texts.get(text_id)
                for text_id in (write.before_id, write.after_id)
            )
        except StorageError:
            return None
        present = self._present
        present.find(name, on_disk=True)
        likes = [present.entries.get(name)]
        if before is not None and not Path(name).is_absolute():
            likes.append(self._store.entry(before, name))
        files = [entry for entry in likes if entry is not None and entry.mode != LINK]
        return FileDelta(name, present.file(old, files), present.file(new, files))


def told_path(workspace: Path, name: str) -> str:
    """The absolute path as events and clients have it."""
    return join_surrogates(str(workspace / name))


def _part(deed: Deed, wanted: Callable[[str], bool]) -> Deed:
    return replace(deed, deltas={name: d for name, d in deed.deltas.items() if wanted(name)})
