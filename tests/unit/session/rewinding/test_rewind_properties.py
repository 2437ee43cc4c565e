"""For any small workspace and any work of the agent: undo(rewind) is the identity."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pails.core.events import (
    Effect,
    FileChanged,
    Mode,
    RunState,
    SessionCreated,
    SnapshotTaken,
    StopReason,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
)
from pails.core.messages import Usage
from pails.entry import load_snapshots
from pails.host.texts import TextStore
from pails.session.journal import Journal
from pails.session.recorder import Recorder
from pails.session.rewinding.rewinder import SessionRewinder
from pails.session.rewinding.session_snapshots import SessionSnapshots
from pails.session.rewinding.workspace_snapshots import WorkspaceSnapshots
from pails.session.state import SessionState
from pails.tools.files.documents import Documents

Tree = dict[str, bytes]

names = st.sampled_from(["a", "b.py", "dir/c", "dir/d", "日本/e", "dir/sub/f"])
lines = st.sampled_from([b"one\n", b"two\n", b"three\r\n", "四\n".encode(), b"five"])
texts = st.lists(lines, max_size=5).map(b"".join)
binary = st.sampled_from([b"\0\1\2", b"\0\3"])
trees = st.dictionaries(names, st.one_of(texts, binary), max_size=5)
writes = st.tuples(st.just("write"), names, texts)
commands = st.tuples(st.just("command"), trees, st.none())
persons = st.tuples(st.just("person"), names, st.one_of(st.none(), texts))
deeds = st.lists(st.one_of(writes, commands, persons), max_size=5)


def read(root: Path) -> Tree:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def put(root: Path, name: str, data: bytes | None) -> None:
    path = root / name
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def lay_out(root: Path, tree: Tree) -> None:
    for child in root.iterdir():
        shutil.rmtree(child) if child.is_dir() else child.unlink()
    for name, data in tree.items():
        put(root, name, data)


class Scene:
    """A session's recorder and rewinder, and an agent that works by hand."""

    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir()
        journal = Journal(root / "log.jsonl")
        self.recorder = Recorder("s", journal, SessionState())
        self.texts = TextStore(root / "texts")
        self.store = WorkspaceSnapshots(root / "snapshots", self.workspace, load_snapshots)
        snapshots = SessionSnapshots("s", self.recorder, self.store)
        self.rewinder = SessionRewinder(
            self.workspace, self.recorder, snapshots, documents=Documents(), texts=self.texts
        )
        self.calls = 0

    async def take(self, moment: str, name: str, call_id: str = "") -> None:
        snapshot = self.store.take(f"s/t/{name}")
        await self.recorder.emit(SnapshotTaken("t", moment, snapshot.name, call_id))  # type: ignore[arg-type]

    async def turn(self, work: list[tuple[str, object, object]]) -> None:
        await self.recorder.emit(SessionCreated(str(self.workspace), Mode.AUTO, ""))
        await self.recorder.emit(TurnStarted("t", "t", Mode.AUTO, "m"))
        await self.take("before", "before")
        for kind, what, data in work:
            self.calls += 1
            if kind == "write":
                await self.write(what, data)  # type: ignore[arg-type]
            elif kind == "command":
                await self.command(what)  # type: ignore[arg-type]
            else:
                put(self.workspace, what, data)  # type: ignore[arg-type]
        await self.take("after", "after")
        end = TurnEnded("t", RunState.COMPLETED, StopReason.DONE, 1, Usage(), 0.0)
        await self.recorder.emit(end)

    async def write(self, name: str, data: bytes) -> None:
        path = self.workspace / name
        before = path.read_bytes() if path.exists() else None
        if before is not None and b"\0" in before:
            return  # tools write no binary files
        put(self.workspace, name, data)
        before_id = None if before is None else self.texts.keep(before.decode())
        after_id = self.texts.keep(data.decode())
        await self.recorder.emit(
            FileChanged(
                "t",
                f"c{self.calls}",
                str(path),
                "",
                0,
                0,
                "disk",
                True,
                before_id=before_id,
                after_id=after_id,
            )
        )

    async def command(self, tree: Tree) -> None:
        call_id = f"c{self.calls}"
        await self.take("before", f"{self.calls}/before", call_id)
        await self.recorder.emit(ToolCallStarted("t", call_id, Effect.EXECUTE))
        lay_out(self.workspace, tree)
        await self.take("after", f"{self.calls}/after", call_id)

    def close(self) -> None:
        self.store.close()
        self.recorder.close()


@settings(max_examples=60)
@given(trees, deeds, deeds.map(lambda found: [d for d in found if d[0] == "person"]))
def test_undo_of_a_rewind_is_the_identity(old: Tree, work: list, since: list) -> None:
    """And a rewind changes nothing that only the person has touched."""

    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(Path(os.path.realpath(folder)))
            try:
                lay_out(scene.workspace, old)
                await scene.turn(work)
                for _, name, data in since:
                    put(scene.workspace, name, data)
                now = read(scene.workspace)
                preview = await scene.rewinder.preview("t", talk=True, files=True)
                assert read(scene.workspace) == now

                report = await scene.rewinder.rewind("t", talk=True, files=True)
                assert (report.files, report.conflicts) == (preview.files, preview.conflicts)
                back = read(scene.workspace)
                touched = {n for n in now.keys() | back.keys() if now.get(n) != back.get(n)}
                assert touched == {
                    Path(f.path).relative_to(scene.workspace).as_posix() for f in report.files
                }
                if not since and not [d for d in work if d[0] == "person"]:
                    assert (back, report.conflicts) == (old, ())

                undone = await scene.rewinder.undo(report.rewind_id)
                assert undone.conflicts == ()
                assert read(scene.workspace) == now
            finally:
                scene.close()

    asyncio.run(play())
