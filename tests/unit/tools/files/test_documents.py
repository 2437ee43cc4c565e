"""Documents: where a write goes, and that nothing is written on a base that is gone."""

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pails.core.errors import StorageError
from pails.core.ports import Buffer, Change, EditOutcome, TextChange
from pails.host import files
from pails.tools.files.document import Document, Unreadable, Unwritten
from pails.tools.files.documents import Documents
from tests.support import zoo
from tests.support.editor import MemoryEditor


async def opened(documents: Documents, path: Path) -> Document:
    document = await documents.read(path)
    assert isinstance(document, Document), document
    return document


async def written(documents: Documents, document: Document, text: str) -> Change:
    change = await documents.write(document, text, "test")
    assert isinstance(change, Change), change
    return change


async def refused(documents: Documents, document: Document, text: str) -> str:
    error = await documents.write(document, text, "test")
    assert isinstance(error, Unwritten), error
    assert "Nothing was written" in error.message
    return error.message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"one\ntwo\n")
    return path


@pytest.mark.parametrize("animal", zoo.TEXTS, ids=lambda animal: animal.name)
async def test_encoding_and_mark_survive_a_write(tmp_path, animal):
    path = tmp_path / "a"
    path.write_bytes(animal.data)
    documents = Documents()
    document = await opened(documents, path)
    await written(documents, document, document.text + "x")
    added = "x".encode(animal.encoding)
    assert path.read_bytes() == animal.data + added


async def test_a_file_that_is_not_open_is_written_to_disk(path):
    documents = Documents(MemoryEditor())
    document = await opened(documents, path)
    change = await documents.write(document, [TextChange(0, 3, "ONE")], "test")
    assert change == Change(path, "one\ntwo\n", "ONE\ntwo\n", "disk")
    assert path.read_bytes() == b"ONE\ntwo\n"


async def test_a_new_file_is_made_with_its_folders(tmp_path):
    path = tmp_path / "x" / "y" / "new.py"
    documents = Documents()
    document = await documents.read_or_new(path)
    assert isinstance(document, Document)
    change = await written(documents, document, "text\n")
    assert change.before is None
    assert path.read_bytes() == b"text\n"


async def test_an_open_clean_buffer_is_edited_and_saved(path):
    editor = MemoryEditor()
    editor.open(path, "one\ntwo\n")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "one\n2\n")
    assert change == Change(path, "one\ntwo\n", "one\n2\n", "buffer")
    assert editor.text(path) == "one\n2\n"
    assert path.read_bytes() == b"one\n2\n"
    assert editor.labels == ["test"]


@pytest.mark.parametrize("saves", ["refuses", "lies"])
async def test_where_the_client_does_not_save_we_write_the_same_bytes(tmp_path, saves):
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfone\r\n")
    editor = MemoryEditor(saves)
    editor.open(path, "one\r\n")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "two\r\n")
    assert (change.target, change.saved) == ("buffer", True)
    assert editor.text(path) == "two\r\n"
    assert path.read_bytes() == b"\xef\xbb\xbftwo\r\n"


async def test_what_saving_made_of_the_text_is_told(path):
    editor = MemoryEditor("formats")
    editor.open(path, "one\ntwo\n")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "one\n2\n")
    assert change.after == "one\n2\n# formatted\n"


async def test_a_dirty_buffer_is_the_base_and_stays_unsaved(path):
    editor = MemoryEditor()
    editor.open(path, "one\ntwo\nunsaved\n")
    documents = Documents(editor)
    document = await opened(documents, path)
    assert document.dirty
    assert document.text == "one\ntwo\nunsaved\n"
    change = await documents.write(document, [TextChange(0, 3, "ONE")], "test")
    assert isinstance(change, Change)
    assert (change.target, change.saved) == ("buffer", False)
    assert editor.text(path) == "ONE\ntwo\nunsaved\n"
    assert path.read_bytes() == b"one\ntwo\n"


async def test_an_edit_that_cannot_be_saved_says_why(tmp_path):
    class LostFolder(MemoryEditor):
        """While the person is asked to save, a file takes the place of the folder."""

        async def save(self, path: Path) -> bool:
            shutil.rmtree(path.parent)
            path.parent.touch()
            return False

    path = tmp_path / "folder" / "a"
    path.parent.mkdir()
    path.write_bytes(b"one\n")
    editor = LostFolder()
    editor.open(path, "one\n")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "two\n")
    assert (change.target, change.saved) == ("buffer", False)
    assert change.unsaved == "the file cannot be read: Not a directory"
    assert editor.text(path) == "two\n"


