"""The VS Code client in the real VS Code: what a person sees and does there."""

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator

from tests.support.lsp_client import processes_with
from tests.support.scripted_model import Calls, Gate, Say, ScriptedModel
from tests.support.vscode import VsCode, build_extension, missing, npm, start_vscode

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(missing()), reason=missing() or "all is here"),
]


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_extension(tmp_path_factory.mktemp("vsix") / "pails.vsix")


@asynccontextmanager
async def vscode(
    tmp_path: Path, extension: Path, script: Sequence[Any], **settings: object
) -> AsyncIterator[tuple[ScriptedModel, VsCode]]:
    async with ScriptedModel(script) as model:
        environment = {
            "PAILS_STATE_DIR": str(tmp_path / "state"),
            "PAILS_CONFIG_DIR": str(tmp_path / "config"),
            "PAILS_BASE_URL": model.base_url,
            "PAILS_MODEL": model.model,
            "PAILS_API_KEY": "test-key",
        }
        named = {name.replace("_", "."): value for name, value in settings.items()}
        async with start_vscode(tmp_path, extension, environment, named) as window:
            yield model, window


def put(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / "workspace" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_units_of_the_client_pass(extension: Path) -> None:
    npm("test", "--silent")


async def test_a_code_action_edits_the_open_file_and_its_lens_takes_the_edit_back(
    tmp_path: Path, extension: Path
) -> None:
    path = put(tmp_path, "calc.py", "def add(a, b):\n    return a - b\n")
    edit = {"path": "calc.py", "old": "a - b", "new": "a + b"}
    script = [Calls(("edit_file", edit)), Say("Mended.")]
    async with vscode(tmp_path, extension, script) as (model, window):
        await window.open_file("calc.py")
        await window.page.locator(".view-line:has-text('return')").click()
        await window.page.keyboard.press("Control+.")
        await window.page.locator(".action-widget .monaco-list-row:has-text('Pails: fix')").click()
        await window.until(lambda: "a + b" in path.read_text(), "the file is changed")
        await window.page.locator(".codelens-decoration a:has-text('Reject')").first.click()
        await window.until(lambda: "a - b" in path.read_text(), "the change is taken back")
        assert len(model.requests) == 2


async def ask(window: VsCode, text: str) -> None:
    """Write a prompt into the panel and send it."""
    box = window.panel.locator("textarea")
    await box.fill(text)
    await box.press("Enter")


def said(window: VsCode, text: str) -> Locator:
    """Where the panel shows these words (it also says them to screen readers)."""
    return window.panel.locator(f"main :not(.spoken):text('{text}')").first


async def test_the_panel_streams_asks_and_lists_what_waits_for_review(
    tmp_path: Path, extension: Path
) -> None:
    path = put(tmp_path, "calc.py", "def add(a, b):\n    return a - b\n")
    edit = {"path": "calc.py", "old": "a - b", "new": "a + b"}
    run = ("run_command", {"command": ["touch", "ran"]})
    closing = Gate(Say("**Mended.** Now `add` adds."))
    script = [Calls(("edit_file", edit), text="I mend it."), Calls(run), closing]
    async with vscode(tmp_path, extension, script) as (model, window):
        await window.open_panel()
        await ask(window, "Mend add")
        approval = window.panel.locator(".approval")
        await approval.locator("text=touch ran").first.wait_for()
        assert not (window.workspace / "ran").exists()
        await approval.press("Enter")
        await approval.locator("button:has-text('Allow once')").click()
        await window.until((window.workspace / "ran").exists, "the command has run")
        await closing.reached.wait()
        await said(window, "I mend it.").wait_for()
        closing.open()
        await said(window, "Mended.").wait_for()
        await window.page.locator(".statusbar-item:has-text('Pails 1')").wait_for()
        await window.command("Pails: Reject All Changes")
        await window.until(lambda: "a - b" in path.read_text(), "the change is taken back")
        await window.page.locator(".statusbar-item:has-text('Pails 1')").wait_for(state="hidden")
        assert "touch" in str(model.requests[2]["messages"])


async def test_a_dirty_buffer_is_edited_in_the_editor_and_stays_the_persons_to_save(
    tmp_path: Path, extension: Path
) -> None:
    path = put(tmp_path, "calc.py", "def add(a, b):\n    return a - b\n")
    edit = {"path": "calc.py", "old": "a - b", "new": "a + b"}
    script = [Calls(("edit_file", edit)), Say("Mended.")]
    async with vscode(tmp_path, extension, script) as (_, window):
        await window.open_file("calc.py")
        await window.page.locator(".view-line:has-text('def add')").click()
        await window.page.keyboard.press("Home")
        await window.page.keyboard.type("# mine\n")
        await window.open_panel()
        await ask(window, "Mend add")
        await said(window, "Mended.").wait_for()
        shown = await window.text()
        assert "# mine" in shown and "a + b" in shown
        assert path.read_text() == "def add(a, b):\n    return a - b\n"


async def test_the_session_goes_on_when_the_server_was_killed(
    tmp_path: Path, extension: Path
) -> None:
    script = [Say("The first answer."), Say("The second answer.")]
    async with vscode(tmp_path, extension, script) as (model, window):
        await window.open_panel()
        await ask(window, "one")
        await said(window, "The first answer.").wait_for()
        (killed,) = servers(tmp_path)
        os.kill(int(killed.partition(":")[0]), signal.SIGKILL)
        await window.until(
            lambda: servers(tmp_path) not in ([], [killed]), "the server is started again"
        )
        await window.panel.locator(".banner").wait_for(state="hidden")
        await ask(window, "two")
        await said(window, "The second answer.").wait_for()
        await said(window, "The first answer.").wait_for()
        assert [m["role"] for m in model.requests[1]["messages"]][1:] == [
            "user",
            "assistant",
            "user",
        ]


async def test_while_the_panel_is_hidden_a_notification_asks(
    tmp_path: Path, extension: Path
) -> None:
    put(tmp_path, "calc.py", "x = 1\n")
    run = ("run_command", {"command": ["touch", "ran"]})
    async with vscode(tmp_path, extension, [Calls(run), Say("Done.")]) as (_, window):
        await window.open_file("calc.py")
        await window.page.locator(".view-line:has-text('x = 1')").click()
        await window.page.keyboard.press("Control+.")
        await window.page.locator(".action-widget .monaco-list-row:has-text('Pails: fix')").click()
        toast = window.page.locator(".notification-toast:has-text('touch ran')")
        await toast.locator("a:has-text('Allow Once')").click()
        await window.until((window.workspace / "ran").exists, "the command has run")


def servers(tmp_path: Path) -> list[str]:
    """The processes of our server, which know the state folder of the test."""
    mark = f"PAILS_STATE_DIR={tmp_path / 'state'}"
    return [line for line in processes_with(mark) if "pails --stdio" in line]
