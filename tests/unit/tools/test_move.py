"""The tools `move_path` and `delete_path`."""

import os
from pathlib import Path

import pytest

from pails.core.events import Mode
from pails.core.ports import ToolResult
from pails.policy.gate import Gate
from pails.tools.files.documents import Documents
from pails.tools.files.places import MAX_FILES
from pails.tools.move import DeletePath, MovePath
from pails.tools.registry import Proposal
from tests.support import zoo
from tests.support.calls import call, call_context, propose
from tests.support.editor import MemoryEditor


async def move(folder: Path, path: str, to: str, editor: MemoryEditor | None = None) -> ToolResult:
    return await call(MovePath(Documents(editor)), folder, path=path, to=to)


async def delete(folder: Path, path: str, **arguments: object) -> ToolResult:
    return await call(DeletePath(Documents()), folder, path=path, **arguments)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")


async def test_a_file_is_moved_with_its_folders_made(tmp_path):
    put(tmp_path, "a.py")
    (tmp_path / "a.py").chmod(0o755)
    result = await move(tmp_path, "a.py", "x/y/b.py")
    assert (result.text, result.is_error) == ("Moved a.py to x/y/b.py.", False)
    moved = tmp_path / "x" / "y" / "b.py"
    assert (moved.read_text(), moved.stat().st_mode & 0o777) == ("a.py\n", 0o755)
    gone, there = result.changes
    assert (gone.path, gone.before, gone.after) == (tmp_path / "a.py", "a.py\n", None)
    assert (there.before, there.after, there.moved_from) == (None, "a.py\n", tmp_path / "a.py")


async def test_a_folder_is_moved_as_a_whole(tmp_path):
    put(tmp_path, "src/a", "src/deep/b")
    (tmp_path / "src" / "link").symlink_to("a")
    (tmp_path / "src" / "png").write_bytes(zoo.PNG)
    result = await move(tmp_path, "src", "lib")
    assert result.text == "Moved src to lib with 4 files."
    assert sorted(os.listdir(tmp_path / "lib")) == ["a", "deep", "link", "png"]
    assert not (tmp_path / "src").exists()
    binaries = {change.path.name for change in result.changes if change.binary}
    assert binaries == {"link", "png"}
    assert {change.before for change in result.changes if change.binary} == {"", None}


@pytest.mark.parametrize("target", ["b", "folder", "link"])
async def test_nothing_is_moved_onto_anything(tmp_path, target):
    put(tmp_path, "a", "b")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    result = await move(tmp_path, "a", target)
    assert result.text == (
        f"{target} exists already, and nothing is moved onto anything. Nothing was done."
    )
    assert (tmp_path / "a").read_text() == "a\n"
    assert (tmp_path / "b").read_text() == "b\n"


async def test_what_appears_at_the_target_meanwhile_stays(tmp_path):
    put(tmp_path, "a")
    proposal = await propose(MovePath(Documents()), tmp_path, path="a", to="b")
    assert isinstance(proposal, Proposal)
    (tmp_path / "b").write_text("theirs\n")
    result = await proposal.run()
    assert "exists already. Nothing was moved" in result.text
    assert (tmp_path / "b").read_text() == "theirs\n"
    assert (tmp_path / "a").exists()


async def test_what_makes_no_sense_is_refused(tmp_path):
    put(tmp_path, "src/a")
    assert "inside of what is to be moved" in (await move(tmp_path, "src", "src/new")).text
    assert "the workspace itself" in (await move(tmp_path, ".", "x")).text
    assert "the workspace itself" in (await delete(tmp_path, "..", recursive=True)).text
    assert "does not exist" in (await move(tmp_path, "none", "x")).text
    assert "does not exist" in (await delete(tmp_path, "none")).text
    assert (tmp_path / "src" / "a").exists()


