"""One key for each document, however the client spells its URI."""

from pathlib import Path

import pytest

from pails.lsp import uris


@pytest.mark.parametrize(
    "spelling",
    ["file:///c%3A/x/y.py", "file:///C:/x/y.py", "file:///c:/x/y.py", "FILE:///C%3a/x/y.py"],
)
def test_drive_letters_have_one_spelling(spelling: str) -> None:
    assert uris.canonical(spelling) == "file:///c:/x/y.py"
    assert uris.to_path(spelling) == Path("c:/x/y.py")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c.py", "/a b/c.py"),
        ("file:///a b/c.py", "/a b/c.py"),
        ("file:///100%25.txt", "/100%.txt"),
        ("file:///a;v=1.txt", "/a;v=1.txt"),
        ("file:///%E4%B8%AD/%F0%9F%98%80.py", "/中/😀.py"),
        ("file:///a%23b%3Fc", "/a#b?c"),
        ("file://localhost/x", "/x"),
        ("file://server/share/x", "//server/share/x"),
    ],
)
def test_paths_of_files(uri: str, path: str) -> None:
    assert uris.to_path(uri) == Path(path)
    assert uris.canonical(uris.from_path(Path(path))) == uris.canonical(uri)


def test_names_that_are_no_utf8_survive() -> None:
    path = uris.to_path("file:///a%FFb")
    assert path is not None
    assert uris.from_path(path) == "file:///a%FFb"


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/x.py?HEAD", "http://[bad", "", "x"])
def test_other_schemes_have_no_path_and_stay_as_they_are(uri: str) -> None:
    assert uris.to_path(uri) is None
    assert uris.canonical(uri) == uri


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///a/b%20c.py", "b c.py"),
        ("untitled:Untitled-1", "Untitled-1"),
        ("file:///", "file:///"),
    ],
)
def test_names_for_people(uri: str, name: str) -> None:
    assert uris.name(uri) == name
