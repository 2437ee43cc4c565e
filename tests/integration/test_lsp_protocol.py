"""The real server process over stdio: bad input, the life cycle, and the whole loop."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from pails.core.rpc import ErrorCode
from tests.support.lsp_client import (
    CAPABILITIES,
    Json,
    LspClient,
    processes_with,
    server_environment,
    start_client,
)
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel

PYTHON_FILE = "def add(a, b):\n    return a - b\n"


def model_environment(model: ScriptedModel) -> dict[str, str]:
    return {
        "PAILS_BASE_URL": model.base_url,
        "PAILS_MODEL": model.model,
        "PAILS_API_KEY": "none",
    }


@contextlib.asynccontextmanager
async def scripted(
    tmp_path: Path, script: Sequence[Any], **options: Any
) -> AsyncIterator[tuple[ScriptedModel, LspClient]]:
    """A model that follows the script, and a client whose server talks to it."""
    async with ScriptedModel(script) as model:
        environment = model_environment(model)
        async with start_client(tmp_path, environment=environment, **options) as client:
            yield model, client


async def error_of(client: LspClient, method: str, params: Any = None) -> tuple[int, str]:
    with pytest.raises(JsonRpcException) as caught:
        await client.request(method, params)
    return caught.value.code, caught.value.message


# -- bad input --------------------------------------------------------------------------------


async def test_bad_requests_are_answered_and_the_server_lives_on(tmp_path: Path) -> None:
    async with start_client(tmp_path) as client:
        code, message = await error_of(client, "pai/unknown", {"x": 1})
        assert code == ErrorCode.METHOD_NOT_FOUND

        code, message = await error_of(client, "pai/session/prompt", {"text": "", "extra": 1})
        assert code == ErrorCode.INVALID_PARAMS
        assert "sessionId" in message and "text" in message and "extra" in message

        code, message = await error_of(client, "pai/session/prompt", [1])
        assert code == ErrorCode.INVALID_PARAMS

        code, message = await error_of(client, "textDocument/codeAction", {"range": 1})
        assert code == ErrorCode.INVALID_PARAMS

        unknown = {"sessionId": "no-such", "text": "hi"}
        code, message = await error_of(client, "pai/session/prompt", unknown)
        assert code == ErrorCode.NOT_FOUND
        assert "no-such" in message

        nowhere = {"workspace": str(tmp_path / "nowhere")}
        code, message = await error_of(client, "pai/session/new", nowhere)
        assert code == ErrorCode.NOT_FOUND
        assert "nowhere" in message

        code, message = await error_of(client, "pai/session/new", {"workspace": "relative"})
        assert code == ErrorCode.REQUEST_FAILED

        code, message = await error_of(client, "pai/session/open", {"sessionId": "../../etc"})
        assert code == ErrorCode.NOT_FOUND

        client.send_raw(b"{ this is no JSON")
        client.notify("textDocument/didChange", {"nonsense": True})
        assert (await client.request("pai/status"))["version"]


async def test_half_characters_do_no_harm(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say("ok")]) as (model, client):
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "half \ud83d of 😀")
        assert events[-1]["state"] == "completed"
        assert "half \ufffd of 😀" in json.dumps(model.requests, ensure_ascii=False)


async def test_a_prompt_without_a_model_says_what_to_set(tmp_path: Path) -> None:
    async with start_client(tmp_path) as client:
        session = await client.new_session()
        prompt = {"sessionId": session, "text": "hi"}
        code, message = await error_of(client, "pai/session/prompt", prompt)
        assert code == ErrorCode.CONFIGURATION
        assert "PAILS_MODEL" in message


async def test_a_dead_model_server_is_not_the_fault_of_the_request(tmp_path: Path) -> None:
    async with ScriptedModel() as model:
        gone = model.base_url
    async with start_client(tmp_path, environment={"PAILS_BASE_URL": gone}) as client:
        session = await client.new_session()
        prompt = {"sessionId": session, "text": "hi"}
        code, message = await error_of(client, "pai/session/prompt", prompt)
        assert code == ErrorCode.EXTERNAL_FAILURE
        assert gone in message


# -- the life cycle ---------------------------------------------------------------------------


async def test_the_end_of_stdin_ends_the_server_and_its_turn(tmp_path: Path) -> None:
    gate = Gate(Say("one two three four"))
    async with ScriptedModel([gate]) as model:
        environment = model_environment(model)
        async with start_client(tmp_path, environment=environment) as client:
            session = await client.new_session()
            prompt = {"sessionId": session, "text": "hi"}
            await client.request("pai/session/prompt", prompt)
            await gate.reached.wait()
            assert client.process.stdin is not None
            client.process.stdin.close()
            assert await client.ended() == 1, "the client has not said shutdown"
        async with start_client(tmp_path, environment=environment) as client:
            await client.request("pai/session/open", {"sessionId": session, "afterSeq": 0})
            ended = await client.wait_for_event("turnEnded")
            assert ended["reason"] == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_server_that_is_told_to_end_ends_its_command_too(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = ("run_command", {"command": ["sh", "-c", "echo $$; exec sleep 60"]})
    async with ScriptedModel([Calls(command)]) as model:
        environment = model_environment(model)
        async with start_client(tmp_path, environment=environment) as client:
            client.approve = lambda _: {"choice": "allowOnce"}
            session = await client.new_session()
            await client.request("pai/session/prompt", {"sessionId": session, "text": "run"})
            pid = int((await client.wait_for_event("toolOutputDelta"))["text"])
            client.process.send_signal(number)
            assert await client.ended() == 1, "the client has not said shutdown"
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        async with start_client(tmp_path, environment=environment) as client:
            await client.request("pai/session/open", {"sessionId": session, "afterSeq": 0})
            ended = await client.wait_for_event("turnEnded")
            assert ended["reason"] == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
async def test_exit_right_behind_shutdown_waits_for_the_end_of_the_command(tmp_path: Path) -> None:
    """The command does not want to go, so `exit` comes while `shutdown` is still at work."""
    stubborn = "trap '' TERM INT HUP; echo $$; while :; do sleep 0.1; done"
    command = ("run_command", {"command": ["sh", "-c", stubborn]})
    async with scripted(tmp_path, [Calls(command)]) as (_, client):
        client.approve = lambda _: {"choice": "allowOnce"}
        session = await client.new_session()
        await client.request("pai/session/prompt", {"sessionId": session, "text": "run"})
        pid = int((await client.wait_for_event("toolOutputDelta"))["text"])
        client.send_raw(b'{"jsonrpc":"2.0","id":"last","method":"shutdown"}')
        client.notify("exit")
        assert await client.ended() == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    (log,) = (tmp_path / "home").glob("state/**/sessions/*/*.jsonl")
    assert b'"turnEnded"' in log.read_bytes()


async def test_a_server_that_cannot_be_loaded_says_so_and_can_be_mended(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    async with start_client(tmp_path, environment={"XDG_STATE_HOME": str(blocked)}) as client:
        shown = await client.wait_for("window/showMessage")
        assert shown["message"].startswith("Pails cannot start: ")
        assert str(blocked) in shown["message"]
        _, message = await error_of(client, "pai/status")
        assert str(blocked) in message
        blocked.unlink()
        await client.request("pai/status")


async def test_exit_without_shutdown_ends_the_server(tmp_path: Path) -> None:
    async with start_client(tmp_path) as client:
        client.notify("exit")
        assert await client.ended() == 1


async def test_exit_right_after_the_start(tmp_path: Path) -> None:
    async with start_client(tmp_path, initialize=False) as client:
        code, _ = await error_of(client, "pai/status")
        assert code == ErrorCode.SERVER_NOT_INITIALIZED
        client.notify("exit")
        assert await client.ended() == 1


PARENT = """
import subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "pails"], stdin=sys.stdin, stdout=sys.stdout)
server.wait()
"""


async def test_the_death_of_the_parent_ends_the_server(tmp_path: Path) -> None:
    """The pipes stay open here, so that only the watch on the parent can notice."""
    mark = f"PAILS_TEST_MARK={os.getpid()}-parent"
    environment = server_environment(tmp_path, dict([mark.split("=")]))
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT),
        env=environment,
        cwd=tmp_path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdin is not None and parent.stdout is not None
    params = {"processId": parent.pid, "capabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    parent.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    await parent.stdout.readline()
    parent.send_signal(signal.SIGKILL)
    async with asyncio.timeout(30):
        while processes_with(mark):
            await asyncio.sleep(0.1)
    parent.stdin.close()
    await parent.wait()


async def test_answers_after_shutdown_and_a_pending_approval(tmp_path: Path) -> None:
    """Shutting down with a question on the screen ends the turn; the late answer does no harm."""
    script = [Calls(("run_command", {"command": ["touch", "made"]}))]
    async with scripted(tmp_path, script) as (_, client):
        answered = asyncio.Event()

        async def approve(_: Json) -> Json:
            await answered.wait()
            return {"choice": "allowOnce"}

        client.approve = approve
        session = await client.new_session()
        await client.request("pai/session/prompt", {"sessionId": session, "text": "run it"})
        await client.wait_for("pai/approval/request")
        await client.request("shutdown")
        answered.set()
        ended = await client.wait_for_event("turnEnded")
        assert ended["reason"] == "interrupted"
        code, _ = await error_of(client, "pai/status")
        assert code == ErrorCode.INVALID_REQUEST
        client.notify("exit")
        assert await client.ended() == 0
    assert not (tmp_path / "workspace" / "made").exists()


# -- the loop through a client that can everything -------------------------------------------


async def test_a_dirty_buffer_is_edited_in_the_editor(tmp_path: Path) -> None:
    script = [
        Calls(("read_file", {"path": "calc.py"})),
        Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "a + b  # 😀"})),
        Say("Fixed."),
    ]
    async with scripted(tmp_path, script) as (_, client):
        path = client.workspace / "calc.py"
        path.write_text(PYTHON_FILE)
        document = client.open_document(path)
        client.change_document(document, 0, 0, "# 😀 unsaved\n")
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "Fix calc.py")
        assert events[-1]["state"] == "completed"
        assert document.text == f"# 😀 unsaved\n{PYTHON_FILE}".replace("a - b", "a + b  # 😀")
        assert path.read_text() == PYTHON_FILE, "a dirty buffer is left unsaved"
        [changed] = [event for event in events if event["kind"] == "fileChanged"]
        assert (changed["target"], changed["saved"]) == ("buffer", False)


@pytest.mark.parametrize("before", [True, False])
async def test_a_clean_buffer_is_edited_and_saved(tmp_path: Path, before: bool) -> None:
    script = [
        Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "a + b"})),
        Calls(("edit_file", {"path": "calc.py", "old": "a + b", "new": "b + a"})),
        Say("Fixed."),
    ]
    async with scripted(tmp_path, script) as (model, client):
        client.change_before_answer = before
        path = client.workspace / "calc.py"
        path.write_text(PYTHON_FILE)
        document = client.open_document(path)
        session = await client.new_session()
        attached = [{"kind": "file", "uri": document.uri}]
        await client.prompt_and_wait(session, "Fix calc.py", attachments=attached)
        assert document.text == PYTHON_FILE.replace("a - b", "b + a")
        assert path.read_text() == document.text
        assert PYTHON_FILE in model.requests[0]["messages"][-1]["content"]


async def test_an_edit_that_the_editor_refuses_has_not_happened(tmp_path: Path) -> None:
    script = [
        Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "a + b"})),
        Say("It was refused."),
    ]
    async with scripted(tmp_path, script) as (model, client):
        client.refuse_edits = "the file is read-only"
        path = client.workspace / "calc.py"
        path.write_text(PYTHON_FILE)
        document = client.open_document(path)
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "Fix calc.py")
        assert document.text == path.read_text() == PYTHON_FILE
        assert not [event for event in events if event["kind"] == "fileChanged"]
        assert "read-only" in model.requests[1]["messages"][-1]["content"]


async def test_a_document_without_a_file_is_read_and_an_edit_of_it_refused(tmp_path: Path) -> None:
    script = [
        Calls(("edit_file", {"path": "Untitled-1", "old": "draft", "new": "text"})),
        Say("I cannot."),
    ]
    async with scripted(tmp_path, script) as (model, client):
        uri = "untitled:Untitled-1"
        document = client.open_document(Path("/none"), "a draft 😀", uri=uri)
        attached = [{"kind": "file", "uri": uri}]
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "Mend it.", attachments=attached)
        assert "a draft 😀" in model.requests[0]["messages"][-1]["content"]
        assert "Untitled-1 does not exist" in model.requests[1]["messages"][-1]["content"]
        assert document.text == "a draft 😀"
        assert not [event for event in events if event["kind"] == "fileChanged"]
        assert list(client.workspace.iterdir()) == []


async def test_new_syntax_errors_are_shown_and_cleared(tmp_path: Path) -> None:
    script = [
        Calls(("write_file", {"path": "new.py", "content": "def broken(:\n    pass\n"})),
        Calls(("write_file", {"path": "new.py", "content": "def mended():\n    pass\n"})),
        Say("Done."),
    ]
    async with scripted(tmp_path, script) as (_, client):
        session = await client.new_session()
        await client.prompt_and_wait(session, "Write new.py")
        published = [
            params["diagnostics"]
            for method, params in client.notifications
            if method == "textDocument/publishDiagnostics"
        ]
        assert published[0][0]["source"] == "pails"
        assert published[-1] == []


async def test_a_session_is_followed_from_a_number_and_pending_approvals_come_again(
    tmp_path: Path,
) -> None:
    script = [Calls(("run_command", {"command": ["true"]})), Say("Ran.")]
    async with scripted(tmp_path, script) as (_, client):
        never = asyncio.Event()
        client.approve = lambda _: never.wait()
        session = await client.new_session()
        receipt = await client.request(
            "pai/session/prompt", {"sessionId": session, "text": "run it"}
        )
        first = await client.wait_for("pai/approval/request")
        seen = list(client.events)
        client.events.clear()
        client.requests.clear()
        client.approve = lambda _: {"choice": "allowOnce"}

        info = await client.request("pai/session/open", {"sessionId": session, "afterSeq": 1})
        assert info["state"] == "waiting"
        durable = [sent for sent in seen if sent["seq"] > 1]
        assert client.events[: len(durable)] == durable
        again = await client.wait_for("pai/approval/request")
        assert again["approvalId"] == first["approvalId"]
        await client.wait_for_turn(session, receipt["turnId"])
        numbers = [sent["seq"] for sent in client.events]
        assert numbers == sorted(numbers)
        resolved = await client.wait_for("pai/approval/resolved")
        assert resolved["choice"] == "allowOnce"
        late = {"sessionId": session, "approvalId": first["approvalId"], "choice": "reject"}
        answer = await client.request("pai/approval/answer", late)
        assert answer == {"accepted": False}


async def test_a_session_opened_many_times_at_once_is_followed_once(tmp_path: Path) -> None:
    script = [Calls(("run_command", {"command": ["true"]})), Say("Ran.")]
    async with scripted(tmp_path, script) as (_, client):
        decide = asyncio.Event()

        async def approve(_: Json) -> Json:
            await decide.wait()
            return {"choice": "allowOnce"}

        client.approve = approve
        session = await client.new_session()
        prompt = {"sessionId": session, "text": "run it"}
        receipt = await client.request("pai/session/prompt", prompt)
        await client.wait_for("pai/approval/request")
        await client.wait_for_event("snapshotTaken")  # comes at any time in the turn
        opened = [{"sessionId": session, "afterSeq": number} for number in (0, 0, 1000, 2)]
        await asyncio.gather(*(client.request("pai/session/open", params) for params in opened))
        info = await client.request("pai/session/open", {"sessionId": session, "afterSeq": 1000})
        client.events.clear()
        decide.set()
        await client.wait_for_turn(session, receipt["turnId"])
        numbers = [sent["seq"] for sent in client.events if sent["event"]["kind"] != "textDelta"]
        assert numbers == list(range(info["seq"] + 1, info["seq"] + 1 + len(numbers)))
        asked = sum(method == "pai/approval/request" for method, _ in client.requests)
        withdrawn = sum(method == "$/cancelRequest" for method, _ in client.notifications)
        assert asked - withdrawn == 1


@pytest.mark.parametrize("after", [{}, {"afterSeq": None}, {"afterSeq": 1000}])
async def test_following_from_no_number_or_one_not_reached_yet_means_from_now(
    tmp_path: Path, after: Json
) -> None:
    gate = Gate(Say("one two three four"))
    async with scripted(tmp_path, [gate]) as (_, client):
        session = await client.new_session()
        prompt = {"sessionId": session, "text": "hi"}
        receipt = await client.request("pai/session/prompt", prompt)
        await gate.reached.wait()
        client.events.clear()
        opening = client.request("pai/session/open", {"sessionId": session, **after})
        gate.open()
        await opening
        events = await client.wait_for_turn(session, receipt["turnId"])
        at_any_time = ("textDelta", "snapshotTaken")
        kinds = [event["kind"] for event in events if event["kind"] not in at_any_time]
        assert kinds == ["assistantMessageAdded", "usageReported", "turnEnded"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes: Linux")
async def test_a_full_disk_ends_the_turn_for_everybody_and_loses_nothing(tmp_path: Path) -> None:
    """The disk fills while a call waits for approval, and is full for a while."""
    command = ("run_command", {"command": ["sh", "-c", "echo ran >> runs"]})
    async with ScriptedModel([Calls(command), Say("There is space.")]) as model:
        environment = model_environment(model)
        async with start_client(tmp_path, environment=environment) as client:
            session = await client.new_session()
            (log,) = (tmp_path / "home").glob("**/sessions/*/*.jsonl")

            def approve(_: Json) -> Json:
                limit_files(client, log.stat().st_size + 10)
                return {"choice": "allowOnce"}

            client.approve = approve
            ended = (await client.prompt_and_wait(session, "run it"))[-1]
            assert ended["state"] == "failed"
            assert "What was written before is kept" in ended["error"]
            with pytest.raises(JsonRpcException, match="free some space"):
                await client.prompt_and_wait(session, "again")
            limit_files(client, resource.RLIM_INFINITY)
            live = list(client.events)
            client.events.clear()
            await client.request("pai/session/open", {"sessionId": session, "afterSeq": 0})
            assert client.events[: len(live)] == live  # also what is not on the disk yet
            ended = (await client.prompt_and_wait(session, "and now?"))[-1]
            assert ended["state"] == "completed"
            numbers = [e["seq"] for e in client.events if e["event"]["kind"] != "textDelta"]
            assert numbers == list(range(1, len(numbers) + 1))
            told = [e for e in client.events if e["event"]["kind"] != "textDelta"]
        assert not (tmp_path / "workspace" / "runs").exists()
        model.script.append(Say("It was never run."))
        async with start_client(tmp_path, environment=environment) as client:
            await client.request("pai/session/open", {"sessionId": session, "afterSeq": 0})
            ended = (await client.prompt_and_wait(session, "was it run?"))[-1]
            assert ended["state"] == "completed"
            assert client.events[: len(told)] == told


def limit_files(client: LspClient, size: int) -> None:
    """From now on the server's files cannot grow beyond this, as on a full disk."""
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def test_a_waiting_prompt_is_edited_and_then_joins_the_running_turn(tmp_path: Path) -> None:
    gate = Gate(Calls(("list_dir", {})))
    async with scripted(tmp_path, [gate, Say("both")]) as (model, client):
        session_id = await client.new_session()
        first = await client.request("pai/session/prompt", {"sessionId": session_id, "text": "one"})
        await gate.reached.wait()
        prompt = {"sessionId": session_id, "text": "two"}
        second = await client.request("pai/session/prompt", prompt)
        waiting = {"sessionId": session_id, "turnId": second["turnId"]}
        change = {**waiting, "text": "two, changed", "steer": True}
        assert await client.request("pai/queue/update", change) == {"accepted": True}
        gate.open()
        events = await client.wait_for_turn(session_id, first["turnId"])
        assert await client.request("pai/queue/update", change) == {"accepted": False}
        joined = [event for event in events if event["kind"] == "promptJoined"]
        assert [event["joinedId"] for event in joined] == [second["turnId"]]
        assert model.requests[1]["messages"][-1]["content"].startswith("two, changed")


