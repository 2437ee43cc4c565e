"""Proposals that a person takes in part or changes, and several edits in one call."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from pails.core.ports import ToolResult
from pails.tools.edit_file import EditFile, EditFileParameters
from pails.tools.files.documents import Documents
from pails.tools.patch import ApplyPatch
from pails.tools.read_file import ReadFile
from pails.tools.registry import Proposal, ProposedFile
from pails.tools.write_file import WriteFile
from tests.support.calls import call, propose

PATCH = """*** Begin Patch
*** Update File: a
@@
-one
+1
*** Add File: new
+hello
*** Delete File: gone
*** Update File: old
*** Move to: moved
@@
-four
+4
*** End Patch"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("a", "one\ntwo\n"), ("gone", "three\n"), ("old", "four\n")):
        (tmp_path / name).write_text(text)
    return tmp_path


async def proposed(folder: Path, **arguments: object) -> Proposal:
    documents = Documents()
    name = str(arguments.pop("tool"))
    if name == "write_file":
        await call(ReadFile(documents), folder, path=arguments["path"])
    tools = {"write_file": WriteFile, "edit_file": EditFile, "apply_patch": ApplyPatch}
    proposal = await propose(tools[name](documents), folder, **arguments)
    assert isinstance(proposal, Proposal)
    return proposal


async def revised(proposal: Proposal, texts: dict[Path, str]) -> ToolResult:
    assert proposal.revise
    return await proposal.revise(texts).run()


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool": "write_file", "content": "1\ntwo\n"},
        {"tool": "edit_file", "old": "one", "new": "1"},
    ],
)
async def test_what_the_person_wrote_is_written_and_told(folder, arguments):
    proposal = await proposed(folder, path="a", **arguments)
    assert proposal.files == (ProposedFile(folder / "a", "one\ntwo\n", "1\ntwo\n"),)
    result = await revised(proposal, {folder / "a": "1\ntwo\n# mine\n"})
    assert not result.is_error
    assert "The person changed this call before they allowed it." in result.text
    assert "From your text to what they wrote instead:\n--- a/a\n+++ b/a\n" in result.text
    assert "\n+# mine" in result.text
    assert (folder / "a").read_text() == "1\ntwo\n# mine\n"
    (change,) = result.changes
    assert change.after == "1\ntwo\n# mine\n"


async def test_a_text_as_it_was_leaves_the_file_alone(folder):
    proposal = await proposed(folder, tool="edit_file", path="a", old="one", new="1")
    result = await revised(proposal, {folder / "a": "one\ntwo\n"})
    assert result.is_error
    assert result.text.startswith("Nothing was written. The person changed this call")
    assert (folder / "a").read_text() == "one\ntwo\n"


async def test_nothing_revised_is_the_same_call(folder):
    proposal = await proposed(folder, tool="edit_file", path="a", old="one", new="1")
    assert (await revised(proposal, {})).text == "Edited a: 1 replacement, +1 −1."


async def test_of_a_patch_a_part_can_be_taken(folder):
    proposal = await proposed(folder, tool="apply_patch", patch=PATCH)
    assert proposal.files == (
        ProposedFile(folder / "a", "one\ntwo\n", "1\ntwo\n"),
        ProposedFile(folder / "new", None, "hello\n"),
        ProposedFile(folder / "gone", "three\n", None),
        ProposedFile(folder / "old", "four\n", None),
        ProposedFile(folder / "moved", None, "4\n"),
    )
    result = await revised(
        proposal,
        {folder / "new": "", folder / "gone": "three\n", folder / "moved": "vier\n"},
    )
    assert not result.is_error, result.text
    names = {path.name: path.read_text() for path in folder.iterdir()}
    assert names == {"a": "1\ntwo\n", "gone": "three\n", "moved": "vier\n"}
    assert "They left new as it was.\nThey left gone as it was." in result.text
    assert "-4\n+vier" in result.text


async def test_a_move_that_the_person_does_not_want_is_left(folder):
    proposal = await proposed(folder, tool="apply_patch", patch=PATCH)
    await revised(proposal, {folder / "old": "four\n"})
    assert (folder / "old").read_text() == "four\n"
    assert not (folder / "moved").exists()


async def test_of_a_deletion_a_part_can_be_taken(folder):
    proposal = await proposed(folder, tool="apply_patch", patch=PATCH)
    await revised(proposal, {folder / "gone": "kept\n"})
    assert (folder / "gone").read_text() == "kept\n"


# -- several edits --------------------------------------------------------------------------------


async def edit(folder: Path, *edits: Mapping[str, object], **first: object) -> ToolResult:
    return await call(EditFile(Documents()), folder, path="a", edits=list(edits), **first)


async def test_each_edit_is_made_in_the_outcome_of_the_one_before(folder):
    first, second = {"old": "one", "new": "1"}, {"old": "1\ntwo", "new": "1\n2"}
    result = await edit(folder, second, **first)
    assert result.text == "Edited a: 2 replacements, +2 −2."
    assert (folder / "a").read_text() == "1\n2\n"


@pytest.mark.parametrize("also_alone", [True, False])
async def test_the_first_edit_may_stand_in_the_list(folder, also_alone):
    first, second = {"old": "one", "new": "1"}, {"old": "two", "new": "2"}
    result = await edit(folder, first, second, **(first if also_alone else {}))
    assert not result.is_error, result.text
    assert (folder / "a").read_text() == "1\n2\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": '[{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]'},
        {"old": "", "new": "", "edits": [{"old": "one\ntwo", "new": "1\n2"}]},
        {"edits": {"old": "one\ntwo", "new": "1\n2"}},
        {"old": "one\ntwo", "new": "1\n2", "replace_all": False, "edits": None},
        {
            **{"old": "one", "new": "1", "replace_all": False},
            "edits": [{"old": "one", "new": "1"}, {"old": "two", "new": "2"}],
        },
        {"old": "one", "new": "1", "edits": '{"old": "two", "new": "2"}'},
    ],
)
async def test_edits_come_in_many_shapes(folder, arguments):
    result = await call(EditFile(Documents()), folder, path="a", **arguments)
    assert not result.is_error, result.text
    assert (folder / "a").read_text() == "1\n2\n"


@pytest.mark.parametrize("edits", ["no JSON", "[1]", [{"old": "a"}], 3])
def test_edits_that_are_none_are_refused(edits):
    with pytest.raises(ValidationError):
        EditFileParameters.model_validate({"path": "a", "old": "a", "new": "b", "edits": edits})


async def test_one_edit_that_fails_and_none_is_made(folder):
    first, second = {"old": "one", "new": "1"}, {"old": "three", "new": "3"}
    result = await edit(folder, second, {"old": "two", "new": "2"}, **first)
    assert result.is_error
    assert "Edit 2 of 3 cannot be made, so none of them was: `old` was not found" in result.text
    assert (folder / "a").read_text() == "one\ntwo\n"


async def test_edits_that_undo_each_other_are_said(folder):
    result = await edit(folder, {"old": "1", "new": "one"}, old="one", new="1")
    assert "together they would change nothing" in result.text


async def test_a_note_says_which_edit_was_approximate(folder):
    (folder / "a").write_text("one  \ntwo\n")
    result = await edit(folder, {"old": "two", "new": "2"}, old="one\ntwo", new="1\ntwo")
    assert "Edit 1 of 2: Approximate match, lines 1-2" in result.text
