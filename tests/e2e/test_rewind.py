"""Rewind and its undo with the real server: over the wire, by plain LSP, and in a real Neovim."""

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from pails.core.rpc import ErrorCode
from tests.support.lsp_client import PAI, LspClient, start_client
from tests.support.neovim import neovim
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel
from tests.support.workbench import environment

pytestmark = pytest.mark.e2e

CALC = "def add(a, b):\n    return a - b\n\n\nGREETING = '你好 😀'\n"
FIXED = CALC.replace("a - b", "a + b")
EDIT = Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "a + b"}))
COMMAND = Calls(("run_command", {"command": ["bash", "-c", "mkdir out; echo x > out/made"]}))


@contextlib.asynccontextmanager
async def client_of(
    tmp_path: Path, *script: Any, options: dict[str, Any] | None = PAI
) -> AsyncIterator[LspClient]:
    async with ScriptedModel(list(script)) as model:
        environ = {
            "PAILS_BASE_URL": model.base_url,
            "PAILS_MODEL": model.model,
            "PAILS_API_KEY": "none",
        }
        async with start_client(tmp_path, environment=environ, options=options) as client:
            client.approve = lambda _: {"choice": "allowOnce"}
            yield client


async def test_preview_rewind_and_undo_over_the_wire(tmp_path: Path) -> None:
    async with client_of(tmp_path, EDIT, COMMAND, Say("done"), Say("again")) as client:
        root = client.workspace.resolve()
        path = root / "calc.py"
        path.write_text(CALC)
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "fix it")
        turn = events[0]["turnId"]
        path.write_text(path.read_text() + "# mine\n")
        (root / "out" / "mine").write_text("mine")
        params = {"sessionId": session, "toTurnId": turn}

        preview = await client.request("pai/session/rewind", {**params, "preview": True})
        assert preview == {
            "rewindId": None,
            "toTurnId": turn,
            "turns": [turn],
            "files": [
                {"path": str(path), "how": "merged"},
                {"path": str(root / "out" / "made"), "how": "removed"},
            ],
            "conflicts": [],
            "notes": [],
        }
        assert path.read_text() == FIXED + "# mine\n"

        done = await client.request("pai/session/rewind", params)
        assert {**done, "rewindId": None} == preview
        assert path.read_text() == CALC + "# mine\n"
        assert [item.name for item in (root / "out").iterdir()] == ["mine"]
        event = await client.wait_for_event("rewound")
        assert (event["rewindId"], event["talk"]) == (done["rewindId"], True)
        listed = await client.request("pai/snapshots/list", {"sessionId": session})
        (point,) = listed["turns"]
        assert (point["turnId"], point["inTalk"], point["ranCommands"]) == (turn, False, True)
        assert point["snapshotId"]

        undo = {"sessionId": session, "rewindId": done["rewindId"]}
        await client.request("pai/session/undoRewind", undo)
        assert path.read_text() == FIXED + "# mine\n"
        assert (root / "out" / "made").read_text() == "x\n"
        with pytest.raises(JsonRpcException, match="already"):
            await client.request("pai/session/undoRewind", undo)
        with pytest.raises(JsonRpcException) as caught:
            await client.request("pai/session/rewind", {**params, "toTurnId": "turn-x"})
        assert caught.value.code == ErrorCode.NOT_FOUND
        fork = {"sessionId": session, "text": "again", "fromTurnId": turn}
        assert (await client.request("pai/session/prompt", fork))["fate"] == "started"
        await client.wait_until(
            lambda: len([e for e in client.events if e["event"]["kind"] == "turnEnded"]) == 2
        )