async def test_sessions_are_copied_named_carried_off_deleted_and_restored(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say("one")]) as (_, client):
        session = {"sessionId": await client.new_session()}
        await client.prompt_and_wait(session["sessionId"], "first")
        fork = await client.request("pai/session/fork", session)
        assert fork["title"] == "first" and fork["sessionId"] != session["sessionId"]
        await client.request("pai/session/rename", {**session, "title": "a/b: named"})
        exported = await client.request("pai/session/export", session)
        assert exported["name"] == "a-b-named.jsonl"
        imported = await client.request("pai/session/import", {"text": exported["text"]})
        readable = await client.request("pai/session/export", {**session, "form": "markdown"})
        assert readable["name"] == "a-b-named.md" and "## You" in readable["text"]
        await client.request("pai/session/delete", {"sessionId": imported["sessionId"]})
        await client.request("pai/session/delete", session)
        listed = await client.request("pai/session/list", {})
        assert [entry["sessionId"] for entry in listed["sessions"]] == [fork["sessionId"]]
        await client.request("pai/session/restore", session)
        listed = await client.request("pai/session/list", {})
        assert {entry["title"] for entry in listed["sessions"]} == {"first", "a/b: named"}
        code, message = await error_of(client, "pai/session/restore", session)
        assert code == ErrorCode.NOT_FOUND and "no session" in message


