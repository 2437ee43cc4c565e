"""Files that a prompt names, found and left out."""

from pathlib import Path

import pytest

from pails.core.ports import Attachment
from pails.session.mentions import MAX_BYTES, MAX_CHARS, MAX_FILES, mentioned_files, path_names
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from tests.support import zoo


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fix the bug in calc.py: add() subtracts.", ["calc.py"]),
        ("Is src/app.py, or docs/intro.md wrong?", ["src/app.py", "docs/intro.md"]),
        ("修复tax.py里的错误。", ["tax.py", "修复tax.py里的错误"]),
        ("修复 “税率.py”。", [".py", "税率.py"]),
        ("read `my notes.txt` now", ["my notes.txt", "notes.txt"]),
        ('File "src/app.py", line 3', ["src/app.py"]),
        ("@src/app.py:12", ["src/app.py", "src/app.py:12"]),
        ("./run.sh and .gitignore", ["./run.sh", ".gitignore"]),
        ("a\0.py", [".py"]),
        ("/etc/passwd", ["etc/passwd"]),
        ("what is 1 + 1? Nothing here", []),
    ],
)
def test_names_in_a_text(text: str, names: list[str]):
    assert path_names(text) == names


async def found(workspace: Path, text: str, *attached: Attachment) -> list[str]:
    files = await mentioned_files(
        text, attached, workspace, lambda path: "secret" not in path.name, Documents().read
    )
    assert all(file.kind == "file" and file.text for file in files)
    return [file.path.relative_to(workspace).as_posix() for file in files]


async def test_small_text_files_go_along_once(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "a.py").write_text("a\n")
    (tmp_path / "src/b.py").write_text("b\n")
    assert await found(tmp_path, "a.py and src/b.py, ./a.py, a.py!") == ["a.py", "src/b.py"]
    attached = Attachment("selection", tmp_path / "a.py", "a")
    assert await found(tmp_path, "a.py and src/b.py", attached) == ["src/b.py"]


async def test_what_is_no_small_text_that_may_be_read_stays_out(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "png.png").write_bytes(zoo.PNG)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "secret.py").write_text("x")
    (tmp_path / "long.py").write_text("x" * (MAX_CHARS + 1))
    (tmp_path / "just.py").write_text("x" * MAX_CHARS)
    text = f"src/ png.png empty.py secret.py missing.py long.py just.py a\0.py {'x' * 999}.py"
    assert await found(tmp_path, text) == ["just.py"]


async def test_what_is_long_is_not_even_read(tmp_path: Path):
    (tmp_path / "long.csv").write_bytes(b"x" * (MAX_BYTES + 1))
    (tmp_path / "wide.txt").write_bytes(("汉" * MAX_CHARS).encode("utf-16"))
    documents, asked = Documents(), list[str]()

    async def read(path: Path) -> Document | Unreadable:
        asked.append(path.name)
        return await documents.read(path)

    text = "long.csv wide.txt"
    files = await mentioned_files(text, (), tmp_path, lambda _: True, read)
    assert [file.path.name for file in files] == ["wide.txt"]
    assert "long.csv" not in asked


async def test_no_more_than_a_few(tmp_path: Path):
    names = [f"{number}.py" for number in range(MAX_FILES + 2)]
    for name in names:
        (tmp_path / name).write_text("x\n")
    assert await found(tmp_path, " ".join(names)) == names[:MAX_FILES]
