"""Long outputs of commands: who may read them, and when they go."""

import os
import re
import time
from pathlib import Path

from pails.app import App
from pails.core.events import Mode, ToolCallEnded
from pails.entry import load_snapshots
from tests.support.lsp_client import start_client
from tests.support.scripted_model import Calls, Json, Say, ScriptedModel
from tests.support.workbench import Desk, allow, environment, workbench

DAY = 24 * 3600


async def result(desk: Desk) -> ToolCallEnded:
    """What came of the one call of a turn."""
    await desk.run("go on")
    return desk.of(ToolCallEnded)[-1]


async def test_a_long_output_is_for_its_own_session_alone(tmp_path: Path) -> None:
    """What a command printed in one repository is nothing for an agent in another."""
    path = ""

    def read(_: Json) -> Calls:
        return Calls(("read_file", {"path": path, "offset": 30_000}))

    other = tmp_path / "other"
    other.mkdir()
    done = Say("done")
    command = Calls(("run_command", {"command": ["seq", "30000"]}))
    script = [command, done, *[read, done] * 4]
    async with ScriptedModel(script) as model, workbench(tmp_path, model) as bench:
        own = await bench.desk()
        printed = re.search(r"all of it is in (\S+)", (await result(own)).text)
        assert printed
        path = printed[1]
        assert "30000" in (await result(own)).text
        elsewhere = Desk(await bench.app.sessions.new(other, Mode.AUTO, None), allow)
        for stranger in (await bench.desk(), elsewhere):
            refused = await result(stranger)
            assert refused.is_error and "outside the workspace" in refused.text
        await bench.app.close()

        app = App(environment(tmp_path, model), {}, None, bench.workspace, load_snapshots)
        reopened = Desk(await app.sessions.open(own.session.id), allow)
        assert "30000" in (await result(reopened)).text
        await app.close()


def put(path: Path, days: int) -> Path:
    """A file that was last changed so many days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


async def test_outputs_and_answers_go_after_two_weeks(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    for days in (13, 15):
        put(state / f"output/w/s-{days}/command-call_1-0a1b2c3d.txt", days)
        put(state / f"answers/20260101-0000{days}-0a1b.md", days)
    put(state / "output/notes.txt", 15)
    put(state / "sessions/w/20260101-000000-0a1b2c3d.jsonl", 15)
    async with start_client(tmp_path, environment={"PAILS_STATE_DIR": str(state)}) as client:
        await client.request("pai/status")
    left = {path.relative_to(state).as_posix() for path in state.rglob("*") if path.is_file()}
    assert {name for name in left if not name.startswith("logs/")} == {
        "output/w/s-13/command-call_1-0a1b2c3d.txt",
        "output/notes.txt",
        "answers/20260101-000013-0a1b.md",
        "sessions/w/20260101-000000-0a1b2c3d.jsonl",
    }