async def test_the_models_of_the_server_are_listed(tmp_path: Path) -> None:
    async with scripted(tmp_path, []) as (model, client):
        listed = await client.request("pai/models/list", {})
        (current,) = [server for server in listed["servers"] if server["isCurrent"]]
        assert (current["baseUrl"], current["models"]) == (model.base_url, [model.model])


async def test_a_mention_finds_files_and_folders_by_a_part_of_their_path(tmp_path: Path) -> None:
    async with scripted(tmp_path, []) as (_, client):
        for name in ("src/app.py", "src/mapping.py", "docs/日本語 app.md", "node/x.js"):
            path = client.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
        (client.workspace / ".ignore").write_text("node/\n")

        async def names(query: str) -> list[str]:
            found = await client.request("pai/mention/search", {"query": query})
            return [f"{place['kind']} {place['name']}" for place in found["places"]]

        assert await names("app") == [
            "file src/app.py",
            "file docs/日本語 app.md",
            "file src/mapping.py",
        ]
        assert await names("SRC") == ["folder src", "file src/app.py", "file src/mapping.py"]
        assert await names("日本") == ["file docs/日本語 app.md"]
        assert await names("sma") == ["file src/mapping.py"], "letters in this order"
        assert await names("node") == await names("nothing") == []
        client.open_document(client.workspace / "src" / "mapping.py")
        assert (await names(""))[0] == "file src/mapping.py", "what is open comes first"
        found = await client.request("pai/mention/search", {"query": "日本", "limit": 1})
        assert found["places"][0]["uri"].endswith("/docs/%E6%97%A5%E6%9C%AC%E8%AA%9E%20app.md")