async def test_a_link_that_no_longer_leads_where_it_did_is_named(tmp_path):
    put(tmp_path, "a", "src/b", "lib/deep/src/b")
    for name, target in {
        "lost": "../a",
        "elsewhere": "../src/b",
        "within": "b",
        "whole": str(tmp_path / "a"),
        "never": "nowhere",
    }.items():
        (tmp_path / "src" / name).symlink_to(target)
    result = await move(tmp_path, "src", "lib/deep/moved")
    assert not result.is_error
    assert result.text == (
        "Moved src to lib/deep/moved with 6 files.\nThese links are relative and no longer lead "
        "where they did: lib/deep/moved/elsewhere, lib/deep/moved/lost. Mend them with run_command."
    )
    assert (tmp_path / "lib" / "deep" / "moved" / "within").read_text() == "src/b\n"


async def test_a_link_goes_and_what_it_leads_to_stays(tmp_path):
    put(tmp_path, "a", "folder/b")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "way").symlink_to("folder")
    await move(tmp_path, "link", "moved")
    assert (tmp_path / "moved").is_symlink()
    for name in ("moved", "way"):
        assert not (await delete(tmp_path, name)).is_error
    assert sorted(os.listdir(tmp_path)) == ["a", "folder"]
    assert (tmp_path / "folder" / "b").exists()


async def test_a_file_is_deleted_and_its_text_is_kept_in_the_change(tmp_path):
    put(tmp_path, "a")
    proposal = await propose(DeletePath(Documents()), tmp_path, path="a")
    assert isinstance(proposal, Proposal)
    assert proposal.diff.endswith("@@ -1 +0,0 @@\n-a\n")
    result = await proposal.run()
    assert result.text == "Deleted a."
    assert not (tmp_path / "a").exists()
    (change,) = result.changes
    assert (change.before, change.after, change.binary) == ("a\n", None, False)


async def test_a_folder_goes_only_when_that_is_said(tmp_path):
    put(tmp_path, "src/a", "src/deep/b")
    (tmp_path / "src" / "empty").mkdir()
    refused = await delete(tmp_path, "src")
    assert refused.text == (
        "src is a folder with 2 files: set recursive to delete all. Nothing was done."
    )
    proposal = await propose(DeletePath(Documents()), tmp_path, path="src", recursive=True)
    assert isinstance(proposal, Proposal)
    assert proposal.text == "Delete src with all that is in it\nsrc/a\nsrc/deep/b"
    result = await proposal.run()
    assert result.text == "Deleted src with 2 files."
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").mkdir()
    assert not (await delete(tmp_path, "empty")).is_error


async def test_what_came_into_the_folder_meanwhile_stops_the_deletion(tmp_path):
    put(tmp_path, "src/a")
    proposal = await propose(DeletePath(Documents()), tmp_path, path="src", recursive=True)
    assert isinstance(proposal, Proposal)
    put(tmp_path, "src/new")
    result = await proposal.run()
    assert "has changed since it was looked at" in result.text
    assert sorted(os.listdir(tmp_path / "src")) == ["a", "new"]


async def test_a_deletion_that_stops_half_way_says_what_is_gone(tmp_path, monkeypatch):
    put(tmp_path, "src/a", "src/b", "src/c")
    unlink = Path.unlink

    def busy(path: Path, missing_ok: bool = False) -> None:
        if path.name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", busy)
    result = await delete(tmp_path, "src", recursive=True)
    assert result.is_error
    assert "Permission denied" in result.text
    assert "Gone by now: 1 file." in result.text
    assert [change.path.name for change in result.changes] == ["a"]
    assert sorted(os.listdir(tmp_path / "src")) == ["b", "c"]


async def test_a_huge_folder_is_left_to_a_command(tmp_path):
    (tmp_path / "src").mkdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / "src" / str(number)).touch()
    for result in (await delete(tmp_path, "src", recursive=True), await move(tmp_path, "src", "b")):
        assert "holds more than 500 files. Use run_command" in result.text
    assert (tmp_path / "src").exists()


@pytest.mark.parametrize("name", [".env", ".git/config", ".vscode/tasks.json", "key.pem"])
async def test_a_folder_with_what_each_write_asks_about_stays(tmp_path, name):
    put(tmp_path, f"src/{name}", "src/a")
    for result in (await delete(tmp_path, "src", recursive=True), await move(tmp_path, "src", "b")):
        assert result.is_error
        assert result.text.startswith("paths: src/")
        assert ".." not in result.text
    assert (tmp_path / "src" / name).exists()


