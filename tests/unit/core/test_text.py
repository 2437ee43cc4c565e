"""The rules about text that every border shares."""

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.text import (
    common_ends,
    first_line,
    join_surrogates_within,
    safe_cut,
    shown_path,
    split_lines,
)

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


@given(st.text(alphabet="ab\r\n\f\x1c\x85\u2028中", max_size=30))
def test_lines_end_as_in_the_language_server_protocol_and_nowhere_else(text: str):
    lines = split_lines(text)
    assert "".join(lines) == text
    ends = text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert len(lines) == ends + (not text.endswith(("\r", "\n")) and text != "")
    assert not any("\r" in line.rstrip("\r\n") or "\n" in line.rstrip("\r\n") for line in lines)


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_common_ends_are_equal_do_not_overlap_and_are_as_long_as_can_be(one: str, other: str):
    start, end = common_ends(one, other)
    shorter = min(len(one), len(other))
    assert start + end <= shorter
    assert one[:start] == other[:start]
    assert one[len(one) - end :] == other[len(other) - end :]
    assert start == shorter or one[start] != other[start]
    assert start + end == shorter or one[-end - 1] != other[-end - 1]
    assert common_ends(one.encode(), other.encode()) == (start, end)