async def test_cancel_request_does_not_end_a_run(tmp_path: Path) -> None:
    gate = Gate(Say("one two three four"))
    async with scripted(tmp_path, [gate]) as (_, client):
        session = await client.new_session()
        client.send_raw(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": "mine",
                    "method": "pai/session/prompt",
                    "params": {"sessionId": session, "text": "hi"},
                }
            ).encode()
        )
        await gate.reached.wait()
        client.notify("$/cancelRequest", {"id": "mine"})
        gate.open()
        ended = await client.wait_for_event("turnEnded")
        assert ended["state"] == "completed"


async def test_a_question_is_asked_by_method(tmp_path: Path) -> None:
    script = [Calls(("ask_user", {"question": "Which?", "options": ["a", "b"]})), Say("Thanks.")]
    async with scripted(tmp_path, script) as (_, client):
        client.answer = lambda params: {"answer": params["options"][1]}
        session = await client.new_session()
        events = await client.prompt_and_wait(session, "Ask me")
        [answered] = [event for event in events if event["kind"] == "questionAnswered"]
        assert answered["answer"] == "b"


# -- the same through a client that knows plain LSP only -------------------------------------


def messages(client: LspClient) -> list[str]:
    sent = client.notifications
    return [params["message"] for method, params in sent if method == "window/showMessage"]


