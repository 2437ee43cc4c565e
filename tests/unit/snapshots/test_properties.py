"""For any small workspace: nothing is lost, and nothing but the agent's work is taken back."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pails.snapshots.restore import apply_plan
from pails.snapshots.rewind import between, plan_rewind
from pails.snapshots.store import SnapshotStore
from tests.unit.snapshots.conftest import Content, read_workspace

parts = st.sampled_from(["a", "b", "c.py", "ü", os.fsdecode(b"\xff"), "n\nl", "-x", "a*", ".h"])
paths = st.lists(parts, min_size=1, max_size=3).map("/".join)
lines = st.sampled_from([b"one\n", b"two\n", b"three\r\n", b"\0", b"end"])
data = st.lists(lines, max_size=4).map(b"".join)
targets = st.sampled_from([b"a", b"./b//c", b"/nowhere", b"..", b"\xff"])
nodes = st.one_of(
    st.tuples(st.sampled_from(["file", "program"]), data), st.tuples(st.just("link"), targets)
)


def consistent(content: Content) -> Content:
    """Without what would be below a file."""
    return {
        path: node
        for path, node in content.items()
        if not any(path.startswith(other + "/") for other in content)
    }


workspaces = st.dictionaries(paths, nodes, max_size=6).map(consistent)


def lay_out(root: Path, content: Content) -> None:
    """Make the folder hold exactly this."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for name, (kind, value) in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(os.fsdecode(value))
        else:
            path.write_bytes(value)
            path.chmod(0o755 if kind == "program" else 0o644)


@contextmanager
def a_store() -> Iterator[tuple[Path, SnapshotStore]]:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        yield workspace, SnapshotStore.open(Path(folder) / "store", workspace)


@settings(max_examples=40)
@given(workspaces, workspaces)
def test_what_was_kept_comes_back_exactly(old: Content, new: Content) -> None:
    """And taking that back again leads to where one was."""
    with a_store() as (workspace, store):
        lay_out(workspace, old)
        before = store.take("before")
        lay_out(workspace, new)
        after = store.take("after")

        made = plan_rewind(store, [between(store, before, after)], after)
        assert made.conflicts == ()
        assert apply_plan(made, workspace) == ()
        assert read_workspace(workspace) == old
        now = store.take("now")
        assert now.tree == before.tree

        undo = plan_rewind(store, [between(store, after, before)], now)
        assert apply_plan(undo, workspace) == ()
        assert read_workspace(workspace) == new


@settings(max_examples=40)
@given(workspaces, workspaces)
def test_the_changed_paths_are_enough(old: Content, new: Content) -> None:
    with a_store() as (workspace, store):
        lay_out(workspace, old)
        store.take("before")
        lay_out(workspace, new)
        changed = [Path(p) for p in old.keys() | new.keys() if old.get(p) != new.get(p)]

        assert store.take("some", changed).tree == store.take("all").tree


@settings(max_examples=60)
@given(workspaces, workspaces, workspaces)
def test_what_the_agent_did_not_change_is_never_changed(
    old: Content, new: Content, now: Content
) -> None:
    with a_store() as (workspace, store):
        snapshots = []
        for name, content in (("before", old), ("after", new), ("now", now)):
            lay_out(workspace, content)
            snapshots.append(store.take(name))

        before, after, last = snapshots
        made = plan_rewind(store, [between(store, before, after)], last)
        failures = apply_plan(made, workspace)

        result = read_workspace(workspace)
        agents = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
        touched = {path for path in now.keys() | result.keys() if now.get(path) != result.get(path)}
        assert failures == ()
        assert touched <= agents
        assert touched == {step.path for step in made.steps}
        for path in agents & now.keys() - touched:
            assert path in {item.path for item in made.conflicts} or now[path] == old.get(path)
