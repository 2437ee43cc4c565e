"""The syntax check of written files, with the real child process."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pails.core.ports import SyntaxChecker, SyntaxReport
from pails.diagnostics.checker import TreeSitterChecker
from pails.diagnostics.languages import GRAMMARS
from pails.host.worker import Worker
from pails.tools.calls.findings import findings
from tests.support.process_zoo import children_of
from tests.unit.diagnostics.samples import SAMPLES

PYTHON = Path("calc.py")


@pytest.fixture
async def checker() -> AsyncIterator[TreeSitterChecker]:
    checker = TreeSitterChecker()
    yield checker
    await checker.aclose()


@pytest.fixture
async def hasty() -> AsyncIterator[TreeSitterChecker]:
    """A checker that waits for a tenth of a second only."""
    checker = TreeSitterChecker(seconds=0.1)
    yield checker
    await checker.aclose()


async def pid_of(checker: TreeSitterChecker) -> int:
    """The process id of its child, which is the only one of this process."""
    await checker.warm({})
    (pid,) = children_of(os.getpid())
    return pid


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that nobody has reaped yet does not count."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def test_every_language(checker: TreeSitterChecker) -> None:
    port: SyntaxChecker = checker
    for sample in SAMPLES:
        path = Path("/w") / sample.path
        clean = await port.check(path, None, sample.valid)
        assert clean == SyntaxReport(sample.language), sample.language
        assert findings(clean, sample.path) == f"Syntax OK ({sample.language})."
        broken = await port.check(path, sample.valid, sample.broken)
        assert broken.problems, sample.language
        assert (broken.language, broken.existing, broken.note) == (sample.language, 0, "")
        again = await port.check(path, sample.broken, sample.broken)
        assert again.problems == (), sample.language
        assert again.existing >= 1
    assert await port.check(Path("a.md"), None, "# x\n") == SyntaxReport("markdown")
    assert {*GRAMMARS} == {*(sample.language for sample in SAMPLES), "markdown"}


async def test_what_the_model_reads(checker: TreeSitterChecker) -> None:
    before = "def f(a)\n    return a\n\n\ndef g(b):\n    return b\n"
    after = before.replace("return b", "return (b")
    report = await checker.check(PYTHON, before, after)
    assert findings(report, "src/calc.py") == (
        "Syntax check (python): 1 new problem\n"
        '  src/calc.py:6:12 "(" is not closed before end of file\n'
        "    return (b\n"
        "1 older problem was there before and is not counted."
    )
    report = await checker.check(PYTHON, before, before + "x = 1\n")
    assert findings(report, "calc.py") == (
        "Syntax check (python): no new problems\n"
        "1 older problem was there before and is not counted."
    )


async def test_few_problems_are_shown_and_the_rest_counted(checker: TreeSitterChecker) -> None:
    report = await checker.check(Path("a.js"), "", "f();\n}\n" * 50)
    assert len(report.problems) == 20
    assert report.note == "30 more not shown"
    assert findings(report, "a.js").endswith("\n  (30 more not shown)")


async def test_doubtful_grammar_says_so(checker: TreeSitterChecker) -> None:
    report = await checker.check(Path("a.sql"), "", "SELECT (;\n")
    assert "does not know every dialect" in findings(report, "a.sql")


async def test_header_is_read_as_c_or_as_cpp(checker: TreeSitterChecker) -> None:
    path = Path("a.h")
    assert (await checker.check(path, None, "int class;\n")).language == "c"
    report = await checker.check(path, None, "template <typename T> class A { T b() const; };\n")
    assert (report.language, report.problems) == ("cpp", ())


async def test_byte_order_mark_is_no_error(checker: TreeSitterChecker) -> None:
    for path, text in (
        ("a.py", "import os\r\n"),
        ("a.json", '{"a": 1}\r\n'),
        ("a.cs", "class A {}"),
    ):
        report = await checker.check(Path(path), None, "\ufeff" + text)
        assert report.problems == ()
        assert report.note == ""
    report = await checker.check(PYTHON, None, "\ufeffx = )\n")
    assert report.problems[0].start.column == 5


async def test_what_cannot_be_checked_is_a_note_and_no_error(checker: TreeSitterChecker) -> None:
    assert await checker.check(Path("notes.txt"), None, "(((") == SyntaxReport("", checked=False)
    assert findings(SyntaxReport(""), "notes.txt") == ""
    binary = await checker.check(PYTHON, None, "\x89PNG\r\n\x1a\n\0")
    assert binary == SyntaxReport(
        "python", note="syntax not checked: the text is binary", checked=False
    )
    assert findings(binary, "a.py") == "Syntax not checked: the text is binary."
    huge = await checker.check(Path("a.json"), None, "[" * 5_000_001)
    assert huge.problems == ()
    assert "5 million" in huge.note
    assert children_of(os.getpid()) == [], "nothing of this needs the child"


async def test_text_with_half_a_character(checker: TreeSitterChecker) -> None:
    report = await checker.check(PYTHON, "\udc00", "x = '\ud83d' + )\n")
    assert report.problems[0].start.column == 11


async def test_each_report_is_about_the_text_that_was_written(checker: TreeSitterChecker) -> None:
    texts = ["\n" * n + "x = )\n" for n in range(20)]
    reports = await asyncio.gather(*(checker.check(PYTHON, "", text) for text in texts))
    assert [report.problems[0].start.line for report in reports] == list(range(1, 21))


async def test_twenty_thousand_lines(checker: TreeSitterChecker) -> None:
    before = "".join(f"def f{n}(a):\n    return (a + {n})\n" for n in range(10_000))
    after = before.replace("7777)", "7777")
    report = await checker.check(PYTHON, before, after)
    if report.note:  # a busy machine may take longer than the check is allowed to
        assert report == SyntaxReport(
            "python", note="syntax not checked: took longer than 2 s", checked=False
        )
    else:
        assert [problem.start.line for problem in report.problems] == [15556]


async def test_all_grammars_are_available(checker: TreeSitterChecker) -> None:
    statuses = await checker.available()
    assert [status.language for status in statuses] == list(GRAMMARS)
    assert all(status.ok and status.detail.startswith("tree-sitter-") for status in statuses)


async def test_missing_grammar_is_a_note(tmp_path: Path) -> None:
    """A wheel that is broken makes its own language uncheckable, and only that."""
    code = (
        "import sys; sys.modules['tree_sitter_go'] = None\n"
        "from pails.diagnostics.worker import main\nmain()"
    )
    checker = TreeSitterChecker((sys.executable, "-P", "-c", code))
    report = await checker.check(Path("a.go"), None, "package (")
    assert report.problems == ()
    assert report.note.startswith("syntax not checked: ")
    assert (await checker.check(PYTHON, None, "x = )")).problems
    bad = [status for status in await checker.available() if not status.ok]
    assert [status.language for status in bad] == ["go"]
    assert "tree_sitter_go" in bad[0].detail
    await checker.aclose()


async def test_modules_of_the_workspace_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "tree_sitter", "pails", "tree_sitter_python"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the workspace')\n")
    monkeypatch.chdir(tmp_path)
    checker = TreeSitterChecker()
    assert await checker.check(PYTHON, None, "x = 1\n") == SyntaxReport("python")
    await checker.aclose()


async def test_child_killed_during_a_check(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    os.kill(pid, signal.SIGSTOP)
    check = asyncio.create_task(checker.check(PYTHON, None, "x = )\n"))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    assert (await check).problems, "whoever killed it, the text was not at fault: a new one checks"
    assert await pid_of(checker) != pid


async def test_child_killed_between_checks(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    os.kill(pid, signal.SIGKILL)
    await checker.check(PYTHON, None, "x = )\n")  # may still meet the dead one
    assert (await checker.check(PYTHON, None, "x = )\n")).problems
    assert await pid_of(checker) != pid


async def test_hanging_child_is_killed(hasty: TreeSitterChecker) -> None:
    pid = await pid_of(hasty)
    os.kill(pid, signal.SIGSTOP)
    report = await hasty.check(PYTHON, None, "x = )\n")
    assert report == SyntaxReport(
        "python", note="syntax not checked: took longer than 0.1 s", checked=False
    )
    assert not is_running(pid)
    assert await pid_of(hasty) != pid


async def test_cancelled_check_leaves_no_stale_answer(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    os.kill(pid, signal.SIGSTOP)
    check = asyncio.create_task(checker.check(PYTHON, None, "x = )\n"))
    await asyncio.sleep(0.01)
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check
    assert not is_running(pid)
    assert (await checker.check(PYTHON, None, "x = 1\n")) == SyntaxReport("python")


async def test_nothing_is_left_after_closing(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    assert is_running(pid)
    await checker.aclose()
    assert not is_running(pid)
    report = await checker.check(PYTHON, None, "x = )\n")
    assert report.note == "syntax not checked: the worker process was shut down"


async def test_closing_during_a_check(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    os.kill(pid, signal.SIGSTOP)
    check = asyncio.create_task(checker.check(PYTHON, None, "x = )\n"))
    await asyncio.sleep(0.01)
    await checker.aclose()
    assert (await check).note.startswith("syntax not checked: ")
    assert not is_running(pid)


async def test_nothing_is_left_when_the_server_is_killed() -> None:
    code = (
        "import asyncio, time\n"
        "from pails.diagnostics.checker import TreeSitterChecker\n"
        "async def main():\n"
        "    checker = TreeSitterChecker()\n"
        "    await checker.warm({})\n"
        "    print('checking', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    server = subprocess.Popen(
        (sys.executable, "-P", "-c", code), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    with server:
        assert server.stdout is not None
        assert await asyncio.to_thread(server.stdout.readline) == b"checking\n"
        (pid,) = children_of(server.pid)
        assert is_running(pid)
        server.kill()
    async with asyncio.timeout(20):
        while is_running(pid):
            await asyncio.sleep(0.02)


async def test_edits_one_after_the_other_send_the_change_alone(
    checker: TreeSitterChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[list[str]] = []
    request = Worker.request

    async def noted(worker: Worker, message: Any, seconds: float) -> dict[str, Any]:
        if message["path"] == str(PYTHON):
            sent.append(message["texts"])
        return await request(worker, message, seconds)

    monkeypatch.setattr(Worker, "request", noted)
    text = "def f(a):\n    return a  # é😀\n" * 50
    for word in ("b", "(b", "b)", "c"):
        at = text.rindex("return ") + len("return ")
        after = text[:at] + word + text[text.index("  #", at) :]
        report = await checker.check(PYTHON, text, after)
        assert report == await checker.check(Path("other.py"), text, after)
        text = after
    assert len(sent[0]) == 2, "at first both texts"
    assert sent[1:] == [["("], ["b)"], ["c"]]


async def test_a_new_child_is_told_all_again(checker: TreeSitterChecker) -> None:
    pid = await pid_of(checker)
    assert (await checker.check(PYTHON, "x = 1\n", "x = 2\n")).problems == ()
    os.kill(pid, signal.SIGKILL)
    assert (await checker.check(PYTHON, "x = 2\n", "x = )\n")).problems
    assert (await checker.check(PYTHON, "x = )\n", "x = 3\n")) == SyntaxReport("python")


async def test_a_check_that_was_begun_is_the_one_that_is_asked_for(
    checker: TreeSitterChecker,
) -> None:
    checker.begin(PYTHON, "x = 1\n", "x = )\n")
    assert (await checker.check(PYTHON, "x = 1\n", "x = )\n")).problems
    checker.begin(PYTHON, "x = )\n", "x = 2\n")
    report = await checker.check(PYTHON, "x = )\n", "y = )\n")
    assert report.problems, "another text was written than was proposed"
    checker.begin(PYTHON, None, "x")  # nobody asks: closing takes it along


async def test_large_open_texts_are_read_through_beforehand(checker: TreeSitterChecker) -> None:
    large = "def f(a):\n    return (a)\n" * 5_000
    await checker.warm({PYTHON: large, Path("small.py"): "x = 1\n", Path("a.bin"): "\0" * 200_000})
    report = await checker.check(PYTHON, large, large.replace("(a)\n", "(a\n", 1))
    assert report.note or [problem.start.line for problem in report.problems] == [2]


async def test_deep_nesting(checker: TreeSitterChecker) -> None:
    for path, text in ((Path("a.json"), "[" * 100_000), (PYTHON, "x = " + "(" * 20_000)):
        report = await checker.check(path, None, text)
        assert report.problems or report.note.startswith("syntax not checked: ")
    assert (await checker.check(PYTHON, None, "x = 1\n")) == SyntaxReport("python")