async def run_command_action(client: LspClient, title: str, text: str = PYTHON_FILE) -> Json:
    """Select the first line of calc.py, choose the action and run its command."""
    path = client.workspace / "calc.py"
    path.write_text(text)
    document = client.open_document(path)
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    offered = await client.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": document.uri},
            "range": place,
            "context": {"diagnostics": []},
        },
    )
    [command] = [action["command"] for action in offered if action["title"] == title]
    return await client.request(
        "workspace/executeCommand",
        {"command": command["command"], "arguments": command["arguments"]},
    )


async def progress_ended(client: LspClient) -> list[Json]:
    """All progress values, once there is an end."""

    def values() -> list[Json]:
        return [params["value"] for name, params in client.notifications if name == "$/progress"]

    await client.wait_until(lambda: any(value["kind"] == "end" for value in values()))
    return values()


async def test_bare_the_whole_loop(tmp_path: Path) -> None:
    script = [
        Calls(("run_command", {"command": ["true"]})),
        Calls(("edit_file", {"path": "calc.py", "old": "a - b", "new": "a + b"})),
        Say("It adds now."),
    ]
    async with scripted(tmp_path, script, options=None) as (model, client):
        client.choose = lambda _: "Allow once"
        started = await run_command_action(client, "Pails: fix")
        assert started["sessionId"] and started["turnId"]
        values = await progress_ended(client)
        assert values[0]["title"] == "Pails" and values[0]["cancellable"] is True
        assert any("calc.py" in value["message"] for value in values[1:-1])
        assert "Edited: calc.py." in values[-1]["message"]
        [message] = messages(client)
        assert message.startswith("Pails: done. Edited: calc.py.\nIt adds now.\nTo review it")
        assert (client.workspace / "calc.py").read_text() == PYTHON_FILE.replace("-", "+")
        assert client.events == []
        prompt = model.requests[0]["messages"][-1]["content"]
        assert "def add(a, b):" in prompt and 'lines="1-1"' in prompt


