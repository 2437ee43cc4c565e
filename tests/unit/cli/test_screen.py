import io

import pytest

from pails.cli.screen import Screen, display_width, printable
from tests.unit.cli.support import FakeTerminal, plain_screen, terminal_screen

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"


def test_a_row_never_starts_in_the_middle_of_the_answer():
    screen, shown = plain_screen()
    screen.write_answer("half a line")
    screen.row("row")
    screen.write_answer("whole line\n")
    screen.row("row")
    assert shown.getvalue() == "half a line\nrow\nwhole line\nrow\n"


def test_a_row_ends_a_prompt_that_nobody_answered():
    screen, shown = plain_screen()
    screen.prompt("  > ")
    screen.row("cancelled")
    screen.prompt("  > ")
    screen.prompt_answered()
    screen.row("after Enter")
    assert shown.getvalue() == "  > \ncancelled\n  > after Enter\n"


def test_the_answer_alone_goes_to_its_own_stream():
    answer, rows = io.StringIO(), io.StringIO()
    screen = Screen(answer, rows, {})
    screen.write_answer("the answer")
    screen.row("beside it")
    assert (answer.getvalue(), rows.getvalue()) == ("the answer\n", "beside it\n")


def test_diffs_are_coloured_by_line_and_not_wrapped():
    screen, _ = terminal_screen()
    long_line = "+" + "宽" * 300
    lines = screen.diff(DIFF + long_line, indent="")
    assert lines == [
        "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
        " same",
        "\x1b[31m-old\x1b[0m",
        "\x1b[32m+new\x1b[0m",
        f"\x1b[32m{long_line}\x1b[0m",
    ]


def test_removed_lines_that_look_like_file_names_are_kept():
    screen, _ = plain_screen()
    diff = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +0,0 @@\n--- a comment\n-SELECT 1;\n"
    assert screen.diff(diff, indent="") == ["@@ -1,2 +0,0 @@", "--- a comment", "-SELECT 1;"]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_it_is_not_wanted(environ: dict[str, str]):
    screen, _ = terminal_screen(**environ)
    assert screen.paint("text", "red") == "text"


def test_no_colour_in_a_file_and_an_empty_no_color_means_nothing():
    assert plain_screen()[0].paint("text", "red") == "text"
    assert Screen(io.StringIO(), FakeTerminal(), {"NO_COLOR": ""}).paint("x", "red") != "x"


def test_what_others_wrote_cannot_drive_the_terminal():
    hostile = "\x1b[2J\x1b]0;title\x07 \u202eabc \x9b31m"
    assert printable(hostile) == "\\x1b[2J\\x1b]0;title\\x07 \\u202eabc \\x9b31m"


def test_ordinary_text_stays_as_it_is():
    text = "tab\there 漢字 👩‍👩‍👧 שלום e\u0301\n"
    assert printable(text) == text
    assert printable("a\r\nb") == "a\nb"


def test_display_width_counts_wide_and_combining_characters():
    assert display_width("ab") == 2
    assert display_width("漢字") == 4
    assert display_width("e\u0301") == 1
