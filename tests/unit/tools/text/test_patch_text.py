"""Reading patches of both forms."""

import pytest

from pails.tools.text.patch_reader import FilePatch, PatchError, PatchHunk
from pails.tools.text.patch_text import parse_patch

OWN = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ class A:
@@     def area(self):
 context
-old
+new

@@
-x
*** End of File
*** Add File: c.py
+first

+third
*** Delete File: d d.py
*** End Patch"""

UNIFIED = """diff --git a/src/a.py b/src/a.py
index 1234567..89abcde 100644
--- a/src/a.py
+++ b/src/a.py\t2026-01-01
@@ -3,2 +3,2 @@ def area():
 context
-old
+new
\\ No newline at end of file
@@ -9,0 +10 @@
+put in
--- /dev/null
+++ b/c.py
@@ -0,0 +1,2 @@
+first
+second
--- a/d.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/e.py b/f.py
similarity index 100%
rename from e.py
rename to f.py
"""


def test_the_form_of_agents():
    anchors = ("class A:", "def area(self):")
    assert parse_patch(OWN) == (
        FilePatch(
            "update",
            "src/a.py",
            "src/b.py",
            (
                PatchHunk(("context", "old"), ("context", "new"), anchors),
                PatchHunk(("x",), (), at_end=True),
            ),
        ),
        FilePatch("add", "c.py", content="first\n\nthird\n"),
        FilePatch("delete", "d d.py"),
    )


def test_the_form_of_diff():
    assert parse_patch(UNIFIED) == (
        FilePatch(
            "update",
            "src/a.py",
            None,
            (
                PatchHunk(("context", "old"), ("context", "new"), line=2, new_is_open=True),
                PatchHunk((), ("put in",), line=9),
            ),
        ),
        FilePatch("add", "c.py", content="first\nsecond\n"),
        FilePatch("delete", "d.py", hunks=(PatchHunk(("gone",), (), line=0),)),
        FilePatch("update", "e.py", "f.py"),
    )


def test_lines_that_end_in_two_characters_are_the_same_lines():
    assert parse_patch(OWN.replace("\n", "\r\n")) == parse_patch(OWN)


def test_a_line_that_goes_and_looks_like_a_header():
    patch = "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1 @@\n keep\n--- a comment\n"
    (file,) = parse_patch(patch)
    assert file.hunks == (PatchHunk(("keep", "-- a comment"), ("keep",), line=0),)


@pytest.mark.parametrize(
    ("counts", "behind"),
    [
        ("-1,3 +1,3", (" last",)),  # in the middle of a hunk
        ("-1,2 +1,2", ()),  # at its end, where the next thing is another hunk or file
        ("-1,4 +1,4", (" last", "")),  # the blank line is one of the file
    ],
)
def test_lines_that_look_like_names_belong_to_a_hunk_that_counts_them(counts, behind):
    hunk = (f"@@ {counts} @@", " first", "--- one", "+++ other", *behind)
    names = ("--- a/b.sql", "+++ b/b.sql", "@@ -1 +1 @@", "-x", "+y")
    patch = "\n".join(("--- a/a.sql", "+++ b/a.sql", *hunk, *names))
    first, second = parse_patch(patch)
    rest = tuple(line[1:] for line in behind if line)
    assert [(one.old, one.new) for one in first.hunks] == [
        (("first", "-- one", *rest), ("first", "++ other", *rest))
    ]
    assert (second.path, second.hunks) == ("b.sql", (PatchHunk(("x",), ("y",), line=0),))
    again = parse_patch("\n".join(("--- a/a.sql", "+++ b/a.sql", *hunk, "@@ -9 +9 @@", "-x", "+y")))
    assert [len(file.hunks) for file in again] == [2]


def test_names_end_a_hunk_that_counts_too_many_lines():
    """Models count badly."""
    hunk = ("@@ -1,9 +1,9 @@", " first", "-old", "+new")
    names = ("--- a/b.sql", "+++ b/b.sql", "@@ -1 +1 @@", "-x", "+y")
    patch = "\n".join(("--- a/a.sql", "+++ b/a.sql", *hunk, *names))
    assert [file.path for file in parse_patch(patch)] == ["a.sql", "b.sql"]


def test_updates_of_one_file_are_one():
    again = "*** Update File: a\n@@\n-1\n+2\n"
    (file,) = parse_patch(f"*** Begin Patch\n{again}{again}*** End Patch")
    assert len(file.hunks) == 2


def hunk(old: str, new: str) -> str:
    return f"@@ -1 +1 @@\n-{old}\n+{new}\n"


@pytest.mark.parametrize(
    ("names", "path"),
    [
        ("--- a/x.py\n+++ b/x.py", "x.py"),
        ("--- i/x.py\n+++ w/x.py", "x.py"),
        ("--- a/x.py\n+++ a/x.py", "a/x.py"),  # made without prefixes, in a folder `a`
        ("diff --git b/x.py b/x.py\n--- b/x.py\n+++ b/x.py", "b/x.py"),
        ("--- a/x y.py\t\n+++ b/x y.py\t", "x y.py"),
        ("--- x.py\t2026-01-01 10:00:00\n+++ x.py 2026-01-02 10:00:00.1 +0100", "x.py"),
        ('--- "a/\\303\\244\\"\\t.py"\n+++ "b/\\303\\244\\"\\t.py"', 'ä"\t.py'),
        ("--- /w/x.py\n+++ /w/x.py", "/w/x.py"),
    ],
)
def test_the_names_of_a_file(names, path):
    assert [file.path for file in parse_patch(f"{names}\n{hunk('a', 'b')}")] == [path]


def test_files_without_text_are_not_left_out():
    patch = (
        "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..e69de29\n"
        'diff --git "a/\\303\\244" "b/\\303\\244"\ndeleted file mode 100644\n'
        "diff --git a/x b/x\nindex 1..2 100755\n--- a/x\n+++ b/x\n" + hunk("a", "b")
    )
    found = [(file.kind, file.path) for file in parse_patch(patch)]
    assert found == [("add", "new"), ("delete", "ä"), ("update", "x")]


@pytest.mark.parametrize(
    ("notes", "error"),
    [
        ("old mode 100644\nnew mode 100755\n", "changes no modes"),
        ("new file mode 120000\n", "plain files only"),
        ("new file mode 100755\n", "plain files only"),
        ("similarity index 90%\ncopy from x\ncopy to y\n", "copies nothing"),
        ("index 1..2 100644\nBinary files a/x and b/x differ\n", "what is to become"),
        ("new file mode 100644\nBinary files /dev/null and b/x differ\n", "are due"),
    ],
)
def test_what_cannot_be_done_is_not_left_out_in_silence(notes, error):
    with pytest.raises(PatchError, match=error):
        parse_patch(f"diff --git a/x b/x\n{notes}--- a/x\n+++ b/x\n{hunk('a', 'b')}")


def test_two_names_without_a_rename_are_an_error():
    with pytest.raises(PatchError, match="two files are named"):
        parse_patch(f"--- x.py.orig\n+++ x.py\n{hunk('a', 'b')}")


@pytest.mark.parametrize(
    "wrapped",
    ["```diff\n{}\n```", "apply_patch <<'EOF'\n{}\nEOF\n", "<<EOF\n{}\nEOF", "```\n{}\n```\n"],
)
def test_what_models_put_around_a_patch_is_taken_off(wrapped):
    assert parse_patch(wrapped.format(OWN)) == parse_patch(OWN)
    assert parse_patch(wrapped.format(UNIFIED)) == parse_patch(UNIFIED)


@pytest.mark.parametrize("range_line", ["@@ -1,1 +1,1", "@@ ... @@", "@@ … @@", "@@"])
def test_a_range_that_says_nothing_is_no_anchor(range_line):
    patch = f"*** Begin Patch\n*** Update File: a\n{range_line}\n-x\n+y\n*** End Patch"
    assert parse_patch(patch)[0].hunks[0].anchors == ()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "names no file"),
        ("hello", "--- and +++"),
        ("*** Begin Patch\n*** End Patch", "names no file"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y", "cut off"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", "Line 3 ('x')"),
        ("*** Begin Patch\n*** Add File: a\n x\n*** End Patch", "begins with +"),
        ("*** Begin Patch\nnonsense\n*** End Patch", "Line 2 ('nonsense')"),
        ("*** Begin Patch\n*** Delete File: a\0b\n*** End Patch", "can exist"),
        ("*** Begin Patch\n*** Delete File: file:///w/a\n*** End Patch", "URI"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "names no file"),
    ],
)
def test_what_is_no_patch_says_where(text, error):
    with pytest.raises(PatchError) as raised:
        parse_patch(text)
    assert error in str(raised.value)