async def test_bare_dismissed_means_not_allowed(tmp_path: Path) -> None:
    script = [Calls(("run_command", {"command": ["touch", "made"]})), Say("Not run.")]
    async with scripted(tmp_path, script, options=None) as (model, client):
        client.choose = lambda _: None
        await run_command_action(client, "Pails: improve")
        await progress_ended(client)
        asked = await client.wait_for("window/showMessageRequest")
        assert "touch made" in asked["message"]
        assert not (client.workspace / "made").exists()
        assert "closed without an answer" in model.requests[1]["messages"][-1]["content"]


async def test_bare_explain_opens_a_document(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say("It subtracts.\n\nReally.")], options=None) as (_, client):
        await run_command_action(client, "Pails: explain")
        shown = await client.wait_for("window/showDocument")
        path = Path(shown["uri"].removeprefix("file://"))
        assert "It subtracts.\n\nReally." in path.read_text()
        assert path.is_relative_to(tmp_path / "home")
        folders = [folder for folder in path.parents if folder.is_relative_to(tmp_path / "home")]
        assert any(folder.stat().st_mode & 0o077 == 0 for folder in folders), "only ours to read"


async def test_bare_without_documents_and_progress_gets_messages(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, [Say("It subtracts.\n\nReally.")], options=None, capabilities={}
    ) as (_, client):
        await run_command_action(client, "Pails: explain")
        shown = await client.wait_for("window/showMessage")
        assert shown["message"] == "It subtracts.\n\nReally."
        assert await run_ask(client) is None
        assert "third argument" in messages(client)[-1]
        assert client.requests == []


