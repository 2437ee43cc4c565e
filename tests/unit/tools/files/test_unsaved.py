"""Searches see what the editor shows, also where that is not saved."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest

from pails.tools.glob import GlobFiles
from pails.tools.grep import Grep
from tests.support.calls import call
from tests.support.editor import MemoryEditor


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository; shadows of unsaved texts are made beside it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    root = tmp_path / "work space"
    for name, text in {
        ".git/config": "",
        ".gitignore": "node_modules/\n*.log\n",
        "a.py": "needle = 1\n",
        "b/c.py": "x\nneedle\ny\n",
        "d.py": "needle\n",
        "node_modules/m/index.js": "needle\n",
        "src/.ignore": "made.py\n",
        "src/made.py": "needle\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


async def found(editor: MemoryEditor, workspace: Path, **arguments: object) -> list[str]:
    result = await call(Grep(editor), workspace, **arguments)
    assert not result.is_error, result.text
    assert not list((workspace.parent / "tmp").iterdir()), "a shadow is left"
    return [line for line in result.text.split("\n") if not line.startswith("[")]


async def test_unsaved_text_takes_the_place_of_the_disk_in_order(tree):
    editor = MemoryEditor()
    editor.open(tree / "b" / "c.py", "one\ntwo\nthree needle\n")
    editor.open(tree / "a.py", "needle = 1\n")
    assert await found(editor, tree, pattern="needle") == [
        "a.py:1:needle = 1",
        "b/c.py:3:three needle",
        "d.py:1:needle",
    ]
    result = await call(Grep(editor), tree, pattern="needle")
    assert "[as the editor has it, not as on disk: b/c.py]" in result.text
    assert result.summary == "3 matches in 3 files"


async def test_what_was_deleted_in_the_editor_is_not_found(tree):
    editor = MemoryEditor()
    for name in ("a.py", "b/c.py", "d.py"):
        editor.open(tree / name, "nothing\n")
    result = await call(Grep(editor), tree, pattern="needle")
    assert result.text.startswith("No matches for 'needle' in the workspace.")
    assert "2 more files match among hidden or ignored ones" in result.text


async def test_the_same_patterns_switches_and_context(tree):
    editor = MemoryEditor()
    editor.open(tree / "a.py", "\ufefffoo(1)\r\nBar 中文😀\r\nend\r\n")
    assert await found(editor, tree, pattern="foo(", literal=True) == ["a.py:1:foo(1)"]
    assert await found(editor, tree, pattern=r"\bbar\b", ignore_case=True, context=1) == [
        "a.py-1-foo(1)",
        "a.py:2:Bar 中文😀",
        "a.py-3-end",
    ]
    assert await found(editor, tree, pattern=r"\p{Han}{2}") == ["a.py:2:Bar 中文😀"]
    assert await found(editor, tree, pattern=r"Bar.*\r\nend") == [
        "a.py:2:Bar 中文😀",
        "a.py:3:end",
    ]
    assert await found(editor, tree, pattern="^foo") == ["a.py:1:foo(1)"], "no mark in front"
    bad = await call(Grep(editor), tree, pattern="foo(")
    assert bad.is_error


async def test_globs_and_ignore_files_hold_for_unsaved_text(tree):
    editor = MemoryEditor()
    for name in ("node_modules/m/index.js", "src/made.py", "new.log", ".hidden/x.py", "b/new.ts"):
        editor.open(tree / name, "needle again\n")
    assert await found(editor, tree, pattern="again") == ["b/new.ts:1:needle again"]
    assert await found(editor, tree, pattern="again", glob="*.py") == [
        "No matches for 'again' in the workspace (*.py). 2 more files match among hidden or "
        "ignored ones; name their path."
    ]
    assert await found(editor, tree, pattern="again", path="node_modules") == [
        "node_modules/m/index.js:1:needle again"
    ]


async def test_a_file_that_does_not_exist_yet_and_one_outside(tree):
    editor = MemoryEditor()
    outside = tree.parent / "other" / "note.txt"
    outside.parent.mkdir()
    outside.write_text("old\n")
    editor.open(outside, "fresh words\n")
    editor.open(tree / "new folder" / "中.py", "fresh = 1\n")
    assert await found(editor, tree, pattern="fresh") == ["new folder/中.py:1:fresh = 1"]
    assert await found(editor, tree, pattern="fresh", path=str(tree / "new folder")) == [
        "new folder/中.py:1:fresh = 1"
    ]
    assert await found(editor, tree, pattern="fresh", path=str(outside)) == [
        f"{outside}:1:fresh words"
    ]
    assert await found(editor, tree, pattern="old", path=str(outside.parent)) == [
        f"No matches for 'old' in {outside.parent}."
    ]


async def test_secrets_stay_left_out(tree):
    editor = MemoryEditor()
    editor.open(tree / "secrets.env", "needle=1\n")
    editor.open(tree / ".env", "needle=1\n")
    (tree / "visible").mkdir()
    editor.open(tree / "visible" / "id_rsa", "needle\n")
    assert not [line for line in await found(editor, tree, pattern="needle") if "id_rsa" in line]


async def test_many_matches_are_counted_with_those_in_the_editor(tree):
    editor = MemoryEditor()
    (tree / "big.txt").write_text("needle\n" * 150_000)
    editor.open(tree / "a.py", "needle\n" * 10)
    result = await call(Grep(editor), tree, pattern="needle")
    assert "of 150,012 matches not shown" in result.text


async def test_a_search_with_more_threads_finds_the_same_in_the_same_order(tree, monkeypatch):
    monkeypatch.setattr("pails.tools.grep.LONG_SECONDS", -1.0)
    for number in range(300):
        (tree / f"z{number % 7}" / "deep").mkdir(parents=True, exist_ok=True)
        (tree / f"z{number % 7}" / "deep" / f"{number}.txt").write_text("needle\n")
    (tree / "z3.txt").write_text("needle\n")
    editor = MemoryEditor()
    editor.open(tree / "z3" / "deep" / "3.txt", "needle\nneedle\n")
    grep = Grep(editor)
    first, second = [(await call(grep, tree, pattern="needle")).text for _ in range(2)]
    assert first == second
    assert "of 305 matches not shown" in first
    paths = [line.split(":")[0].split("/") for line in first.split("\n") if ":1:" in line]
    assert paths == sorted(paths)


async def test_a_cancelled_search_leaves_no_shadow(tree):
    editor = MemoryEditor()
    editor.open(tree / "a.py", "needle\n" * 1000)
    for moment in range(6):
        task = asyncio.create_task(call(Grep(editor), tree, pattern="needle"))
        await asyncio.sleep(moment / 1000)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert not list((tree.parent / "tmp").iterdir())


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
async def test_a_shadow_is_for_nobody_else(tree, monkeypatch):
    modes: list[int] = []
    monkeypatch.setattr(
        "pails.host.shadow.shutil.copyfile",
        lambda *_: modes.extend(p.stat().st_mode & 0o777 for p in (tree.parent / "tmp").iterdir()),
    )
    editor = MemoryEditor()
    editor.open(tree / "a.py", "other\n")
    await call(Grep(editor), tree, pattern="other")
    assert set(modes) == {0o700}


# -- files that only the editor has ---------------------------------------------------------------


async def globbed(editor: MemoryEditor, workspace: Path, **arguments: object) -> list[str]:
    result = await call(GlobFiles(editor), workspace, **arguments)
    assert not result.is_error, result.text
    assert not list((workspace.parent / "tmp").iterdir()), "a shadow is left"
    return result.text.split("\n")


async def test_glob_lists_what_only_the_editor_has_and_says_so(tree):
    editor = MemoryEditor()
    editor.open(tree / "b" / "new.py", "new\n")
    editor.open(tree / "a.py", "changed, and on the disk too\n")
    editor.open(tree.parent / "outside.py", "x\n")
    assert await globbed(editor, tree, pattern="*.py") == [
        *("a.py", "b/c.py", "b/new.py", "d.py"),
        "[in the editor only, not saved yet: b/new.py]",
    ]
    assert await globbed(editor, tree, pattern="n*", path="b") == [
        "b/new.py",
        "[in the editor only, not saved yet: b/new.py]",
    ]
    assert "in the editor" not in " ".join(await globbed(editor, tree, pattern="[a-d].py"))


async def test_glob_in_a_folder_that_only_the_editor_has(tree):
    editor = MemoryEditor()
    editor.open(tree / "later" / "x.py", "x\n")
    assert (await globbed(editor, tree, pattern="*", path="later"))[0] == "later/x.py"
    assert await globbed(editor, tree, pattern="*.rs", path="later") == [
        "No file matches *.rs in later."
    ]
    gone = await call(GlobFiles(editor), tree, pattern="*", path="nowhere")
    assert gone.is_error


async def test_glob_leaves_out_unsaved_files_that_are_ignored_or_hidden(tree):
    editor = MemoryEditor()
    for name in ("new.log", "node_modules/new.js", "src/made.py", ".hidden.py"):
        editor.open(tree / name, "needle, unsaved\n")
    assert await globbed(editor, tree, pattern="**") == ["a.py", "b/c.py", "d.py"]
    assert await globbed(editor, tree, pattern=".hidden*") == [
        ".hidden.py",
        "[in the editor only, not saved yet: .hidden.py]",
    ]
