"""The tool `apply_patch`: everything fits before anything is written, and nothing is half done."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pails.core.errors import StorageError
from pails.core.ports import ToolResult
from pails.host import files
from pails.tools.files.documents import Documents
from pails.tools.patch import ApplyPatch
from pails.tools.registry import Proposal
from pails.tools.text.diff import unified
from pails.tools.text.edit import EditError
from pails.tools.text.hunk_places import apply_patch_hunks
from pails.tools.text.patch_reader import PatchHunk
from pails.tools.text.patch_text import parse_patch
from tests.support.calls import call, call_context, propose
from tests.support.editor import MemoryEditor


def envelope(*parts: str) -> str:
    return "\n".join(("*** Begin Patch", *parts, "*** End Patch"))


async def apply(folder: Path, *parts: str, editor: MemoryEditor | None = None) -> ToolResult:
    return await call(ApplyPatch(Documents(editor)), folder, patch=envelope(*parts))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_several_files_are_changed_added_moved_and_deleted(tmp_path):
    (tmp_path / "a.py").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (tmp_path / "old.py").write_bytes(b"x = 1\n")
    (tmp_path / "gone.py").write_bytes(b"bye\n")
    result = await apply(
        tmp_path,
        *("*** Update File: a.py", "@@", " one", "-two", "+2"),
        *("*** Add File: new/b.py", "+hello"),
        *("*** Update File: old.py", "*** Move to: lib/new.py", "@@", "-x = 1", "+x = 2"),
        "*** Delete File: gone.py",
    )
    assert not result.is_error, result.text
    assert tree(tmp_path) == {
        "a.py": b"one\r\n2\r\nthree\r\n",
        "new/b.py": b"hello\n",
        "lib/new.py": b"x = 2\n",
    }
    assert result.text.splitlines() == [
        "Changed 4 files:",
        "- Updated a.py: +1 −1.",
        "- Created new/b.py: +1 −0.",
        "- Moved old.py to lib/new.py: +1 −1.",
        "- Deleted gone.py: +0 −1.",
    ]
    changed = [(c.path.name, c.before is None, c.after is None) for c in result.changes]
    assert changed == [
        *(("a.py", False, False), ("b.py", True, False), ("old.py", False, True)),
        *(("new.py", True, False), ("new.py", False, False), ("gone.py", False, True)),
    ]
    assert result.changes[3].moved_from == tmp_path / "old.py"


async def test_one_wrong_entry_and_nothing_is_applied(tmp_path):
    for name in ("a", "there", "src"):
        (tmp_path / name).write_bytes(f"{name}\n".encode())
    before = tree(tmp_path)
    result = await apply(
        tmp_path,
        *("*** Update File: a", "@@", "-a", "+b"),
        *("*** Update File: missing", "@@", "-a", "+b"),
        *("*** Add File: there", "+x"),
        *("*** Update File: src", "*** Move to: there"),
        *("*** Delete File: nothing", "*** Add File: c", "+c"),
    )
    assert result.is_error
    assert result.text.startswith("Nothing of the patch was applied: ")
    for wrong in (
        *("- missing does not exist", "- there exists already, so it cannot be added"),
        *("- there exists already, so src cannot be moved there", "- nothing does not exist"),
    ):
        assert wrong in result.text
    assert "- a" not in result.text
    assert tree(tmp_path) == before


async def test_a_file_named_twice_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    result = await apply(tmp_path, "*** Delete File: a", "*** Add File: ./a", "+b")
    assert "a is named by several entries" in result.text
    assert tree(tmp_path) == {"a": b"a\n"}


@pytest.mark.parametrize("other", ["sub/../a", "link"])
async def test_a_file_named_twice_in_other_words_is_refused_too(tmp_path, other):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"a\n")
    (tmp_path / "link").symlink_to("a")
    entries = [line for n in ("a", other) for line in (f"*** Update File: {n}", "@@", "-a", "+b")]
    result = await apply(tmp_path, *entries)
    assert "Nothing of the patch was applied" in result.text
    assert "named by several entries" in result.text
    assert (tmp_path / "a").read_bytes() == b"a\n"


async def test_a_diff_takes_away_only_the_text_that_it_shows(tmp_path):
    (tmp_path / "a").write_bytes(b"a\nmore\n")
    tool = ApplyPatch(Documents())
    for shown in ("-a\n", "-b\n"):
        patch = f"--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n{shown}"
        result = await call(tool, tmp_path, patch=patch)
        assert "another text than the patch takes away" in result.text
        assert tree(tmp_path) == {"a": b"a\nmore\n"}
    whole = "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-more\n"
    assert not (await call(tool, tmp_path, patch=whole)).is_error
    assert tree(tmp_path) == {}


async def test_links_are_neither_moved_nor_deleted_by_a_patch(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    (tmp_path / "link").symlink_to("a")
    for entry in (("*** Delete File: link",), ("*** Update File: link", "*** Move to: sub/b")):
        result = await apply(tmp_path, *entry)
        assert "link is a link, and those are for move_path and delete_path" in result.text
    assert (tmp_path / "link").is_symlink()
    assert not (tmp_path / "sub").exists()


async def test_what_cannot_be_added_says_why(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    result = await apply(tmp_path, "*** Add File: a/b", "+x")
    assert "a/b cannot be read: Not a directory" in result.text


async def test_a_link_that_leads_nowhere_is_not_added_onto(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path.parent / "elsewhere")
    result = await apply(tmp_path, "*** Add File: link", "+x")
    assert "exists already" in result.text
    assert not (tmp_path.parent / "elsewhere").exists()


async def test_what_is_no_patch_is_said(tmp_path):
    result = await call(ApplyPatch(Documents()), tmp_path, patch="*** Begin Patch\nx")
    assert result.is_error
    assert result.text.startswith("This is no patch. Line 2 ('x'):")


def test_the_gate_sees_every_path(tmp_path):
    tool = ApplyPatch(Documents())
    patch = envelope(
        "*** Delete File: a", "*** Update File: b", "*** Move to: c", "*** Add File: d"
    )
    action = tool.action(tool.parameters(patch=patch), call_context(tmp_path))
    assert [path.name for path in action.writes] == ["a", "b", "c", "d"]
    assert [path.name for path in action.reads] == ["a", "b"]


@pytest.mark.parametrize("failing", ["b", "c"])
async def test_a_full_disk_in_the_middle_leaves_nothing(tmp_path, monkeypatch, failing):
    (tmp_path / "a").write_bytes(b"a\r\n")
    (tmp_path / "a").chmod(0o755)
    (tmp_path / "c").write_bytes("é\n".encode("utf-16"))
    write = files.write_atomic

    def full(path: Path, data: bytes) -> None:
        if path.name == failing:
            raise StorageError(f"{path}: No space left on device.", "No space left on device")
        write(path, data)

    before = tree(tmp_path)
    monkeypatch.setattr(files, "write_atomic", full)
    result = await apply(
        tmp_path,
        *("*** Update File: a", "@@", "-a", "+A", "*** Add File: b", "+b"),
        *("*** Update File: c", "@@", "-é", "+e"),
    )
    assert result.is_error
    assert "No space left" in result.text
    assert "No file of this call is changed" in result.text
    assert (result.changes, tree(tmp_path)) == ((), before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755


async def test_what_cannot_be_put_back_is_named(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_bytes(f"{name}\n".encode())
    write = files.write_atomic

    def full(path: Path, data: bytes) -> None:
        if path.name == "b":
            (tmp_path / "a").write_bytes(b"theirs\n")  # while it failed, somebody went on
            raise StorageError("No space left on device.")
        write(path, data)

    monkeypatch.setattr(files, "write_atomic", full)
    edits = [line for n in "ab" for line in (f"*** Update File: {n}", "@@", f"-{n}", "+x")]
    result = await apply(tmp_path, *edits)
    assert "Changed, and not put back: a." in result.text
    assert [change.path.name for change in result.changes] == ["a"]
    assert tree(tmp_path) == {"a": b"theirs\n", "b": b"b\n"}


async def test_a_deletion_that_fails_puts_the_others_back(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes("é\n".encode("utf-16"))
    (tmp_path / "a").chmod(0o751)
    (tmp_path / "twin").hardlink_to(tmp_path / "a")
    (tmp_path / "b").write_bytes(b"b\n")
    before = tree(tmp_path)
    tool = ApplyPatch(Documents())
    patch = envelope("*** Delete File: a", "*** Delete File: b")
    proposal = await propose(tool, tmp_path, patch=patch)
    assert isinstance(proposal, Proposal)
    unlink = Path.unlink

    def busy(path: Path, missing_ok: bool = False) -> None:
        if path.name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", busy)
    result = await proposal.run()
    assert result.is_error
    assert "Permission denied" in result.text
    assert "No file of this call is changed" in result.text
    assert tree(tmp_path) == before
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o751
    assert (tmp_path / "a").samefile(tmp_path / "twin")


async def test_deletions_leave_nothing_behind(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(b"x\n")
    result = await apply(tmp_path, "*** Delete File: a", "*** Delete File: b")
    assert not result.is_error
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_changed_meanwhile_stops_all_before_the_first_write(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(f"{name}\n".encode())
    edits = [line for n in "ab" for line in (f"*** Update File: {n}", "@@", f"-{n}", "+x")]
    proposal = await propose(ApplyPatch(Documents()), tmp_path, patch=envelope(*edits))
    assert isinstance(proposal, Proposal)
    (tmp_path / "b").write_bytes(b"theirs\n")
    untouched = (tmp_path / "a").stat().st_mtime_ns
    result = await proposal.run()
    assert "b has changed since it was read: another program, or a command, wrote it" in result.text
    assert (tmp_path / "a").stat().st_mtime_ns == untouched, "neither written nor put back"
    assert tree(tmp_path) == {"a": b"a\n", "b": b"theirs\n"}


async def test_unsaved_text_is_patched_and_never_moved_or_deleted(tmp_path):
    editor = MemoryEditor()
    for name in "abc":
        (tmp_path / name).write_bytes(b"disk\n")
        editor.open(tmp_path / name, "disk\nunsaved\n")
    patched = await apply(
        tmp_path, "*** Update File: a", "@@", "-unsaved", "+changed", editor=editor
    )
    assert "not on disk yet" in patched.text
    assert editor.text(tmp_path / "a") == "disk\nchanged\n"
    for entry in (("*** Delete File: b",), ("*** Update File: c", "*** Move to: d")):
        result = await apply(tmp_path, *entry, editor=editor)
        assert "has unsaved text in the editor" in result.text
    assert set(tree(tmp_path)) == {"a", "b", "c"}


# -- where hunks belong ---------------------------------------------------------------------------


def patched(text: str, *hunks: PatchHunk) -> str:
    made = apply_patch_hunks(text, hunks)
    assert not isinstance(made, EditError), made
    return made[0]


REPEATED = "def a():\n    pass\n\ndef b():\n    pass\n\ndef c():\n    pass\n"


def test_an_anchor_chooses_among_equal_places():
    hunk = PatchHunk(("    pass",), ("    return",), ("def b():",))
    assert patched(REPEATED, hunk) == REPEATED.replace("b():\n    pass", "b():\n    return")


def test_a_line_number_chooses_the_nearest_place():
    hunks = (
        PatchHunk(("def a():",), ("# new", "# lines", "def a():"), line=0),
        PatchHunk(("    pass",), ("    return",), line=7),
    )
    assert patched(REPEATED, *hunks).endswith("def c():\n    return\n")


def test_the_hunk_before_and_the_end_choose_too():
    end = PatchHunk(("    pass",), ("    end",), at_end=True)
    assert patched(REPEATED, end).endswith("c():\n    end\n")
    after = PatchHunk(("    pass",), ("    after",))
    assert patched(REPEATED, PatchHunk(("def c():",), ("def d():",)), after).endswith(
        "def d():\n    after\n"
    )


def test_equal_places_are_an_error_with_their_lines():
    made = apply_patch_hunks(REPEATED, [PatchHunk(("    pass",), ("x",))])
    assert isinstance(made, EditError)
    assert "hunk 1 of 1: the old text occurs 3 times (lines 2, 5, 8)" in made.message


def test_an_anchor_that_is_nowhere_is_named():
    made = apply_patch_hunks(REPEATED, [PatchHunk(("    pass",), ("x",), ("def z():",))])
    assert isinstance(made, EditError)
    assert "no line is 'def z():'" in made.message


def test_only_whole_lines_match():
    assert patched("ab\nb\n", PatchHunk(("b",), ("c",))) == "ab\nc\n"


def test_a_near_match_is_said():
    made = apply_patch_hunks("if x:\n\ty = 1  \n", [PatchHunk(("if x:", "\ty = 1"), ("z",))])
    assert not isinstance(made, EditError)
    assert made == ("z\n", made[1])
    assert made[1].startswith("Hunk 1: Approximate match, lines 1-2")


@pytest.mark.parametrize(
    ("text", "hunk", "after"),
    [
        ("a\nb", PatchHunk(("b",), ("b", "c")), "a\nb\nc"),
        ("a\nb", PatchHunk(("b",), ("c",)), "a\nc"),
        ("a\nb", PatchHunk(("b",), ()), "a\n"),
        ("a", PatchHunk(("a",), ()), ""),
        ("a\r\nb\r\n", PatchHunk(("a",), ("a", "x")), "a\r\nx\r\nb\r\n"),
        ("a\n", PatchHunk((), ("b",)), "a\nb\n"),
        ("a", PatchHunk((), ("b",)), "a\nb"),
        ("", PatchHunk((), ("b",)), "b\n"),
        ("a\nb\n", PatchHunk((), ("x",), line=1), "a\nx\nb\n"),
        ("a\nb\n", PatchHunk((), ("x",), ("a",)), "a\nx\nb\n"),
        ("a\n\nb\n", PatchHunk(("",), ("-",)), "a\n-\nb\n"),
    ],
)
def test_the_ends_of_files(text, hunk, after):
    assert patched(text, hunk) == after


LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", "  d", "-- x", "++ y"]), min_size=1, max_size=12
)


@given(
    before=LINES,
    after=LINES,
    ends=st.tuples(st.sampled_from(["", "\n"]), st.sampled_from(["", "\n"])),
)
@example(["a", "-- x", "b"], ["a", "++ y", "b"], ("\n", "\n"))
def test_our_own_diffs_can_be_applied(before, after, ends):
    old, new = ("\n".join(lines) + end for lines, end in zip((before, after), ends, strict=True))
    diff = unified("x", old, new).text
    if diff:
        assert patched(old, *parse_patch(diff)[0].hunks) == new