async def run_ask(client: LspClient, *more: str) -> Any:
    uri = (client.workspace / "calc.py").as_uri()
    place = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}
    return await client.request(
        "workspace/executeCommand", {"command": "pails.ask", "arguments": [uri, place, *more]}
    )


async def test_bare_progress_can_be_cancelled(tmp_path: Path) -> None:
    gate = Gate(Say("one two three four"))
    async with scripted(tmp_path, [gate], options=None) as (_, client):
        await run_command_action(client, "Pails: write tests")
        await gate.reached.wait()
        begun = await client.wait_for("$/progress")
        client.notify("window/workDoneProgress/cancel", {"token": "pails/unknown"})
        client.notify("window/workDoneProgress/cancel", {"token": begun["token"]})
        values = await progress_ended(client)
        assert values[-1]["message"] == "cancelled. No file was edited."


async def test_ask_with_questions_and_commands_of_a_full_client(tmp_path: Path) -> None:
    script = [Say("first"), Say("second")]
    async with scripted(tmp_path, script) as (model, client):
        client.answer = lambda _: {"answer": "Why minus?"}
        started = await run_command_action(client, "Pails: ask…")
        asked = await client.wait_for("pai/question/ask")
        assert asked["turnId"] is None, "it asks before there is a turn"
        await client.wait_for_turn(started["sessionId"], started["turnId"])
        values = await progress_ended(client)
        assert values[0]["title"] == "Pails"
        assert messages(client) == [], "a client with events shows its own end"
        again = await run_ask(client, "And here?")
        assert again["sessionId"] == started["sessionId"], "one editor session a workspace"
        await client.wait_for_turn(again["sessionId"], again["turnId"])
        assert "Why minus?" in model.requests[0]["messages"][-1]["content"]
        assert "And here?" in model.requests[1]["messages"][-1]["content"]