async def test_a_full_disk_leaves_the_edit_in_the_buffer_and_says_so(path, monkeypatch):
    def full(*_: object) -> None:
        raise StorageError("a.py: No space left on device.", "No space left on device")

    editor = MemoryEditor("refuses")
    editor.open(path, "one\ntwo\n")
    documents = Documents(editor)
    document = await opened(documents, path)
    monkeypatch.setattr(files, "write_atomic", full)
    change = await written(documents, document, "one\n2\n")
    assert change.unsaved == "writing it to the disk failed: No space left on device"
    assert (editor.text(path), path.read_text()) == ("one\n2\n", "one\ntwo\n")


class RacedEditor(MemoryEditor):
    """While it applies an edit, a person or another program does something: `race`."""

    def __init__(self, race: Callable[[MemoryEditor, Path], None]) -> None:
        super().__init__("refuses")
        self.race = race

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        outcome = await super().apply(buffer, changes, label)
        self.race(self, buffer.path)
        return outcome


def type_on(editor: MemoryEditor, path: Path) -> None:
    editor.open(path, editor.text(path) + "typed\n", 7)


def type_on_and_save(editor: MemoryEditor, path: Path) -> None:
    type_on(editor, path)
    path.write_text(editor.text(path))


def another_program_writes(_: MemoryEditor, path: Path) -> None:
    path.write_text("one\ntwo\nfrom elsewhere\n")


@pytest.mark.parametrize(
    ("race", "unsaved", "on_disk"),
    [
        (type_on, "text was typed after it", "one\ntwo\n"),
        (type_on_and_save, None, "one\n2\ntyped\n"),
        (another_program_writes, "another program has", "one\ntwo\nfrom elsewhere\n"),
    ],
)
async def test_what_is_written_while_an_edit_is_applied_stays(path, race, unsaved, on_disk):
    editor = RacedEditor(race)
    editor.open(path, "one\ntwo\n")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "one\n2\n")
    assert (change.unsaved or "")[: len(unsaved or "")] == (unsaved or "")
    assert change.saved == (unsaved is None)
    assert path.read_text() == on_disk
    assert "2\n" in editor.text(path)


def say_applied_but_hold_another_text(editor: MemoryEditor, path: Path) -> None:
    editor.open(path, "one\ntwo\nraced\n", 7)


def close_it(editor: MemoryEditor, path: Path) -> None:
    del editor.buffers[path]


@pytest.mark.parametrize("race", [say_applied_but_hold_another_text, close_it])
async def test_an_edit_that_is_not_in_the_buffer_is_not_called_applied(path, race):
    editor = RacedEditor(race)
    editor.open(path, "one\ntwo\n")
    documents = Documents(editor)
    outcome = await documents.write(await opened(documents, path), "one\n2\n", "test")
    assert isinstance(outcome, Unwritten)
    assert "not known whether the edit was applied" in outcome.message
    assert path.read_text() == "one\ntwo\n"


async def test_a_buffer_without_a_file_is_edited_and_not_saved(tmp_path):
    editor = MemoryEditor()
    path = tmp_path / "untitled"
    editor.open(path, "draft")
    documents = Documents(editor)
    change = await written(documents, await opened(documents, path), "draft 2")
    assert (change.target, change.saved, change.before) == ("buffer", False, "draft")
    assert not path.exists()


async def test_an_edit_that_is_not_applied_changes_nothing(path):
    editor = MemoryEditor()
    editor.open(path, "one\ntwo\n")
    editor.refusal = "read-only"
    documents = Documents(editor)
    assert "read-only" in await refused(documents, await opened(documents, path), "x")
    assert path.read_bytes() == b"one\ntwo\n"


