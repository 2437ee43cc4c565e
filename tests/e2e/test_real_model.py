"""A small task with a model that nobody scripted, through the real server over stdio.

Set PAILS_TEST_BASE_URL to the address of an OpenAI-compatible server, such as
http://127.0.0.1:8080/v1, and PAILS_TEST_MODEL to a model of it if it has several. The task is one
that a model of 1.5 billion parameters can do; what was done is checked by running it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import lsp_client
from tests.support.lsp_client import Json, LspClient, start_client

BASE_URL = os.environ.get("PAILS_TEST_BASE_URL", "")

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(not BASE_URL, reason="PAILS_TEST_BASE_URL names no model server"),
]

PATIENCE_SECONDS = 900.0
"""A model without a graphics card reads a prompt at walking pace."""

CART = '''\
"""What is in the cart."""


def total(prices):
    return sum(prices)


def cheapest(prices):
    return max(prices)
'''
CHECK = """\
import cart
assert cart.cheapest([3, 1, 2]) == 1
assert cart.total([3, 1, 2]) == 6
"""


def environment() -> dict[str, str]:
    names = {"PAILS_TEST_MODEL": "PAILS_MODEL", "PAILS_TEST_API_KEY": "PAILS_API_KEY"}
    given = {ours: os.environ[name] for name, ours in names.items() if name in os.environ}
    return {"PAILS_BASE_URL": BASE_URL, **given}


async def ask(client: LspClient, text: str, *attached: Path) -> list[Json]:
    """Send a prompt in a new session; the events of its turn."""
    session = await client.new_session(mode="auto")
    files = [{"kind": "file", "uri": path.as_uri()} for path in attached]
    return await client.prompt_and_wait(session, text, attachments=files)


async def test_it_fixes_a_function_and_changes_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lsp_client, "WAIT_SECONDS", PATIENCE_SECONDS)
    async with start_client(tmp_path, environment=environment()) as client:
        client.approve = lambda _: {"choice": "reject", "feedback": "Just edit the file."}
        path = client.workspace / "cart.py"
        path.write_text(CART)
        events = await ask(client, "cheapest() in cart.py returns the dearest price.", path)
        after = path.read_text()
    ended = events[-1]
    assert (ended["reason"], ended["files"]) == ("done", [str(path)]), ended
    checked = subprocess.run(
        [sys.executable, "-B", "-c", CHECK],
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, f"{checked.stderr}\n{after}"
    assert CART.splitlines()[:5] == after.splitlines()[:5], after
