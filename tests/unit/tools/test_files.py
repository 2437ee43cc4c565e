"""The tools `read_file`, `list_dir`, `write_file` and `edit_file`."""

import os
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from pails.config import Config
from pails.core.events import Effect
from pails.core.ports import ToolResult
from pails.tools.builtin import builtin_tools
from pails.tools.edit_file import EditFile
from pails.tools.files.documents import Documents
from pails.tools.list_dir import MAX_ENTRIES, ListDir
from pails.tools.read_file import ReadFile
from pails.tools.registry import Proposal, ToolRegistry
from pails.tools.text.pages import PAGE_CHARS, PAGE_LINES
from pails.tools.write_file import WriteFile
from tests.support import zoo
from tests.support.calls import call, call_context, propose
from tests.support.editor import MemoryEditor

PATH_TOOLS = {"read_file", "list_dir", "write_file", "edit_file", "delete_path", "glob", "grep"}


def path_tools(documents):
    """The built-in tools that name paths."""
    tools = builtin_tools(documents, Config(), Path("/nowhere"), "")
    return [tool for tool in tools if tool.name in PATH_TOOLS]


async def read(folder: Path, **arguments: object) -> ToolResult:
    return await call(ReadFile(Documents()), folder, **arguments)


# -- read_file ------------------------------------------------------------------------------------


