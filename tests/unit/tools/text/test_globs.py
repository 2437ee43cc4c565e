"""Glob patterns."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.tools.text.globs import compile_glob


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "a.py/b"]),
        ("./*.py", ["a.py"], ["a.txt"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "y/src/a.py"]),
        ("/a.py", ["a.py"], ["x/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "xsrc/a.py"]),
        ("**/test_*.py", ["test_a.py", "x/test_b.py"], ["x/my_test_a.py"]),
        ("src/**", ["src/a", "src/x/y"], ["src", "a"]),
        ("src/", ["src/a", "src/x/y"], ["a"]),
        ("*", ["a", "x/y"], []),
        ("?.c", ["a.c"], ["ab.c", "x/ab.c"]),
        ("[ab].c", ["a.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.js"]),
        ("{src,lib}/*.c", ["src/a.c", "lib/a.c"], ["x/a.c"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a,b", ["a,b"], []),
        ("a[b", ["a[b"], ["ab"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        ("a+(b).c", ["a+(b).c"], ["aab.c"]),
        ("中*", ["中文"], ["文"]),
        ("a}b{", ["a}b{"], []),
    ],
)
def test_patterns(pattern, hits, misses):
    glob = compile_glob(pattern)
    assert [path for path in hits if not glob.matches(path)] == []
    assert [path for path in misses if glob.matches(path)] == []


def test_a_dot_in_front_asks_for_hidden_names():
    hidden = [".env", ".github/**", "x/.git*"]
    plain = ["*.py", "./a", "../a", "a.b"]
    assert [compile_glob(p).names_hidden for p in hidden + plain] == [True] * 3 + [False] * 4


def test_many_stars_cannot_freeze_the_process_at_a_name_of_many_equal_letters():
    assert not compile_glob("*a" * 25 + "b").matches("a" * 200)
    assert compile_glob("*a" * 25).matches("a" * 200)
    assert not compile_glob("**/" * 40 + "b").matches("a/" * 40)


@given(
    st.text("ab*?", min_size=1, max_size=8).filter(lambda text: "**" not in text),
    st.text("ab", max_size=8),
)
def test_stars_match_as_the_standard_library_says(pattern, name):
    assert compile_glob(pattern).matches(name) == fnmatchcase(name, pattern)


def test_braces_without_end_stand_for_themselves():
    pattern = "{" * 2000 + "}" * 2000
    assert compile_glob(pattern).matches(pattern)
