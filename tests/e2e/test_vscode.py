"""The VS Code client in the real VS Code: what a person sees and does there."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_model import Calls, Say, ScriptedModel
from tests.support.vscode import VsCode, build_extension, missing, start_vscode

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