async def test_a_small_file_is_nothing_but_numbered_lines(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\r\n\r\ny = 2\r\n")
    result = await read(tmp_path, path="a.py")
    assert result.text == "1\tx = 1\n2\t\n3\ty = 2"
    assert result.summary == "3 lines"


@pytest.mark.parametrize("offset", [0, "0", "1", None, 1.0])
async def test_lines_that_are_counted_from_0_begin_at_the_first(tmp_path, offset):
    (tmp_path / "a").write_text("x\ny\n")
    assert (await read(tmp_path, path="a", offset=offset, limit=1)).text.endswith("1\tx")


async def test_every_line_of_a_long_file_is_reached_by_paging(tmp_path):
    lines = [f"line {n} " + "x" * (n % 50) for n in range(1, 9001)]
    (tmp_path / "long").write_text("\n".join(lines) + "\n")
    assert (tmp_path / "long").stat().st_size > 200_000
    seen: list[str] = []
    offset = 1
    for _ in range(100):
        result = await read(tmp_path, path="long", offset=offset)
        assert len(result.text) <= PAGE_CHARS + 200
        header, _, body = result.text.partition("\n")
        seen += [line.split("\t", 1)[1] for line in body.split("\n")]
        going_on = re.search(r"next: offset=(\d+)", header)
        if not going_on:
            break
        offset = int(going_on[1])
    assert seen == lines


async def test_a_page_says_which_part_it_is(tmp_path):
    (tmp_path / "a").write_text("1\n2\n3\n4\n")
    result = await read(tmp_path, path="a", offset=2, limit=2)
    assert result.text == "[lines 2-3 of 4 lines, 8 characters; next: offset=4]\n2\t2\n3\t3"


async def test_many_short_lines_stop_at_the_page(tmp_path):
    (tmp_path / "a").write_text("x\n" * (PAGE_LINES + 1))
    assert f"next: offset={PAGE_LINES + 1}]" in (await read(tmp_path, path="a")).text


async def test_a_huge_line_is_clipped_and_reached_by_columns(tmp_path):
    data = "".join(chr(0x4E00 + n % 20_000) for n in range(100_000)) + "😀"
    (tmp_path / "a").write_text(data)
    first = await read(tmp_path, path="a")
    assert len(first.text) < 3000
    assert "100,001 characters" in first.text
    shown = first.text.removeprefix("1\t").partition("… [")[0]
    going_on = re.search(r"next: offset=1 column=(\d+)", first.text)
    for _ in range(20):
        if not going_on:
            break
        part = await read(tmp_path, path="a", column=int(going_on[1]))
        header, _, body = part.text.partition("\n")
        shown += body.removeprefix("1\t")
        going_on = re.search(r"column=(\d+)\]", header)
    assert shown == data


async def test_a_line_of_megabytes_is_not_mistaken_for_an_empty_file(tmp_path):
    (tmp_path / "line").write_bytes(zoo.ONE_LINE)
    (tmp_path / "empty").write_bytes(b"")
    line, empty = await read(tmp_path, path="line"), await read(tmp_path, path="empty")
    assert "1,700,000 characters" in line.text
    assert len(line.text) < 3000
    assert empty.text == "[empty file]\n"


async def test_the_end_of_a_long_line_leads_to_the_next_line(tmp_path):
    (tmp_path / "a").write_text("x" * 3000 + "\nnext\n")
    result = await read(tmp_path, path="a", column=2001)
    assert result.text.startswith("[line 1, columns 2001-3000 of 3,000; next: offset=2]\n1\txxx")


async def test_places_outside_are_errors_that_say_the_size(tmp_path):
    (tmp_path / "a").write_text("1\n2\n")
    beyond = await read(tmp_path, path="a", offset=9)
    assert beyond.is_error
    assert "no line 9: 2 lines" in beyond.text
    assert (await read(tmp_path, path="a", column=9)).is_error


@pytest.mark.parametrize("animal", zoo.TEXTS, ids=lambda animal: animal.name)
async def test_every_kind_of_text_is_read_without_its_mark(tmp_path, animal):
    (tmp_path / "a").write_bytes(animal.data)
    result = await read(tmp_path, path="a")
    assert not result.is_error
    assert "\ufeff" not in result.text
    assert (f"encoding {animal.encoding}" in result.text) == (animal.encoding != "utf-8")


@pytest.mark.parametrize(("data", "kind"), zoo.BINARIES)
async def test_binary_is_reported_with_size_and_type(tmp_path, data, kind):
    (tmp_path / "a.py").write_bytes(data)
    result = await read(tmp_path, path="a.py")
    assert result.is_error
    assert result.text == f"a.py is binary: {len(data)} bytes, {kind}."


async def test_a_directory_points_to_list_dir(tmp_path):
    (tmp_path / "src").mkdir()
    result = await read(tmp_path, path="src/")
    assert (result.is_error, result.text) == (True, "src is a directory. Use list_dir.")


async def test_a_missing_file_names_similar_ones(tmp_path):
    (tmp_path / "Calculator.py").write_text("")
    result = await read(tmp_path, path="calculater.py")
    assert result.is_error
    assert "Similar: Calculator.py" in result.text
    assert "nor does its folder" in (await read(tmp_path, path="no/such")).text


async def test_what_is_similar_outside_is_not_named(tmp_path):
    (tmp_path / "wss").mkdir()
    (tmp_path / "ws").mkdir()
    text = (await read(tmp_path / "ws", path=str(tmp_path / "wsss"))).text
    assert "wss " not in text
    assert "Similar" not in text


@pytest.mark.parametrize("path", [".", "a", "src/a"])
async def test_a_workspace_that_is_gone_is_said(tmp_path, path):
    (tmp_path / "wss").mkdir()
    for result in (
        await read(tmp_path / "ws", path=path),
        await call(ListDir(), tmp_path / "ws", path=path),
    ):
        assert result.is_error
        assert result.text == "The workspace no longer exists. Tell the person."


async def test_unsaved_text_is_read_and_said(tmp_path):
    path = tmp_path / "a"
    path.write_text("disk\n")
    editor = MemoryEditor()
    editor.open(path, "buffer\n")
    result = await call(ReadFile(Documents(editor)), tmp_path, path="a")
    assert result.text == "[as the editor has it, not as on disk]\n1\tbuffer"
    editor.open(path, "disk\n")
    assert (await call(ReadFile(Documents(editor)), tmp_path, path="a")).text == "1\tdisk"


@pytest.mark.parametrize("path", ["a\0b", "a\ud83db", ""])
def test_paths_that_cannot_exist_are_refused(path):
    with pytest.raises(ValidationError):
        ReadFile(Documents()).parameters.model_validate({"path": path})


async def test_odd_paths_are_only_names(tmp_path):
    for name in ("~nobody-here", "-rf", "a b\nc"):
        (tmp_path / name).write_text("x")
        assert (await read(tmp_path, path=name)).text == "1\tx"


# -- list_dir -------------------------------------------------------------------------------------


async def test_a_listing_shows_directories_first_with_sizes(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / ".env").write_text("x")
    (tmp_path / "big").write_bytes(b"x" * 1500)
    (tmp_path / "link").symlink_to("src")
    result = await call(ListDir(), tmp_path)
    assert result.text == "src/\n.env\t1 B\nbig\t1.5 KB\nlink -> src"


async def test_a_long_listing_is_capped_and_counted(tmp_path):
    for n in range(MAX_ENTRIES + 7):
        (tmp_path / f"{n}").touch()
    result = await call(ListDir(), tmp_path)
    assert result.text.count("\n") == MAX_ENTRIES
    assert f"[7 of {MAX_ENTRIES + 7} entries not shown" in result.text


async def test_names_of_any_bytes_are_listed(tmp_path):
    (tmp_path / os.fsdecode(b"bad\xff")).touch()
    (tmp_path / "two\nlines").touch()
    text = (await call(ListDir(), tmp_path)).text
    text.encode()
    assert text == "bad\ufffd\t0 B\ntwo\\nlines\t0 B"


async def test_what_cannot_be_listed_is_said(tmp_path):
    (tmp_path / "a").touch()
    assert "is a file" in (await call(ListDir(), tmp_path, path="a")).text
    assert "does not exist" in (await call(ListDir(), tmp_path, path="b")).text
    (tmp_path / "empty").mkdir()
    assert (await call(ListDir(), tmp_path, path="empty")).text == "[empty directory]"


# -- write_file -----------------------------------------------------------------------------------


async def writer_of(folder: Path, name: str) -> WriteFile:
    """The tool in a session that has read this file."""
    documents = Documents()
    await call(ReadFile(documents), folder, path=name)
    return WriteFile(documents)


async def test_a_new_file_is_created_with_its_folders(tmp_path):
    result = await call(WriteFile(Documents()), tmp_path, path="x/y.py", content="a\nb\n")
    assert result.text == "Created x/y.py: +2 −0."
    assert (tmp_path / "x" / "y.py").read_bytes() == b"a\nb\n"
    [change] = result.changes
    assert (change.before, change.after) == (None, "a\nb\n")


async def test_the_proposal_shows_the_diff_and_writes_nothing(tmp_path):
    (tmp_path / "a").write_bytes(b"old\n")
    proposal = await propose(await writer_of(tmp_path, "a"), tmp_path, path="a", content="new\n")
    assert isinstance(proposal, Proposal)
    assert proposal.diff == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n"
    assert (tmp_path / "a").read_bytes() == b"old\n"


async def test_a_change_between_proposal_and_run_is_not_overwritten(tmp_path):
    (tmp_path / "a").write_bytes(b"old\n")
    proposal = await propose(await writer_of(tmp_path, "a"), tmp_path, path="a", content="new\n")
    assert isinstance(proposal, Proposal)
    (tmp_path / "a").write_bytes(b"theirs\n")
    result = await proposal.run()
    assert result.is_error
    assert (tmp_path / "a").read_bytes() == b"theirs\n"


@pytest.mark.parametrize("gone", ["before the proposal", "before the run"])
async def test_a_workspace_that_is_gone_is_not_made_anew(tmp_path, gone):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    if gone == "before the proposal":
        workspace.rmdir()
    proposal = await propose(WriteFile(Documents()), workspace, path="x/a", content="new\n")
    assert isinstance(proposal, Proposal)
    if gone == "before the run":
        workspace.rmdir()
    result = await proposal.run()
    assert result.is_error
    assert "no longer exists. Tell the person. Nothing was written" in result.text
    assert not workspace.exists()


@pytest.mark.parametrize("content", ["import re\nx\n", "\ufeffimport re\r\nx\r\n"])
async def test_a_rewrite_keeps_mark_and_line_ends(tmp_path, content):
    (tmp_path / "a").write_bytes(zoo.BOM)
    await call(await writer_of(tmp_path, "a"), tmp_path, path="a", content=content)
    assert (tmp_path / "a").read_bytes() == b"\xef\xbb\xbfimport re\r\nx\r\n"


async def test_a_rewrite_keeps_the_encoding(tmp_path):
    (tmp_path / "a").write_bytes(zoo.UTF16_BOM)
    await call(await writer_of(tmp_path, "a"), tmp_path, path="a", content="新\n")
    assert (tmp_path / "a").read_bytes() == b"\xff\xfe" + "新\n".encode("utf-16-le")


async def test_a_rewrite_shows_what_it_changed(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\nthree\n")
    result = await call(await writer_of(tmp_path, "a"), tmp_path, path="a", content="one\nthree")
    assert result.text.splitlines() == [
        *("Wrote a: +0 −1.", "--- a/a", "+++ b/a", "@@ -1,3 +1,2 @@"),
        *(" one", "-two", " three"),
    ]
    assert (result.summary, (tmp_path / "a").read_bytes()) == ("+0 −1", b"one\nthree\n")
    result = await call(await writer_of(tmp_path, "a"), tmp_path, path="a", content="x\n" * 5000)
    assert len(result.text) < 1600
    result = await call(WriteFile(Documents()), tmp_path, path="new", content="x\n")
    assert result.text == "Created new: +1 −0."


async def test_the_same_content_is_no_write(tmp_path):
    (tmp_path / "a").write_bytes(b"x\r\n")
    before = (tmp_path / "a").stat().st_mtime_ns
    result = await call(WriteFile(Documents()), tmp_path, path="a", content="x\n")
    assert not result.is_error
    assert "changed nothing" in result.text
    assert not result.changes
    assert (tmp_path / "a").stat().st_mtime_ns == before


async def test_directories_binaries_and_dangling_links_are_not_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "png").write_bytes(zoo.PNG)
    (tmp_path / "link").symlink_to(tmp_path.parent / "elsewhere")
    for name in ("folder", "png", "link", "png/x"):
        result = await call(WriteFile(Documents()), tmp_path, path=name, content="x")
        assert result.is_error, name
        assert "Nothing was written" in result.text
    assert not (tmp_path.parent / "elsewhere").exists()


# -- edit_file ------------------------------------------------------------------------------------


async def test_an_edit_says_first_that_it_was_applied(tmp_path):
    path = tmp_path / "calc.py"
    path.write_bytes(b"def add(a, b):\r\n    return a - b\r\n")
    path.chmod(0o755)
    result = await call(EditFile(Documents()), tmp_path, path="calc.py", old="a - b", new="a + b")
    assert result.text == "Edited calc.py: 1 replacement, +1 −1."
    assert path.read_bytes() == b"def add(a, b):\r\n    return a + b\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    [change] = result.changes
    assert change.before == "def add(a, b):\r\n    return a - b\r\n"


@pytest.mark.parametrize("animal", zoo.TEXTS, ids=lambda animal: animal.name)
async def test_an_edit_changes_only_the_matched_bytes(tmp_path, animal):
    word = "needle".encode(animal.encoding)
    (tmp_path / "a").write_bytes(animal.data + word)
    result = await call(EditFile(Documents()), tmp_path, path="a", old="needle", new="thread")
    assert not result.is_error, result.text
    assert (tmp_path / "a").read_bytes() == animal.data + "thread".encode(animal.encoding)


async def test_a_refused_edit_writes_nothing_and_says_why(tmp_path):
    (tmp_path / "a").write_bytes(b"x = 1\nx = 1\n")
    result = await call(EditFile(Documents()), tmp_path, path="a", old="x = 1", new="y")
    assert result.is_error
    assert result.text.startswith("a was not edited. `old` occurs 2 times (lines 1, 2)")
    assert (tmp_path / "a").read_bytes() == b"x = 1\nx = 1\n"


async def test_an_approximate_edit_says_so(tmp_path):
    (tmp_path / "a").write_bytes(b"if x:\n   y = 1\n")
    result = await call(EditFile(Documents()), tmp_path, path="a", old="    y = 1", new="    z = 1")
    assert "Approximate match, lines 2-2" in result.text
    assert (tmp_path / "a").read_bytes() == b"if x:\n   z = 1\n"


async def test_an_edit_of_unsaved_text_is_left_unsaved_and_said(tmp_path):
    (tmp_path / "a").write_text("one\n")
    editor = MemoryEditor()
    editor.open(tmp_path / "a", "one\ntwo\n")
    tool = EditFile(Documents(editor))
    result = await call(tool, tmp_path, path="a", old="two", new="2")
    assert "not on disk yet, because it had unsaved text before" in result.text
    assert result.summary == "+1 −1, not saved: it had unsaved text before"
    assert editor.text(tmp_path / "a") == "one\n2\n"
    assert (tmp_path / "a").read_text() == "one\n"


async def test_missing_files_and_directories_cannot_be_edited(tmp_path):
    for path in ("none", "."):
        result = await call(EditFile(Documents()), tmp_path, path=path, old="a", new="b")
        assert result.is_error
        assert "Nothing was written" in result.text


# -- all of them ----------------------------------------------------------------------------------


def test_actions_name_what_is_touched(tmp_path):
    context = call_context(tmp_path)
    documents = Documents()
    arguments = {
        "read_file": {"path": "a"},
        "list_dir": {"path": "a"},
        "write_file": {"path": "a", "content": ""},
        "edit_file": {"path": "a", "old": "x", "new": "y"},
        "delete_path": {"path": "a"},
        "glob": {"pattern": "*", "path": "a"},
        "grep": {"pattern": "x", "path": "a"},
    }
    for tool in path_tools(documents):
        action = tool.action(tool.parameters.model_validate(arguments[tool.name]), context)
        assert action.effect is tool.effect
        touched = action.writes if tool.effect is Effect.WRITE else action.reads
        assert touched == (tmp_path / "a",)


def test_descriptions_are_short(tmp_path):
    registry = ToolRegistry(path_tools(Documents()))
    for spec in registry.specs:
        assert 200 <= len(spec.description) <= 500, spec.name
        assert "title" not in spec.parameters


@pytest.mark.parametrize(
    "name", ["read_file", "list_dir", "write_file", "edit_file", "delete_path", "grep"]
)
def test_what_a_person_sees_of_a_path_hides_nothing(tmp_path: Path, name: str) -> None:
    tools = {tool.name: tool for tool in path_tools(Documents())}
    arguments = {"content": "", "old": "a", "new": "b", "pattern": "a", "path": "a\u202eb\u200bc"}
    tool = tools[name]
    wanted = {key: arguments[key] for key in tool.parameters.model_fields if key in arguments}
    action = tool.action(tool.parameters.model_validate(wanted), call_context(tmp_path))
    assert "a⟨U+202E⟩b⟨U+200B⟩c" in action.title


async def test_the_text_of_an_approval_hides_nothing(tmp_path: Path) -> None:
    tool = {tool.name: tool for tool in path_tools(Documents())}["write_file"]
    proposal = await propose(tool, tmp_path, path="a\u202eb", content="x")
    assert isinstance(proposal, Proposal)
    assert proposal.text == "Write a⟨U+202E⟩b (1 characters)"


async def test_a_link_to_nothing_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    result = await call(ReadFile(Documents()), tmp_path, path="link")
    assert result.text == "link is a link, and what it leads to does not exist."