async def test_commands_refuse_what_cannot_be(tmp_path: Path) -> None:
    async with start_client(tmp_path) as client:
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}

        async def refused(command: str, *arguments: Any) -> tuple[int, str]:
            params = {"command": command, "arguments": list(arguments)}
            return await error_of(client, "workspace/executeCommand", params)

        assert (await refused("pails.fix"))[0] == ErrorCode.INVALID_PARAMS
        assert (await refused("pails.fix", "file:///x", "y"))[0] == ErrorCode.INVALID_PARAMS
        assert (await refused("pails.fix", *"abcd"))[0] == ErrorCode.REQUEST_FAILED
        assert (await refused("pails.fix", "file:///x", place))[0] == ErrorCode.NOT_FOUND
        assert (await refused("pails.cancel", "no-such"))[0] == ErrorCode.NOT_FOUND
        client.open_document(Path("/none"), "x = 1", uri="untitled:Untitled-1")
        code, message = await refused("pails.fix", "untitled:Untitled-1", place)
        assert code == ErrorCode.REQUEST_FAILED and "Untitled-1" in message
        cancelled = await client.request("workspace/executeCommand", {"command": "pails.cancel"})
        assert cancelled == {"cancelled": False}


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [(["utf-32", "utf-8"], "utf-32"), (["x", "utf-8"], "utf-8"), ([], "utf-16")],
)
async def test_positions_in_every_encoding(tmp_path: Path, asked: list[str], chosen: str) -> None:
    """The encoding is the first of the client's that we know, and both sides count in it."""
    text = "a😀b\n😀x = 1"
    script = [
        Calls(("read_file", {"path": "a.txt"})),
        Calls(("edit_file", {"path": "a.txt", "old": "😀x", "new": "😀😀y"})),
        Calls(("edit_file", {"path": "a.txt", "old": "typed😀b", "new": "中b"})),
        Say("Done."),
    ]
    general = {"general": {"positionEncodings": asked}}
    capabilities = CAPABILITIES | general
    async with scripted(tmp_path, script, capabilities=capabilities) as (model, client):
        assert client.initialized["capabilities"]["positionEncoding"] == chosen
        path = client.workspace / "a.txt"
        path.write_text(text)
        document = client.open_document(path)
        assert document.encoding == chosen
        client.change_document(document, 1, 1, "typed")  # in front of an astral character,
        client.change_document(document, len(document.text), len(document.text), "0")
        client.change_document(document, 7, 8, "b\u2028")  # behind one, and on the next line
        await client.prompt_and_wait(await client.new_session(), "Look.")
        assert document.text == "a中b\u2028\n😀😀y = 10"
        read = model.requests[1]["messages"][-1]["content"]
        assert read.endswith("1\tatyped😀b\u2028\n2\t😀x = 10")
