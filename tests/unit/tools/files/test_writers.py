"""Several writers of one file: nothing is lost, and whoever comes too late hears who was first."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pails.host.locks import FileLock
from pails.tools.edit_file import EditFile
from pails.tools.files import writers
from pails.tools.files.document import Document, Unwritten
from pails.tools.files.documents import Documents
from pails.tools.files.writers import Writers
from pails.tools.patch import ApplyPatch
from pails.tools.read_file import ReadFile
from pails.tools.registry import Proposal
from pails.tools.write_file import WriteFile
from tests.support.calls import call, propose
from tests.support.editor import MemoryEditor

PATCH = """
import asyncio, sys
from pathlib import Path
from pails.tools.files.documents import Documents
from pails.tools.edit_file import EditFile
from pails.tools.files.writers import Writers
from tests.support.calls import call

async def main(folder, locks, name, count):
    tool = EditFile(Documents(None, Writers(Path(locks)), name))
    for number in range(int(count)):
        while True:
            edit = {"old": f"{name} {number}\\n", "new": f"{name} {number} done\\n"}
            result = await call(tool, Path(folder), path="a", **edit)
            if not result.is_error:
                break
            assert "has changed since it was read" in result.text, result.text
asyncio.run(main(*sys.argv[1:]))
"""
LINES = 25


def test_edits_of_several_processes_are_all_there(tmp_path):
    names = ("one", "two", "three")
    text = "".join(f"{name} {number}\n" for number in range(LINES) for name in names)
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a").write_text(text)
    program = [sys.executable, "-c", PATCH, folder, tmp_path / "locks"]
    children = [
        subprocess.Popen([*program, name, str(LINES)], cwd=Path(__file__).parents[4])
        for name in names
    ]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert (folder / "a").read_text() == text.replace("\n", " done\n")


async def test_edits_of_several_sessions_are_all_there(tmp_path):
    lines = [f"line {number}\n" for number in range(20)]
    (tmp_path / "a").write_text("".join(lines))
    shared = Writers(tmp_path / "locks")

    async def edit(number: int) -> None:
        tool = EditFile(Documents(None, shared, f"session {number}"))
        arguments = {"old": lines[number], "new": f"line {number} done\n"}
        while (await call(tool, tmp_path, path="a", **arguments)).is_error:
            pass

    await asyncio.gather(*map(edit, range(20)))
    assert (tmp_path / "a").read_text() == "".join(lines).replace("\n", " done\n")


@pytest.fixture
def sessions(tmp_path: Path) -> tuple[Documents, Documents]:
    """Two sessions, each in a process of its own as far as locks go."""
    (tmp_path / "a").write_text("one\n")
    locks = tmp_path / "locks"
    return Documents(None, Writers(locks), "s-1"), Documents(None, Writers(locks), "s-2")


async def read(documents: Documents, path: Path) -> Document:
    found = await documents.read(path)
    assert isinstance(found, Document)
    return found


async def said(documents: Documents, document: Document) -> str:
    outcome = await documents.write(document, "late\n", "Edit a")
    assert isinstance(outcome, Unwritten)
    assert "Nothing was written" in outcome.message
    return outcome.message


async def test_who_wrote_before_is_named(tmp_path, sessions):
    mine, theirs = sessions
    path = tmp_path / "a"
    document = await read(mine, path)
    await theirs.write(await read(theirs, path), "theirs\n", "Edit a")
    assert "written by another Pails session (s-2: Edit a)" in await said(mine, document)
    assert "written by this session (Edit a)" not in await said(mine, document)
    await mine.write(await read(mine, path), "mine\n", "Reject a change")
    assert "written by this session (Reject a change)" in await said(mine, document)
    path.write_text("strange\n")
    assert "another program, or a command, wrote it" in await said(mine, document)
    path.unlink()
    assert "moved or deleted by another program" in await said(mine, document)


async def test_who_wrote_before_is_named_to_a_patch_of_several_files_too(tmp_path, sessions):
    mine, theirs = sessions
    (tmp_path / "b").write_text("b\n")
    parts = [line for n in ("a", "b") for line in (f"*** Delete File: {n}",)]
    patch = "\n".join(("*** Begin Patch", *parts, "*** End Patch"))
    proposal = await propose(ApplyPatch(mine), tmp_path, patch=patch)
    assert isinstance(proposal, Proposal)
    await theirs.write(await read(theirs, tmp_path / "b"), "theirs\n", "Edit b")
    result = await proposal.run()
    assert (
        "b has changed since it was read: it was written by another Pails session (s-2: Edit b)"
        in result.text
    )
    assert (tmp_path / "a").exists()


async def test_the_person_is_named(tmp_path):
    editor = MemoryEditor()
    (tmp_path / "a").write_text("one\n")
    editor.open(tmp_path / "a", "one\n")
    documents = Documents(editor, Writers(tmp_path / "locks"))
    document = await read(documents, tmp_path / "a")
    editor.open(tmp_path / "a", "one\ntyped\n", 2)
    assert "the person changed it in the editor" in await said(documents, document)


async def test_a_write_into_a_buffer_is_known_too(tmp_path):
    editor = MemoryEditor()
    (tmp_path / "a").write_text("one\n")
    editor.open(tmp_path / "a", "one\n")
    shared = Writers(tmp_path / "locks")
    mine, theirs = Documents(editor, shared, "s-1"), Documents(editor, shared, "s-2")
    document = await read(mine, tmp_path / "a")
    await theirs.write(await read(theirs, tmp_path / "a"), "theirs\n", "Edit a")
    assert "another Pails session (s-2: Edit a)" in await said(mine, document)


async def test_whoever_holds_the_lock_for_ever_is_not_waited_for(tmp_path, sessions, monkeypatch):
    mine, _ = sessions
    document = await read(mine, tmp_path / "a")
    await mine.write(document, "two\n", "Edit a")
    (name,) = (tmp_path / "locks").iterdir()
    monkeypatch.setattr(writers, "_WAIT_SECONDS", 0.05)
    held = FileLock(name)
    held.take(time.monotonic())
    document = await read(mine, tmp_path / "a")
    assert "Another process is writing a" in await said(mine, document)
    held.release()
    assert not isinstance(await mine.write(document, "late\n", "Edit a"), Unwritten)


async def test_without_a_folder_for_locks_files_are_written_all_the_same(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    documents = Documents(None, Writers(tmp_path / "file" / "locks"))
    found = await documents.read_or_new(tmp_path / "a")
    assert isinstance(found, Document)
    assert not isinstance(await documents.write(found, "x", ""), Unwritten)
    assert "without locks" in caplog.text


async def test_a_lock_holds_no_text_and_is_private(tmp_path, sessions):
    mine, _ = sessions
    await mine.write(await read(mine, tmp_path / "a"), "secret\n", "Edit a")
    (lock,) = (tmp_path / "locks").iterdir()
    assert lock.stat().st_mode & 0o777 == 0o600
    assert json.loads(lock.read_text()).keys() == {"session_id", "label", "fingerprint"}
    assert "secret" not in lock.read_text()


def test_a_lock_file_that_is_removed_excludes_others_still(tmp_path):
    """A clean-up may take a file away between its opening and its locking."""
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.take(time.monotonic())
    (tmp_path / "lock").unlink()
    second.take(time.monotonic())  # a new file: the first owner has the old one
    with pytest.raises(TimeoutError):
        FileLock(tmp_path / "lock").take(time.monotonic())
    first.release()
    second.release()


# -- what the model has seen ----------------------------------------------------------------------


async def rewrite(documents: Documents, folder: Path, content: str = "new\n"):
    return await call(WriteFile(documents), folder, path="a", content=content)


async def test_a_file_that_was_not_read_is_not_replaced(tmp_path, sessions):
    mine, theirs = sessions
    for other in (theirs, Documents(None, mine.writers, "s-3")):  # also one of the same process
        await call(ReadFile(other), tmp_path, path="a")  # what another has read does not count
    result = await rewrite(mine, tmp_path)
    assert result.is_error
    assert result.text.startswith("a exists, and you have not read it. Nothing was written")
    assert (tmp_path / "a").read_text() == "one\n"
    await call(ReadFile(mine), tmp_path, path="a")
    assert not (await rewrite(mine, tmp_path)).is_error
    assert not (await rewrite(mine, tmp_path, "newer\n")).is_error, "it knows what it wrote"


async def test_an_empty_file_has_nothing_to_be_read(tmp_path):
    (tmp_path / "a").touch()
    documents = Documents()
    assert not (await rewrite(documents, tmp_path)).is_error
    assert not (await rewrite(documents, tmp_path, "newer\n")).is_error


async def test_a_file_that_changed_since_it_was_read_is_not_replaced(tmp_path, sessions):
    mine, theirs = sessions
    await call(ReadFile(mine), tmp_path, path="a")
    await call(EditFile(theirs), tmp_path, path="a", old="one", new="two")
    result = await rewrite(mine, tmp_path)
    assert result.is_error
    assert "written by another Pails session (s-2: Edit a)" in result.text
    assert (tmp_path / "a").read_text() == "two\n"


async def test_an_edit_keeps_known_what_was_known_and_no_more(tmp_path, sessions):
    mine, theirs = sessions
    edit = EditFile(mine)
    await call(edit, tmp_path, path="a", old="one", new="two")
    assert "you have not read it" in (await rewrite(mine, tmp_path)).text
    await call(ReadFile(mine), tmp_path, path="a")
    await call(edit, tmp_path, path="a", old="two", new="three")
    assert not (await rewrite(mine, tmp_path)).is_error
    await call(EditFile(theirs), tmp_path, path="a", old="new", new="new\ntheirs")
    await call(edit, tmp_path, path="a", old="new", new="newer")
    assert "has changed since it was read" in (await rewrite(mine, tmp_path)).text