async def test_a_folder_cannot_become_one_that_starts_programs(tmp_path):
    put(tmp_path, "src/tasks.json")
    result = await move(tmp_path, "src", ".vscode")
    assert "decides what programs run" in result.text
    assert (tmp_path / "src").exists()


def test_the_gate_judges_both_paths_and_asks_before_a_folder_goes(tmp_path):
    context = call_context(tmp_path)
    tool = MovePath(Documents())
    action = tool.action(tool.parameters(path="a", to="../b"), context)
    assert action.writes == (tmp_path / "a", tmp_path / "../b")
    assert Gate().judge(action, Mode.AUTO, tmp_path).verdict == "deny"
    deleting = DeletePath(Documents())
    for recursive, verdict in ((False, "allow"), (True, "ask")):
        action = deleting.action(deleting.parameters(path="a", recursive=recursive), context)
        decision = Gate().judge(action, Mode.AUTO, tmp_path)
        assert decision.verdict == verdict
    assert "cannot be taken back" in decision.reason


# -- open documents -------------------------------------------------------------------------------


async def test_what_is_unsaved_stays_where_it_is(tmp_path):
    put(tmp_path, "src/a")
    editor = MemoryEditor()
    editor.open(tmp_path / "src" / "a", "unsaved\n")
    editor.open(tmp_path / "src" / "not there yet", "")
    documents = Documents(editor)
    for result in (
        await call(MovePath(documents), tmp_path, path="src/a", to="b"),
        await call(MovePath(documents), tmp_path, path="src", to="b"),
        await call(DeletePath(documents), tmp_path, path="src/a"),
        await call(DeletePath(documents), tmp_path, path="src", recursive=True),
    ):
        assert result.is_error
        assert "unsaved text in the editor" in result.text
    assert (tmp_path / "src" / "a").read_text() == "src/a\n"
    assert "not there yet" in (await move(tmp_path, "src", "b", editor)).text


@pytest.mark.parametrize("relocates", [True, False])
async def test_open_documents_follow_where_the_editor_can(tmp_path, relocates):
    put(tmp_path, "a", "gone", "src/b")
    editor = MemoryEditor()
    editor.relocates = relocates
    for name in ("a", "gone", "src/b"):
        editor.open(tmp_path / name, f"{name}\n")
    documents = Documents(editor)
    for tool, arguments in (
        (MovePath(documents), {"path": "a", "to": "new/a"}),
        (DeletePath(documents), {"path": "gone"}),
        (MovePath(documents), {"path": "src", "to": "lib"}),
    ):
        result = await call(tool, tmp_path, **arguments)
        assert not result.is_error, result.text
    names = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert names == ["lib/b", "new/a"]
    opened = {str(path.relative_to(tmp_path)) for path in editor.buffers}
    assert opened == ({"lib/b", "new/a"} if relocates else {"a", "gone", "src/b"})
    assert len(editor.labels) == (3 if relocates else 0)


async def test_a_refusal_of_the_editor_is_said(tmp_path):
    put(tmp_path, "a")
    editor = MemoryEditor()
    editor.relocates, editor.refusal = True, "it is read-only"
    editor.open(tmp_path / "a", "a\n")
    result = await move(tmp_path, "a", "b", editor)
    assert result.text == "Nothing was done, because it is read-only."
    assert (tmp_path / "a").exists()


async def test_an_editor_that_only_says_it_did_is_not_believed(tmp_path):
    class Liar(MemoryEditor):
        async def relocate(self, path, target, label):
            outcome = await super().relocate(path, target, label)
            path.write_text("still here")
            return outcome

    put(tmp_path, "a")
    editor = Liar()
    editor.relocates = True
    editor.open(tmp_path / "a", "a\n")
    result = await move(tmp_path, "a", "b", editor)
    assert result.is_error
    assert "not known what the editor did with a" in result.text
