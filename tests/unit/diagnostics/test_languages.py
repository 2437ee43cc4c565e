"""Which language a file is in."""

from pathlib import PurePosixPath

import pytest

from pails.diagnostics.grammars import load
from pails.diagnostics.languages import GRAMMARS, IMPRECISE, candidates


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a/b.py", "", ("python",)),
        ("A.PY", "", ("python",)),
        ("x.test.tsx", "", ("tsx",)),
        ("x.d.ts", "", ("typescript",)),
        ("a.jsx", "", ("javascript",)),
        ("a.h", "", ("c", "cpp")),
        ("package.json", "", ("json",)),
        ("tsconfig.json", "", ("jsonc",)),
        ("tsconfig.build.json", "", ("jsonc",)),
        ("w/.vscode/settings.json", "", ("jsonc",)),
        ("w/settings.json", "", ("json",)),
        (".bashrc", "", ("bash",)),
        ("Gemfile", "", ("ruby",)),
        ("Cargo.lock", "", ("toml",)),
        ("Makefile", "a:\n\tb\n", ()),
        ("Dockerfile", "FROM a\n", ()),
        ("notes.txt", "#!/bin/sh\n", ()),
        ("tool", "#!/usr/bin/env python3\n", ("python",)),
        ("tool", "\ufeff#!/usr/bin/env -S node --x\n", ("javascript",)),
        ("tool", "#!/bin/sh -e\n", ("bash",)),
        ("tool", "#!/usr/local/bin/python3.12\n", ("python",)),
        ("tool", "#!/usr/bin/perl\n", ()),
        ("tool", "hello", ()),
        ("", "", ()),
    ],
)
def test_candidates(path: str, text: str, expected: tuple[str, ...]) -> None:
    assert candidates(PurePosixPath(path), text) == expected


def test_every_candidate_has_a_grammar() -> None:
    extensions = "sh c cs cpp css go html java js json jsonc kt lua md php py rb rs sql swift toml"
    for extension in [*extensions.split(), "tsx", "ts", "yaml", "h"]:
        for language in candidates(PurePosixPath(f"a.{extension}")):
            assert language in GRAMMARS
    assert IMPRECISE.keys() <= GRAMMARS.keys()


def test_twenty_two_wheels() -> None:
    assert len({grammar.module for grammar in GRAMMARS.values()}) == 22


@pytest.mark.parametrize("language", GRAMMARS)
def test_grammar_loads(language: str) -> None:
    assert load(language).node_kind_count > 0