async def test_a_killed_server_leaves_git_alone_and_the_next_one_works(tmp_path: Path) -> None:
    """Killed while its first snapshot is being taken, or is not yet."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    subprocess.run(["git", "init", "-q", str(workspace / "sub")], check=True)
    (workspace / "calc.py").write_text(CALC)
    for number in range(3000):
        (workspace / f"file{number}").write_text(f"{number}")
    git = {p: p.read_bytes() for p in workspace.rglob("*") if ".git" in p.parts and p.is_file()}
    gate = Gate(Say("one two three"), after=1)
    async with client_of(tmp_path, gate) as client:
        session = await client.new_session()
        await client.request("pai/session/prompt", {"sessionId": session, "text": "go"})
        await gate.reached.wait()
        os.kill(client.process.pid, signal.SIGKILL)
        await client.process.wait()
    async with client_of(tmp_path, EDIT, Say("done")) as client:
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "fix it")
        params = {"sessionId": session, "toTurnId": events[0]["turnId"]}
        done = await client.request("pai/session/rewind", params)
        assert [file["how"] for file in done["files"]] == ["restored"]
        assert (workspace / "calc.py").read_text() == CALC
    assert git == {p: p.read_bytes() for p in git}


async def test_a_plain_client_is_shown_what_happens_and_chooses(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    choices = [None, "Cancel", "Files only"]

    def choose(params: dict[str, Any]) -> str | None:
        asked.append(params)
        return choices.pop(0)

    async with client_of(tmp_path, EDIT, Say("done"), options=None) as client:
        path = client.workspace / "calc.py"
        path.write_text(CALC)
        client.choose = choose
        with pytest.raises(JsonRpcException, match="Nothing has happened"):
            await client.request("workspace/executeCommand", {"command": "pails.rewind"})
        document = client.open_document(path)
        place = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}
        fix = {"command": "pails.fix", "arguments": [document.uri, place]}
        await client.request("workspace/executeCommand", fix)
        await client.wait_until(lambda: any("Pails: done" in m for m in shown(client)))
        assert document.text == FIXED, shown(client)

        for _ in range(2):
            result = await client.request(
                "workspace/executeCommand", {"command": "pails.rewind", "arguments": []}
            )
            assert (result, document.text) == (None, FIXED)
        message = asked[0]["message"]
        assert "1 turn of the conversation" in message
        assert "1 file back as before: calc.py" in message
        titles = [action["title"] for action in asked[0]["actions"]]
        assert titles == ["Rewind", "Talk only", "Files only", "Cancel"]

        await client.request("workspace/executeCommand", {"command": "pails.rewind"})
        assert (document.text, path.read_text()) == (CALC, CALC)
        await client.request("workspace/executeCommand", {"command": "pails.undoRewind"})
        assert document.text == FIXED
        with pytest.raises(JsonRpcException, match="no rewind"):
            await client.request("workspace/executeCommand", {"command": "pails.undoRewind"})
        assert any("no rewind" in message for message in shown(client))


def shown(client: LspClient) -> list[str]:
    return [p["message"] for name, p in client.notifications if name == "window/showMessage"]


async def test_a_dirty_buffer_in_neovim_goes_back_and_forth(tmp_path: Path) -> None:
    """The person types, the agent edits and runs a command, the person types on and rewinds."""
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    path = workspace / "calc.py"
    path.write_text(CALC)
    script = [EDIT, COMMAND, Say("done")]
    async with (
        ScriptedModel(script) as model,
        neovim(tmp_path, environment(tmp_path, model)) as editor,
    ):
        await editor.open(path)
        await editor.lua(
            """
            _G.choose = function(labels)
              for index, label in ipairs(labels) do
                for _, wanted in ipairs({ 'Rewind', 'Run anyway', 'Allow once' }) do
                  if label:find(wanted, 1, true) then return index end
                end
              end
            end
            vim.fn.input = function() return 'Run anyway' end
            vim.api.nvim_buf_set_lines(0, 4, 5, true, { "GREETING = 'unsaved 😀'" })
            """
        )
        await editor.act("Pails: fix", 1, 2)
        await editor.until("vim.iter(_G.seen.progress):any("
                           "function(p) return p.value.kind == 'end' end)")  # fmt: skip
        assert (workspace / "out" / "made").exists()
        await editor.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, { '# typed since' })")
        mine = CALC.replace("'你好 😀'", "'unsaved 😀'") + "# typed since\n"
        assert await editor.text() == mine.replace("a - b", "a + b")

        await editor.execute("pails.rewind")
        await editor.until("not vim.uv.fs_stat(...)", str(workspace / "out"))
        assert await editor.text() == mine
        assert await editor.lua("return vim.bo.modified")
        assert path.read_text() == CALC, "the person has not saved"
        await editor.until("vim.iter(_G.seen.messages):any("
                           "function(m) return m:find('went back', 1, true) end)")  # fmt: skip

        await editor.execute("pails.undoRewind")
        await editor.until("vim.uv.fs_stat(...)", str(workspace / "out" / "made"))
        assert await editor.text() == mine.replace("a - b", "a + b")
        await editor.until("vim.iter(_G.seen.messages):any("
                           "function(m) return m:find('rewind back', 1, true) end)")  # fmt: skip
