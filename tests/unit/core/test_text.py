"""The rules about text that every border shares."""

import os
import unicodedata
from pathlib import Path

import pytest

from pails.core.text import first_line, join_surrogates_within, safe_cut, shown_path

FAMILY = "👨‍👩‍👧‍👦"
ACCENT = "e\u0301"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/w/src/计算.py", "src/计算.py"),
        ("/w", "."),
        ("/wide/a.py", "/wide/a.py"),
        ("/other/a b.py", "/other/a b.py"),
        ("/w/two\r\nlines", "two\\r\\nlines"),
        ("/other/two\nlines", "/other/two\\nlines"),
        (os.fsdecode(b"/w/bad\xff"), "bad\ufffd"),
    ],
)
def test_a_path_is_one_line_and_relative_inside_the_workspace(path: str, shown: str):
    assert shown_path(Path(path), Path("/w")) == shown


def test_half_characters_are_mended_wherever_they_are_in_json():
    data = {"a\ud83d": ["\ud83d\ude00", {"b": "\ude00"}, 5, None, True]}
    assert join_surrogates_within(data) == {"a\ufffd": ["😀", {"b": "\ufffd"}, 5, None, True]}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one"),
        ("\n \n  one \r\ntwo", "one"),
        ("", ""),
        (" \n", ""),
        ("1234567890", "1234567890"),
        ("1234567890\n", "1234567890"),
        ("12345678901", "123456789…"),
        (f"12345{FAMILY}", "12345…"),
        (f"12345678{ACCENT}12", "12345678…"),
    ],
)
def test_the_first_line_is_cut_between_whole_characters(text: str, line: str):
    assert first_line(text, 10) == line


@pytest.mark.parametrize("unit", [FAMILY, ACCENT, "🇩🇪", "👍🏽", "\r\n", "☝️", "\ud83d\ude00"])
@pytest.mark.parametrize("count", [1, 3])
def test_no_visible_character_is_cut_in_two(unit: str, count: int):
    text = unit * count + "."
    whole = {n * len(unit) for n in range(count + 1)} | {len(text)}
    assert {safe_cut(text, index) for index in range(len(text) + 1)} <= whole


def test_a_cut_is_always_found():
    assert safe_cut("abc", 500) == 3
    text = "\u0301" * 1000
    assert unicodedata.combining(text[0])
    assert safe_cut(text, 500) == 500
