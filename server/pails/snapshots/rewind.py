"""What has to be done to take back what the agent did. Pure, apart from reading the store.

What the agent did is a list of deeds: what a command changed is the difference between the
snapshots around it, what a tool wrote is known by itself. They are reversed from the newest to the
oldest, and only paths that are in one are ever touched. What a person did to such a path in between
or since is kept: changes to other lines are merged, anything else is a conflict, which is reported
and left alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pails.core.rewind import How
from pails.host.listing import IGNORE_FILES
from pails.snapshots.entries import (
    FILE,
    FOLDER,
    LINK,
    Entry,
    FileDelta,
    Snapshot,
    blob_id,
    is_below,
    parents,
)
from pails.snapshots.merge import three_way


class Snapshots(Protocol):
    """The part of a `SnapshotStore` that planning reads."""

    def changes(self, old: Snapshot, new: Snapshot) -> tuple[FileDelta, ...]: ...
    def entry(self, snapshot: Snapshot, path: str) -> Entry | None: ...
    def paths(self, snapshot: Snapshot, folder: str = "") -> tuple[str, ...]: ...
    def read(self, entry: Entry) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that the agent did at once. `before` is a snapshot from before it.

    `kept` says that the deltas are known by themselves, whatever snapshots leave out; else they are
    the difference between `before` and `after`.
    """

    deltas: Mapping[str, FileDelta]
    before: Snapshot
    after: Snapshot
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Now:
    """The workspace as it is: a snapshot, and entries by path that count more, such as those of
    open documents. `made` has the bytes of entries that are not in the store, by id."""

    snapshot: Snapshot
    entries: Mapping[str, Entry | None]
    made: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, if the path still is as `expected` (None: nothing is there).

    `data` is the new content of a file, or what a link is to say; `mode` as in `Entry`. `how` is
    what becomes of the path, as in `core.rewind`.
    """

    path: str
    action: Literal["write", "link", "chmod", "delete"]
    expected: Entry | None
    how: How
    data: bytes = b""
    mode: int = FILE


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that is left alone, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """`folders` are those that the agent made: they go when nothing is left in them."""

    steps: tuple[Step, ...]
    folders: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def between(store: Snapshots, before: Snapshot, after: Snapshot) -> Deed:
    """All that changed between two snapshots, as one deed."""
    return Deed({delta.path: delta for delta in store.changes(before, after)}, before, after)


def plan_rewind(store: Snapshots, deeds: Sequence[Deed], now: Now | Snapshot) -> RewindPlan:
    """Reverse the deeds, given from the newest to the oldest. Raises what the store raises."""
    if isinstance(now, Snapshot):
        now = Now(now, {}, {})
    return _Planner(store, deeds, now).plan()


class _Planner:
    def __init__(self, store: Snapshots, deeds: Sequence[Deed], now: Now) -> None:
        self._store = store
        self._deeds = deeds
        self._now = now
        self._made = dict(now.made)
        self._revealing = {
            delta.path.rpartition("/")[0]
            for deed in deeds
            for delta in deed.deltas.values()
            if self._reveals(delta)
        }

    def plan(self) -> RewindPlan:
        paths = dict.fromkeys(path for deed in self._deeds for path in deed.deltas)
        judged = [self._judge(path) for path in sorted(paths)]
        steps = [step for step in judged if isinstance(step, Step)]
        conflicts = [item for item in judged if isinstance(item, Conflict)]
        steps, blocked = self._without_blocked(steps)
        return RewindPlan(tuple(steps), self._folders(steps), (*conflicts, *blocked))

    def _judge(self, path: str) -> Step | Conflict | None:
        """What to do about one path, or why nothing can be done; None if nothing need be."""
        found = current = self._found(path)
        merged = False
        for deed in self._deeds:
            delta = deed.deltas.get(path)
            if delta is None or current == delta.old:
                continue
            reason = self._unknowable(deed, delta)
            if not reason and current == delta.new:
                current = delta.old
                continue
            outcome = reason or self._merge(delta, current)
            if isinstance(outcome, str):
                return Conflict(path, outcome)
            current, merged = outcome, True
        return self._step(path, found, current, merged=merged)

    def _found(self, path: str) -> Entry | None:
        """What stands at a path now; of a folder what is in it has paths of its own."""
        if path in self._now.entries:
            return self._now.entries[path]
        entry = self._store.entry(self._now.snapshot, path)
        return None if entry and entry.mode == FOLDER else entry

    def _unknowable(self, deed: Deed, delta: FileDelta) -> str:
        """Why it is not known what the deed did to a path; "" where it is."""
        if deed.kept:
            return ""
        for snapshot in (deed.before, deed.after, self._now.snapshot):
            for item in snapshot.left_out:
                if is_below(delta.path, item.path):
                    return f"not kept in a snapshot ({item.reason})"
        if delta.old is None and any(is_below(delta.path, folder) for folder in self._revealing):
            return "it may have been there before, hidden by an ignore file that changed"
        return ""

    def _step(
        self, path: str, found: Entry | None, wanted: Entry | None, *, merged: bool
    ) -> Step | None:
        if found == wanted:
            return None
        if wanted is None:
            return Step(path, "delete", found, "removed")
        how = "merged" if merged else "restored" if found else "broughtBack"
        if wanted.mode == LINK:
            return Step(path, "link", found, how, self._read(wanted), LINK)
        if found and found.mode != LINK and found.id == wanted.id:
            return Step(path, "chmod", found, how, mode=wanted.mode)
        return Step(path, "write", found, how, self._read(wanted), wanted.mode)

    def _merge(self, delta: FileDelta, current: Entry | None) -> Entry | str:
        """The path without the deed, though the person changed it since; or why that cannot be."""
        old, new = delta.old, delta.new
        if not (old and new and current):
            return _explain_absence(delta, current)
        if LINK in (old.mode, new.mode, current.mode):
            return "you have changed it since, and it is or was a link"
        merged = three_way(self._read(new), self._read(current), self._read(old))
        if merged is None:
            return "you have changed it since, and it is not text"
        if merged.conflicts:
            lines = ", ".join(str(hunk.at.start + 1) for hunk in merged.conflicts)
            return f"you have changed the same lines since (line {lines} of the agent's version)"
        id = blob_id(merged.data)
        self._made[id] = merged.data
        return Entry(old.mode if new.mode == current.mode else current.mode, id)

    def _read(self, entry: Entry) -> bytes:
        made = self._made.get(entry.id)
        return self._store.read(entry) if made is None else made

    def _reveals(self, delta: FileDelta) -> bool:
        """Whether an ignore file that the agent changed may show what it used to hide."""
        if delta.path.rpartition("/")[2] not in IGNORE_FILES:
            return False
        old, new = (
            self._read(entry).splitlines() if entry else [] for entry in (delta.old, delta.new)
        )
        return may_reveal(old, new)

    def _without_blocked(self, steps: Sequence[Step]) -> tuple[list[Step], list[Conflict]]:
        """Take out steps in whose way something stands that stays: a file above, files below."""
        going = {step.path for step in steps if step.action == "delete"}
        kept: list[Step] = []
        blocked: list[Conflict] = []
        for step in steps:
            in_the_way = None if step.action == "delete" else self._in_the_way(step.path, going)
            if in_the_way is None:
                kept.append(step)
            else:
                blocked.append(Conflict(step.path, f"{in_the_way} is in the way"))
        return kept, blocked

    def _in_the_way(self, path: str, going: set[str]) -> str | None:
        now = self._now.snapshot
        for folder in parents(path):
            entry = self._store.entry(now, folder)
            if entry and entry.mode != FOLDER and folder not in going:
                return folder
        entry = self._store.entry(now, path)
        if entry is None or entry.mode != FOLDER:
            return None
        return next((other for other in self._store.paths(now, path) if other not in going), None)

    def _folders(self, steps: Iterable[Step]) -> tuple[str, ...]:
        """The folders above deleted paths that were not there before, the deepest first."""
        above = {
            folder for step in steps if step.action == "delete" for folder in parents(step.path)
        }
        made = [folder for folder in above if self._is_made(folder)]
        return tuple(sorted(made, key=lambda folder: (-folder.count("/"), folder)))

    def _is_made(self, folder: str) -> bool:
        """Whether the agent made a folder: before its first deed below there was none."""
        first = next(
            deed
            for deed in reversed(self._deeds)
            if any(is_below(path, folder) for path in deed.deltas)
        )
        before = self._store.entry(first.before, folder)
        return before is None or before.mode != FOLDER


def may_reveal(old: Sequence[bytes], new: Sequence[bytes]) -> bool:
    """Whether new lines of an ignore file may show paths that the old ones hid.

    They cannot where the old lines are all there, in order, and no new one begins with `!`.
    """
    rest = iter(old)
    expected = next(rest, None)
    for line in new:
        if line == expected:
            expected = next(rest, None)
        elif line.startswith(b"!"):
            return True
    return expected is not None


def _explain_absence(delta: FileDelta, current: Entry | None) -> str:
    if current is None:
        return "you have removed it since"
    if delta.new is None:
        return "the agent removed it, and you have made another one since"
    return "the agent made it, and you have changed it since"
