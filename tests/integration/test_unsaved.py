"""Unsaved text in the whole server: searches see it, commands ask about it, changes are told."""

from pathlib import Path
from typing import Any

from tests.integration.test_lsp_protocol import scripted
from tests.support.lsp_client import PAI, Json, LspClient
from tests.support.scripted_model import Calls, Say


def results(events: list[Json]) -> dict[str, str]:
    return {event["callId"]: event["text"] for event in events if event["kind"] == "toolCallEnded"}


def type_something(client: LspClient, path: Path) -> None:
    """Open the file and type in it, without saving."""
    document = client.open_document(path)
    client.change_document(document, 0, 0, "typed = 1\n")


async def test_with_a_client_that_can_do_everything(tmp_path: Path) -> None:
    script = [
        Calls(("grep", {"pattern": "typed"})),
        Calls(("run_command", {"command": ["cat", "a.py"]})),
        Calls(("run_command", {"command": ["sh", "-c", "echo new > a.py"]})),
        Calls(("run_command", {"command": ["true"]})),
        Say("Done."),
    ]
    questions: list[Json] = []

    def answer(params: Json) -> Json:
        questions.append(params)
        return {"answer": "Save all and run"}

    async with scripted(tmp_path, script, options={**PAI, "reload": True}) as (_, client):
        (client.workspace / "a.py").write_text("disk = 1\n")
        type_something(client, client.workspace / "a.py")
        client.approve = lambda _: {"choice": "allowOnce"}
        client.answer = answer
        events = await client.prompt_and_wait(await client.new_session(), "Look.")
        found, shown, changed, last = results(events).values()
        told = await client.wait_for("pai/editor/changedOnDisk")
    assert found.startswith("a.py:1:typed = 1\n[as the editor has it, not as on disk: a.py]")
    assert shown == "typed = 1\ndisk = 1\nSaved before it ran: a.py\nexit code 0"
    assert "Changed on the disk while open in the editor" in changed
    assert told == {"uris": [(tmp_path / "workspace" / "a.py").as_uri()]}
    assert last == "(no output)\nexit code 0"
    assert len(questions) == 1
    assert questions[0]["text"].startswith("a.py has unsaved text, which this command would not")


async def test_with_a_bare_client(tmp_path: Path) -> None:
    """It cannot be asked to save, and is told by messages."""
    command = ["sh", "-c", "cat a.py; echo new > b.py"]
    script = [Calls(("run_command", {"command": command})), Say("Done.")]
    asked: list[Json] = []

    def choose(params: Json) -> Any:
        asked.append(params)
        return "Allow once" if len(asked) == 1 else "Run anyway"

    async with scripted(tmp_path, script, options={"events": True}) as (_, client):
        for name in ("a.py", "b.py"):
            (client.workspace / name).write_text("disk = 1\n")
        type_something(client, client.workspace / "a.py")
        client.open_document(client.workspace / "b.py")
        client.choose = choose
        events = await client.prompt_and_wait(await client.new_session(), "Look.")
        message = await client.wait_for("window/showMessage")
    [ran] = results(events).values()
    assert ran.startswith("disk = 1\nUnsaved in the editor, so the command did not see")
    assert message["message"].startswith("b.py has changed on the disk.")
    titles = [action["title"] for action in asked[1]["actions"]]
    assert titles == ["Run anyway", "Do not run", "Never ask again in this session"]
