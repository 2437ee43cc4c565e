"""Reading patches of both forms."""

import pytest

from pails.tools.patch_text import FilePatch, PatchError, PatchHunk, parse_patch

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
                PatchHunk(("context", "old"), ("context", "new"), line=2),
                PatchHunk((), ("put in",), line=9),
            ),
        ),
        FilePatch("add", "c.py", content="first\nsecond\n"),
        FilePatch("delete", "d.py"),
        FilePatch("update", "e.py", "f.py"),
    )


def test_lines_that_end_in_two_characters_are_the_same_lines():
    assert parse_patch(OWN.replace("\n", "\r\n")) == parse_patch(OWN)


def test_a_line_that_goes_and_looks_like_a_header():
    patch = "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1 @@\n keep\n--- a comment\n"
    (file,) = parse_patch(patch)
    assert file.hunks == (PatchHunk(("keep", "-- a comment"), ("keep",), line=0),)


def test_updates_of_one_file_are_one():
    again = "*** Update File: a\n@@\n-1\n+2\n"
    (file,) = parse_patch(f"*** Begin Patch\n{again}{again}*** End Patch")
    assert len(file.hunks) == 2


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
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "names no file"),
    ],
)
def test_what_is_no_patch_says_where(text, error):
    with pytest.raises(PatchError) as raised:
        parse_patch(text)
    assert error in str(raised.value)