async def test_a_mark_in_the_buffer_moves_no_offset(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(zoo.BOM)
    editor = MemoryEditor("refuses")
    editor.open(path, "\ufeffimport os\r\n")
    documents = Documents(editor)
    document = await opened(documents, path)
    assert (document.text, document.dirty) == ("import os\r\n", False)
    await documents.write(document, [TextChange(7, 9, "re")], "test")
    assert editor.text(path) == "\ufeffimport re\r\n"
    assert path.read_bytes() == b"\xef\xbb\xbfimport re\r\n"


async def test_a_file_that_changed_on_disk_is_not_written(path):
    documents = Documents()
    document = await opened(documents, path)
    path.write_bytes(b"theirs\n")
    assert "changed" in await refused(documents, document, "ours\n")
    assert path.read_bytes() == b"theirs\n"


@pytest.mark.parametrize("event", ["typed", "disk", "opened with other text", "closed"])
async def test_what_happened_in_the_editor_meanwhile_is_not_overwritten(path, event):
    editor = MemoryEditor()
    documents = Documents(editor)
    if event != "opened with other text":
        editor.open(path, "one\ntwo\n")
    if event == "closed":
        editor.open(path, "one\ntwo\nunsaved\n")
    document = await opened(documents, path)
    match event:
        case "typed":
            editor.open(path, "one\ntwo\nmore\n", version=2)
        case "disk":
            path.write_bytes(b"theirs\n")
        case "closed":
            editor.buffers.clear()
        case _:
            editor.open(path, "one\ntwo\nmore\n")
    buffers, disk = dict(editor.buffers), path.read_bytes()
    await refused(documents, document, "ours\n")
    assert editor.buffers == buffers
    assert path.read_bytes() == disk


async def test_a_file_that_appeared_is_not_overwritten(tmp_path):
    documents = Documents()
    document = await documents.read_or_new(tmp_path / "new")
    assert isinstance(document, Document)
    (tmp_path / "new").write_bytes(b"")
    await refused(documents, document, "ours")


async def test_a_link_that_was_turned_elsewhere_is_not_followed(tmp_path):
    one, two, link = tmp_path / "one", tmp_path / "two", tmp_path / "link"
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    link.symlink_to("one")
    documents = Documents()
    document = await opened(documents, link)
    link.unlink()
    link.symlink_to("two")
    await refused(documents, document, "ours")
    assert two.read_bytes() == b"same"


async def test_of_two_edits_of_the_same_base_one_is_refused(path):
    documents = Documents()
    first, second = await opened(documents, path), await opened(documents, path)
    results = await asyncio.gather(
        documents.write(first, "first\n", ""), documents.write(second, "second\n", "")
    )
    assert sorted(isinstance(result, Change) for result in results) == [False, True]
    winner = next(result for result in results if isinstance(result, Change))
    assert path.read_text() == winner.after


async def test_characters_that_the_encoding_lacks_are_named(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(zoo.LATIN)
    documents = Documents()
    error = await refused(documents, await opened(documents, path), "你好")
    assert "cp1252" in error
    assert "U+4F60" in error
    assert path.read_bytes() == zoo.LATIN


async def test_a_text_with_broken_bytes_is_not_written_back(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(zoo.DAMAGED_UTF8)
    documents = Documents()
    await refused(documents, await opened(documents, path), "x")
    assert path.read_bytes() == zoo.DAMAGED_UTF8


async def test_a_cancelled_write_has_ended_when_the_cancellation_arrives(path, monkeypatch):
    documents = Documents()
    document = await opened(documents, path)
    flush, started = os.fsync, asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(descriptor: int) -> None:
        loop.call_soon_threadsafe(started.set)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    task = asyncio.create_task(documents.write(document, "new\n", ""))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert path.read_bytes() == b"new\n"
    assert os.listdir(path.parent) == ["a.py"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none", "missing"),
        ("folder", "directory"),
        ("png", "binary"),
        ("pipe", "denied"),
        ("circle", "denied"),
        ("png/x", "denied"),
    ],
)
async def test_what_is_no_text_is_a_value(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "png").write_bytes(zoo.PNG)
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    found = await Documents().read(tmp_path / name)
    assert isinstance(found, Unreadable)
    assert found.reason == reason


async def test_a_document_is_named_by_its_link_and_locked_by_its_target(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "alias").symlink_to("folder")
    (tmp_path / "folder" / "a").write_bytes(b"x")
    (tmp_path / "folder" / "link").symlink_to("a")
    document = await opened(Documents(), tmp_path / "alias" / "link")
    assert document.path == tmp_path / "folder" / "link"
    assert document.real == tmp_path / "folder" / "a"
