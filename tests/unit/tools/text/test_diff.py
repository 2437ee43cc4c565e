"""Diffs: `patch` makes the new bytes from the old with them."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pails.tools.text.diff import unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\u2028\n", "e\rf\n"]), max_size=12)
TEXTS = st.builds(lambda lines, last: "".join(lines) + last, LINES, st.sampled_from(["", "end"]))


@settings(max_examples=40)
@given(before=TEXTS, after=TEXTS)
@example(before="a\na\na\na\nend", after="b\na\na\na\nend")
@example(before="a\na\na\na\na\na\nend", after="a\na\na\na\na\na\na\nend")
def test_git_applies_every_diff(tmp_path_factory, before, after):
    folder = tmp_path_factory.mktemp("diff")
    path = folder / "f"
    path.write_bytes(before.encode())
    diff = unified("f", before, after)
    assert bool(diff.text) == (before != after)
    if not before or not after or not diff.text:
        return  # git writes empty files in a form of its own
    (folder / "p").write_bytes(diff.text.encode())
    command = ["git", "apply", "--whitespace=nowarn", "p"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert path.read_bytes() == after.encode()


def test_counts_and_text():
    diff = unified("src/a.py", "a\r\nb\r\n", "a\r\nB\r\nc\r\n")
    assert (diff.added, diff.removed) == (2, 1)
    assert diff.text == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,3 @@\n a\r\n-b\r\n+B\r\n+c\r\n"
    )


def test_a_missing_final_newline_is_said():
    diff = unified("f", "a", "a\n")
    assert diff.text.endswith("-a\n\\ No newline at end of file\n+a\n")


def test_a_new_file_comes_from_nowhere():
    diff = unified("f", None, "a\n")
    assert diff.text == "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"


@pytest.mark.parametrize("size", [3000])
def test_huge_changes_are_one_replaced_block(size):
    before = "same\n" + "".join(f"old {n}\n" for n in range(size)) + "end\n"
    after = "same\n" + "".join(f"new {n}\n" for n in range(size)) + "end\n"
    diff = unified("f", before, after)
    assert (diff.added, diff.removed) == (size, size)
    assert diff.text.startswith(
        f"--- a/f\n+++ b/f\n@@ -1,{size + 2} +1,{size + 2} @@\n same\n-old 0\n"
    )
    assert diff.text.endswith(f"+new {size - 1}\n end\n")
