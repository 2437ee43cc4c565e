"""The tools `glob` and `grep`, with the real ripgrep."""

import asyncio
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from pails.host.search import run_search
from pails.tools.glob import MAX_FILES, GlobFiles
from pails.tools.grep import Grep
from pails.tools.list_dir import ListDir
from pails.tools.text.matches import LINE_CHARS, MAX_MATCHES
from tests.support import zoo
from tests.support.calls import call, call_context


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository with hidden and ignored files."""
    files = {
        ".git/config": "needle\n",
        ".gitignore": "node_modules/\n*.log\n",
        ".github/ci.yml": "needle\n",
        "src/a.py": "import os\nneedle = 1\n",
        "src/b.ts": "needle\n",
        "node_modules/m/index.js": "needle only_here\n",
        "run.log": "needle only_here\n",
        "-77": "dashes\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


async def found(workspace: Path, **arguments: object) -> list[str]:
    result = await call(Grep(), workspace, **arguments)
    assert not result.is_error, result.text
    return [line for line in result.text.split("\n") if not line.startswith("[")]


# -- grep -----------------------------------------------------------------------------------------


async def test_matches_are_sorted_by_path(tree):
    result = await call(Grep(), tree, pattern="needle")
    lines = result.text.split("\n")
    assert lines[:2] == ["src/a.py:2:needle = 1", "src/b.ts:1:needle"]
    assert lines[2:] == ["[3 more files match among hidden or ignored ones; name their path]"]
    assert result.summary == "2 matches in 2 files"


async def test_nothing_found_says_how_many_hidden_or_ignored_files_match(tree):
    result = await call(Grep(), tree, pattern="only_here")
    assert not result.is_error
    assert result.text.startswith("No matches for 'only_here' in the workspace.")
    assert "2 more files match among hidden or ignored ones" in result.text
    assert await found(tree, pattern="only_here", path="node_modules") == [
        "node_modules/m/index.js:1:needle only_here"
    ]


async def test_nothing_at_all(tree):
    assert (
        await call(Grep(), tree, pattern="nowhere")
    ).text == "No matches for 'nowhere' in the workspace."


async def test_an_empty_path_or_glob_counts_as_left_out(tree):
    everywhere = await call(Grep(), tree, pattern="needle")
    assert await call(Grep(), tree, pattern="needle", path="", glob="") == everywhere
    anything = await call(GlobFiles(), tree, pattern="*.py")
    assert await call(GlobFiles(), tree, pattern="*.py", path="") == anything
    assert await call(ListDir(), tree, path="") == await call(ListDir(), tree)


@pytest.mark.parametrize(
    "pattern", ["-77", "--pdf-engine", "->", "--", "-e", "--pre=/bin/sh", "-v", "--files"]
)
async def test_a_pattern_is_never_an_option(tmp_path, pattern):
    (tmp_path / "a").write_text(f"x\nuse {pattern} here\n")
    assert await found(tmp_path, pattern=pattern) == [f"a:2:use {pattern} here"]
    assert await found(tmp_path, pattern=pattern, literal=True) == [f"a:2:use {pattern} here"]


async def test_a_path_is_never_an_option(tree):
    assert await found(tree, pattern="dash", path="-77") == ["-77:1:dashes"]
    (tree / "--pre").mkdir()
    (tree / "--pre" / "x").write_text("dash")
    assert await found(tree, pattern="dash", path="--pre") == ["--pre/x:1:dash"]


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", ["src/a.py"]),
        ("*.{py,ts}", ["src/a.py", "src/b.ts"]),
        ("src/*.ts", ["src/b.ts"]),
        ("**/*.ts", ["src/b.ts"]),
        ("*", ["src/a.py", "src/b.ts"]),
        (".github/**", [".github/ci.yml"]),
    ],
)
async def test_a_glob_narrows_and_never_shows_ignored_files(tree, glob, paths):
    lines = await found(tree, pattern="needle", glob=glob)
    assert [line.split(":")[0] for line in lines] == paths


async def test_a_glob_may_be_relative_to_the_path(tree):
    assert await found(tree, pattern="needle", path="src", glob="b.*") == ["src/b.ts:1:needle"]
    (tree / "src" / "x").mkdir()
    (tree / "src" / "x" / "c.py").write_text("needle")
    assert await found(tree, pattern="needle", path="src", glob="x/*.py") == ["src/x/c.py:1:needle"]


async def test_switches(tmp_path):
    (tmp_path / "a").write_text("one\nTwo.\nthree\n\nfive\nsix two.\n")
    assert await found(tmp_path, pattern="two.", literal=True, ignore_case=True) == [
        "a:2:Two.",
        "a:6:six two.",
    ]
    assert await found(tmp_path, pattern="wo", context=1) == [
        "a-1-one",
        "a:2:Two.",
        "a-3-three",
        "--",
        "a-5-five",
        "a:6:six two.",
    ]
    assert await found(tmp_path, pattern="one\nTwo") == ["a:1:one", "a:2:Two."]


async def test_a_bad_expression_is_an_error_that_helps(tree):
    result = await call(Grep(), tree, pattern="foo(")
    assert result.is_error
    assert "unclosed group" in result.text
    assert "literal" in result.text


async def test_a_missing_path_is_an_error(tree):
    result = await call(Grep(), tree, pattern="x", path="scr")
    assert result.is_error
    assert "Similar: src" in result.text


async def test_long_lines_are_clipped_around_the_match(tmp_path):
    (tmp_path / "a").write_text("中" * 5000 + "needle" + "😀" * 5000)
    [line] = await found(tmp_path, pattern="needle")
    assert "中needle😀" in line
    assert "[10,006 characters]" in line
    assert len(line) < LINE_CHARS + 50


async def test_what_is_cut_is_counted(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("needle\n" * 300)
    result = await call(Grep(), tmp_path, pattern="needle")
    lines = result.text.split("\n")
    assert len(lines) == MAX_MATCHES + 1
    assert lines[-1] == "[400 of 600 matches not shown; 2 files match; narrow the search]"


async def test_a_flood_is_cut_and_still_counted_exactly(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(("needle " * 40 + "\n") * 6000)
    result = await call(Grep(), tmp_path, pattern="needle")
    assert "of 12,000 matches not shown; 2 files match" in result.text
    assert len(result.text) < 40_000


async def test_a_match_in_a_line_of_megabytes_is_found(tmp_path):
    (tmp_path / "min.js").write_bytes(zoo.ONE_LINE + b"needle")
    (tmp_path / "huge.js").write_bytes(zoo.ONE_LINE * 5 + b"needle")
    result = await call(Grep(), tmp_path, pattern="needle")
    assert "of 2 matches not shown; 2 files match" in result.text
    [line] = await found(tmp_path, pattern="needle", path="min.js")
    assert "xneedle" in line


async def test_other_encodings_and_names_are_searched(tmp_path):
    (tmp_path / "u16").write_bytes(zoo.UTF16_BOM)
    (tmp_path / "gbk").write_bytes(zoo.GBK)
    (tmp_path / "a:1:b").write_text("hi\r\n")
    lines = await found(tmp_path, pattern="hi|print")
    assert lines[0] == "a:1:b:1:hi"
    assert lines[1].startswith("gbk:3:print(")
    assert lines[2] == "u16:1:hi"


async def test_links_inside_are_not_followed_out(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("needle")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / "file").symlink_to(outside / "secret")
    assert (await call(Grep(), workspace, pattern="needle")).text.startswith("No matches")
    assert (await call(GlobFiles(), workspace, pattern="secret")).text.startswith("No file")


# -- glob -----------------------------------------------------------------------------------------


async def test_files_are_found_by_name_and_sorted(tree):
    result = await call(GlobFiles(), tree, pattern="*.{py,ts}")
    assert result.text == "src/a.py\nsrc/b.ts"
    assert (await call(GlobFiles(), tree, pattern="*.py", path="src")).text == "src/a.py"


async def test_ignored_files_are_left_out_and_counted_when_nothing_is_found(tree):
    assert (await call(GlobFiles(), tree, pattern="*")).text == "-77\nsrc/a.py\nsrc/b.ts"
    result = await call(GlobFiles(), tree, pattern="*.log")
    assert (
        result.text == "No file matches *.log in the workspace. Among hidden or ignored files: 1."
    )


async def test_a_pattern_with_a_dot_finds_hidden_files(tree):
    assert (await call(GlobFiles(), tree, pattern=".github/*")).text == ".github/ci.yml"


async def test_too_many_files_are_counted(tmp_path):
    for n in range(MAX_FILES + 3):
        (tmp_path / f"{n}.txt").touch()
    result = await call(GlobFiles(), tmp_path, pattern="*.txt")
    assert f"[3 of {MAX_FILES + 3} files not shown]" in result.text


async def test_glob_in_what_is_no_directory(tree):
    assert "Similar: src" in (await call(GlobFiles(), tree, pattern="*", path="sr")).text
    assert "is a file" in (await call(GlobFiles(), tree, pattern="*", path="src/a.py")).text


# -- the process ----------------------------------------------------------------------------------


async def test_a_search_stops_at_its_limit_of_bytes(tmp_path):
    (tmp_path / "a").write_text("x\n" * 1_000_000)
    output = await run_search(["-e", "x", "--", "a"], tmp_path, 20, 1000)
    assert (len(output.stdout), output.cut, output.timed_out) == (1000, True, False)


def children() -> set[str]:
    """The processes that this one has started."""
    threads = Path(f"/proc/{os.getpid()}/task").iterdir()
    return {child for thread in threads for child in (thread / "children").read_text().split()}


async def test_a_search_stops_at_its_limit_of_time(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # which nobody writes to
    before = children()
    output = await run_search(["-e", "x", "--", "pipe"], tmp_path, 0.1, 1000)
    assert (output.cut, output.timed_out) == (True, True)
    assert children() <= before


async def test_a_cancelled_search_leaves_no_process(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = children()
    task = asyncio.create_task(run_search(["-e", "x", "--", "pipe"], tmp_path, 20, 1000))
    async with asyncio.timeout(10):
        while children() <= before:
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() <= before


@pytest.mark.parametrize("name", ["pattern", "glob"])
def test_a_nul_character_is_a_mistake_in_the_arguments(name: str) -> None:
    arguments = {"pattern": "x", name: "a\0b"}
    with pytest.raises(ValidationError, match="NUL"):
        Grep().parameters.model_validate(arguments)


@pytest.mark.parametrize("glob", ["{a", "*.{py", "a}{b", "{a,{b}"])
async def test_braces_that_ripgrep_refuses_stand_for_themselves(tree: Path, glob: str) -> None:
    (tree / glob.replace("*", "x")).write_text("needle\n")
    assert await found(tree, pattern="needle", glob=glob) == [f"{glob.replace('*', 'x')}:1:needle"]


async def test_a_pipe_is_refused_at_once(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    result = await call(Grep(), tree, pattern="x", path="pipe")
    assert (result.is_error, result.text) == (
        True,
        "pipe is not a regular file. Nothing was searched.",
    )


# -- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (Grep, {"pattern": "b" * 1_000_000}),
        (Grep, {"pattern": "x", "glob": "b" * 5000}),
        (GlobFiles, {"pattern": "{" + ",".join(f"ab{n}" for n in range(100_000)) + "}"}),
        (GlobFiles, {"pattern": "x", "path": "../" * 200_000}),
    ],
)
def test_arguments_have_a_limit(tool: type[Grep | GlobFiles], arguments: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=r"at most \d+ characters"):
        tool.parameters.model_validate(arguments)


async def test_a_long_pattern_is_not_echoed_whole(tree: Path) -> None:
    (tree / "a").touch()
    for text in ("b" * 20_000, "(" * 20_000):
        assert len((await call(Grep(), tree, pattern=text)).text) < 700
    assert len((await call(Grep(), tree, pattern="b", glob="b" * 4000)).text) < 700
    assert len((await call(GlobFiles(), tree, pattern="a" * 4000)).text) < 700
    context = call_context(tree)
    grep, glob = Grep(), GlobFiles()
    for title in (
        grep.action(grep.parameters.model_validate({"pattern": "汉" * 20_000}), context).title,
        glob.action(glob.parameters.model_validate({"pattern": "汉" * 4000}), context).title,
    ):
        assert len(title) < 700


# -- what is not there, and what is not shown -----------------------------------------------------


@pytest.mark.parametrize("tool", [Grep(), GlobFiles()])
@pytest.mark.parametrize("path", [".", "src"])
async def test_a_workspace_that_is_gone_is_said(tmp_path: Path, tool: Grep, path: str) -> None:
    (tmp_path / "wss").mkdir()
    result = await call(tool, tmp_path / "ws", pattern="x", path=path)
    assert result.is_error
    assert result.text == "The workspace no longer exists. Tell the person."


async def test_secrets_are_left_out_unless_they_are_the_place_that_was_named(
    tmp_path: Path,
) -> None:
    for name in (
        ".ssh/id_work",
        ".aws/credentials",
        ".aws/other",
        "prod.env",
        "a.py",
        ".env.example",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    assert await found(tmp_path, pattern="needle") == ["a.py:1:needle"]
    assert await found(tmp_path, pattern="needle", glob=".*") == [".env.example:1:needle"]
    assert await found(tmp_path, pattern="needle", path=".aws") == [".aws/other:1:needle"]
    for name in (".ssh", ".ssh/id_work"):
        assert await found(tmp_path, pattern="needle", path=name) == [".ssh/id_work:1:needle"]
    assert await found(tmp_path, pattern="needle", path="prod.env") == ["prod.env:1:needle"]
    through = await call(Grep(), tmp_path, pattern="needle", path=".ssh/..")
    assert "id_work" not in through.text
