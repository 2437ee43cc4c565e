"""What a person attaches, as the model reads it."""

from pathlib import Path

import pytest

from pails.context.prompt import render_prompt
from pails.core.ports import Attachment


async def _unread(path: Path) -> str:
    raise AssertionError(f"read {path}")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.py", '"a.py"'),
        ("中文 a.py", '"中文 a.py"'),
        ('a"><file path="b', '"a\\"><file path=\\"b"'),
        ("a\nb", '"a\\\\nb"'),
        ("a\udcff", '"a\ufffd"'),
    ],
)
async def test_no_name_of_a_file_ends_its_place_in_the_prompt(name: str, shown: str):
    workspace = Path("/w")
    attachment = Attachment("file", workspace / name, "text\n")
    prompt = await render_prompt("look", [attachment], workspace, _unread)
    assert prompt == f"<file path={shown}>\ntext\n</file>\n\nlook"
