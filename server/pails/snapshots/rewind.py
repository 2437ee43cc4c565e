"""What has to be done to take back what the agent did. Pure, apart from reading the store.

The agent's work is the difference between two snapshots, before and after. Only paths in which
these differ are ever touched. What a person did to such a path since is kept: changes to other
lines are merged, anything else is a conflict, which is reported and left alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pails.host.listing import IGNORE_FILES
from pails.snapshots.entries import (
    FILE,
    FOLDER,
    LINK,
    Entry,
    FileDelta,
    Snapshot,
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
class Step:
    """One thing to do, if the path still is as `expected` (None: nothing is there).

    `data` is the new content of a file, or what a link is to say; `mode` as in `Entry`.
    """

    path: str
    action: Literal["write", "link", "chmod", "delete"]
    expected: Entry | None
    why: str
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

    @property
    def summary(self) -> str:
        """For a person: one line, and one more for each conflict."""
        counts = {why: sum(step.why == why for step in self.steps) for why in _WHYS}
        parts = [f"{count} {_noun(count)} {why}" for why, count in counts.items() if count]
        lines = ["; ".join(parts) + "." if parts else "Nothing to take back."]
        lines += [f"Left alone: {item.path}: {item.reason}." for item in self.conflicts]
        return "\n".join(lines)


RESTORED = "back as before"
MERGED = "back as before, with your later changes kept"
BROUGHT_BACK = "brought back"
REMOVED = "removed, since the agent made it"
_WHYS = (RESTORED, MERGED, BROUGHT_BACK, REMOVED)


def plan_rewind(store: Snapshots, before: Snapshot, after: Snapshot, now: Snapshot) -> RewindPlan:
    """Lead what differs between `before` and `after` back to `before`, starting from `now`.

    Raises what the store raises.
    """
    return _Planner(store, before, after, now).plan()


class _Planner:
    def __init__(self, store: Snapshots, before: Snapshot, after: Snapshot, now: Snapshot) -> None:
        self._store = store
        self._before = before
        self._after = after
        self._now = now
        self._deltas = store.changes(before, after)
        self._revealing = [
            delta.path.rpartition("/")[0] for delta in self._deltas if self._reveals(delta)
        ]

    def plan(self) -> RewindPlan:
        steps: list[Step] = []
        conflicts: list[Conflict] = []
        for delta in self._deltas:
            outcome = self._judge(delta)
            if isinstance(outcome, Step):
                steps.append(outcome)
            elif outcome:
                conflicts.append(Conflict(delta.path, outcome))
        steps, blocked = self._without_blocked(steps)
        return RewindPlan(tuple(steps), self._folders(steps), (*conflicts, *blocked))

    def _judge(self, delta: FileDelta) -> Step | str | None:
        """What to do about one path, or why nothing can be done; None if nothing need be."""
        current = self._store.entry(self._now, delta.path)
        if current and current.mode == FOLDER:
            current = None  # what is in it has paths of its own
        if current == delta.old:
            return None
        if reason := self._not_kept(delta.path):
            return reason
        if delta.old is None and any(is_below(delta.path, folder) for folder in self._revealing):
            return "it may have been there before, hidden by an ignore file that changed"
        if current == delta.new:
            return self._restore(delta.path, delta.old, current)
        return self._merge(delta, current)

    def _not_kept(self, path: str) -> str | None:
        """Why a snapshot does not tell what was at the path."""
        for snapshot in (self._before, self._after, self._now):
            for item in snapshot.left_out:
                if is_below(path, item.path):
                    return f"not kept in a snapshot ({item.reason})"
        return None

    def _restore(self, path: str, old: Entry | None, current: Entry | None) -> Step:
        if old is None:
            return Step(path, "delete", current, REMOVED)
        why = RESTORED if current else BROUGHT_BACK
        if old.mode == LINK:
            return Step(path, "link", current, why, self._store.read(old), LINK)
        if current and current.mode != LINK and current.id == old.id:
            return Step(path, "chmod", current, why, mode=old.mode)
        return Step(path, "write", current, why, self._store.read(old), old.mode)

    def _merge(self, delta: FileDelta, current: Entry | None) -> Step | str | None:
        """The person changed the path since."""
        old, new = delta.old, delta.new
        if not (old and new and current):
            return _explain_absence(delta, current)
        if LINK in (old.mode, new.mode, current.mode):
            return "you have changed it since, and it is or was a link"
        mode = old.mode if new.mode == current.mode else current.mode
        base, ours, theirs = (self._store.read(entry) for entry in (new, current, old))
        is_text = b"\0" not in base + ours + theirs
        if not is_text and ours != base and theirs not in (base, ours):
            return "you have changed it since, and it is not text"
        merged = three_way(base, ours, theirs)
        if merged.conflicts:
            lines = ", ".join(str(hunk.at.start + 1) for hunk in merged.conflicts)
            return f"you have changed the same lines since (line {lines} of the agent's version)"
        if merged.data != ours:
            return Step(delta.path, "write", current, MERGED, merged.data, mode)
        return (
            Step(delta.path, "chmod", current, MERGED, mode=mode) if mode != current.mode else None
        )

    def _reveals(self, delta: FileDelta) -> bool:
        """Whether an ignore file that the agent changed may show what it used to hide."""
        if delta.path.rpartition("/")[2] not in IGNORE_FILES:
            return False
        old, new = (
            self._store.read(entry).splitlines() if entry else []
            for entry in (delta.old, delta.new)
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
        for folder in parents(path):
            entry = self._store.entry(self._now, folder)
            if entry and entry.mode != FOLDER and folder not in going:
                return folder
        entry = self._store.entry(self._now, path)
        if entry is None or entry.mode != FOLDER:
            return None
        below = self._store.paths(self._now, path)
        return next((other for other in below if other not in going), None)

    def _folders(self, steps: Iterable[Step]) -> tuple[str, ...]:
        """The folders above deleted paths that were not there before, the deepest first."""
        above = {
            folder for step in steps if step.action == "delete" for folder in parents(step.path)
        }
        made = [folder for folder in above if self._is_made(folder)]
        return tuple(sorted(made, key=lambda folder: (-folder.count("/"), folder)))

    def _is_made(self, folder: str) -> bool:
        before = self._store.entry(self._before, folder)
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


def _noun(count: int) -> str:
    return "file" if count == 1 else "files"
