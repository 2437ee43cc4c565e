"""Nothing in an approval hides, moves or reorders."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.policy.visible import visible, visible_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pytest -q", "pytest -q"),
        ("汉字 テスト 😀 é\u3000", "汉字 テスト 😀 é\u3000"),
        ("a\u202egnp.exe", "a⟨U+202E⟩gnp.exe"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("a\u200bb\u200dc\ufeff", "a⟨U+200B⟩b⟨U+200D⟩c⟨U+FEFF⟩"),
        ("x\rrm", "x⟨U+000D⟩rm"),
        ("\x1b[2K\x08\x7f\x9b", "⟨U+001B⟩[2K⟨U+0008⟩⟨U+007F⟩⟨U+009B⟩"),
        ("a\u00a0b\u2028c\u2003", "a⟨U+00A0⟩b⟨U+2028⟩c⟨U+2003⟩"),
        ("\u3164\u2800\ufe0f\U000e0101\U000e0041", "⟨U+3164⟩⟨U+2800⟩⟨U+FE0F⟩⟨U+E0101⟩⟨U+E0041⟩"),
        ("\udc80\ue000", "⟨U+DC80⟩⟨U+E000⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
    ],
)
def test_what_is_hidden_is_marked(text, shown):
    assert visible(text) == visible_line(text) == shown


def test_what_pushes_the_rest_out_of_view_is_counted():
    assert visible("ls" + "\n" * 41 + "rm") == "ls\n⟨40 blank lines⟩\nrm"
    assert visible("ls\n" + " \t\n" * 40 + "rm") == "ls\n⟨40 blank lines⟩\nrm"
    assert visible("ls" + " " * 300 + "; rm") == "ls⟨300 blanks⟩; rm"
    assert visible("a\n\n\tb  c\n") == "a\n\n\tb  c\n"


def test_a_line_is_one_line():
    assert visible_line("a\nb\tc") == "a⟨U+000A⟩b⟨U+0009⟩c"


@given(st.text(), st.text())
def test_different_texts_have_different_lines(one, other):
    assert (visible_line(one) == visible_line(other)) == (one == other)


@given(st.text())
def test_no_line_holds_a_control_or_format_character(text):
    assert not {unicodedata.category(c) for c in visible_line(text)} & {"Cc", "Cf", "Cs", "Zl"}
