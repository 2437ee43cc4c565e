"""The edit engine: what matches, what is changed, and what the errors say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.ports import TextChange
from pails.tools.text.edit import EditError, EditPlan, apply_changes, find_edit
from pails.tools.text.lines import dominant_line_end, fitted_to, fold, numbered_lines
from tests.support import zoo


def edited(text: str, old: str, new: str, *, replace_all: bool = False) -> str:
    plan = find_edit(text, old, new, replace_all=replace_all)
    assert isinstance(plan, EditPlan), plan
    return apply_changes(text, plan.changes)


def refused(text: str, old: str, new: str = "other", *, replace_all: bool = False) -> str:
    plan = find_edit(text, old, new, replace_all=replace_all)
    assert isinstance(plan, EditError), plan
    return plan.message


@pytest.mark.parametrize("old", ["a\nb", "a\r\nb", "a\rb"])
@pytest.mark.parametrize("new", ["a\nB", "a\r\nB"])
def test_line_ends_do_not_matter_for_matching_and_are_kept(old, new):
    text = "a\r\nb\r\nc\r\n"
    plan = find_edit(text, old, new)
    assert isinstance(plan, EditPlan), plan
    assert (apply_changes(text, plan.changes), plan.note) == ("a\r\nB\r\nc\r\n", "")


def test_inserted_lines_take_the_line_end_of_the_file():
    assert edited("a\r\nb\r\n", "b", "b1\nb2") == "a\r\nb1\r\nb2\r\n"
    assert edited("a\rb\r", "b", "b1\nb2") == "a\rb1\rb2\r"
    assert edited("a\nb\n", "b", "b1\r\nb2") == "a\nb1\nb2\n"


def test_one_word_in_a_mixed_file_changes_only_that_word():
    text = zoo.MIXED.decode()
    wanted = text.replace("\nlf 7\n", "\nLF 7\n")
    assert wanted != text
    assert edited(text, "crlf 7\nlf 7\ncrlf 8", "crlf 7\nLF 7\ncrlf 8") == wanted


def test_lines_replaced_one_for_one_keep_their_own_ends_in_a_mixed_file():
    assert edited("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nb\nc\nD") == "A\r\nb\nc\r\nD\n"


@pytest.mark.parametrize("new", ["$& $$ $1 \\1 \\g<0> \\n", "\\\\", "{old} %s", "new\u2028line"])
@pytest.mark.parametrize("text", ["(X)\n", "(X)\r\n"])
@pytest.mark.parametrize("replace_all", [False, True])
def test_the_new_text_is_inserted_verbatim(text, new, replace_all):
    assert edited(text, "X", new, replace_all=replace_all) == text.replace("X", new)


def test_replace_all_replaces_every_occurrence():
    assert edited("x x\r\nx\r\n", "x", "yy", replace_all=True) == "yy yy\r\nyy\r\n"


def test_ambiguity_is_an_error_with_count_and_lines():
    message = refused("x = 1\ny\nx = 1\nx = 1\n", "x = 1")
    assert "3 times" in message
    assert "lines 1, 3, 4" in message


def test_overlapping_occurrences_are_ambiguous():
    assert "2 times" in refused("aaa", "aa")


@pytest.mark.parametrize("gutter", ["  12| ", "12\t", "12│ ", "   12→", "12: "])
def test_a_line_number_gutter_is_recognised_and_named(gutter):
    text = "x = 1\ny = 2\n"
    assert "line numbers" in refused(text, f"{gutter}x = 1")
    both = f"{gutter}x = 1\n{gutter.replace('12', '13')}y = 2"
    assert "line numbers" in refused(text, both)


def test_text_that_only_looks_like_a_gutter_is_edited():
    assert edited("12| x\n", "12| x", "12| y") == "12| y\n"


def test_a_near_match_leaves_every_other_line_alone():
    text = "“quoted”  \ntarget\nlast\t \n"
    plan = find_edit(text, "target \nlast", "goal\nlast")
    assert isinstance(plan, EditPlan)
    assert apply_changes(text, plan.changes) == "“quoted”  \ngoal\nlast\t \n"
    assert "Approximate match, lines 2-3" in plan.note


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_uniform_shift_of_the_indentation_is_adapted(end):
    text = end.join(["def f():", "   if x:", "      y", ""])
    plan = find_edit(text, "    if x:\n       y", "    if x:\n       y\n       z")
    assert isinstance(plan, EditPlan)
    wanted = end.join(["def f():", "   if x:", "      y", "      z", ""])
    assert apply_changes(text, plan.changes) == wanted
    assert "Approximate match, lines 2-3" in plan.note


def test_an_uneven_indentation_is_refused_and_shown():
    old, new = "    if x:\n        y", "    if x:\n        z"  # shifted by one blank, and by two
    message = refused("def f():\n   if x:\n      y\n", old, new)
    assert "2\t   if x:\n3\t      y" in message


def test_tabs_for_blanks_are_refused_and_shown():
    assert "2\t\ty" in refused("x:\n\ty\n", "    y\n")


def test_two_near_matches_are_refused_with_their_lines():
    message = refused("  a\nb\n  a\n", "   a")
    assert "2 places" in message
    assert "lines 1, 3" in message


def test_a_near_match_at_the_end_without_newline():
    assert edited("a\n\tb", "b\n", "c\n") == "a\n\tc"
    assert edited("a\nb", "b\n", "") == "a\n"


def test_nothing_similar_enough_shows_the_nearest_lines_and_the_rule():
    text = "\n".join(f"value_{n} = compute({n})" for n in range(50))
    message = refused(text, "value_31 = computed(31)")
    assert "not found" in message
    assert "exact text" in message
    assert "32\tvalue_31 = compute(31)" in message


def test_nothing_similar_says_so():
    assert "No line is similar" in refused("abc\n", "zzzzzzzzzzz")


def test_empty_and_equal_are_errors():
    assert "empty" in refused("abc", "")
    assert "the same" in refused("a\r\nb", "a\nb", "a\r\nb")


def test_blank_old_text_is_no_near_match():
    assert "not found" in refused("a\nb\n", "   \n  \n")


PIECES = st.text(alphabet=["a", "b", "\n", "\r", " ", "😀"], max_size=30)


@given(PIECES, PIECES, PIECES)
def test_bytes_outside_the_match_never_change(before, after, new):
    result = edited(f"{before}|needle|{after}", "needle", new)
    assert result.startswith(f"{before}|")
    assert result.endswith(f"|{after}")


def test_changes_that_overlap_or_lie_outside_are_refused():
    with pytest.raises(ValueError, match="overlaps"):
        apply_changes("abc", [TextChange(0, 2, ""), TextChange(1, 3, "")])
    with pytest.raises(ValueError, match="outside"):
        apply_changes("abc", [TextChange(2, 4, "")])


@given(st.text(alphabet=["a", "\r", "\n", "b"], max_size=40))
def test_folded_offsets_lead_back(text):
    folded = fold(text)
    for index, char in enumerate(folded.text):
        piece = text[folded.raw(index) : folded.raw(index + 1)]
        assert piece in ({"\n", "\r", "\r\n"} if char == "\n" else {char})


def test_dominant_line_end():
    assert [dominant_line_end(t) for t in ("", "a\r\nb\r\nc\n", "a\rb", "a\nb\r\n")] == [
        "\n",
        "\r\n",
        "\r",
        "\n",
    ]


def test_a_rewrite_keeps_line_ends():
    assert fitted_to("a\r\nb\r\n", "a\nB\nc\n") == "a\r\nB\r\nc\r\n"
    assert fitted_to("a\r\nb\nc\r\n", "a\nB\nc\n") == "a\r\nB\nc\r\n"
    assert fitted_to("no end", "\ufeffa\r\nb") == "a\r\nb"


def test_a_rewrite_keeps_the_end_of_the_last_line():
    assert fitted_to("a\nb\n", "a\nB") == "a\nB\n"
    assert fitted_to("a\r\nb\r\n", "a\nb\nc") == "a\r\nb\r\nc\r\n"
    assert fitted_to("a\nb", "a\nB\n") == "a\nB\n"
    assert fitted_to("a\nb", "a\nB") == "a\nB"
    assert fitted_to("a\n", "") == ""


def test_texts_that_were_escaped_twice_are_understood_where_nothing_else_matches():
    text = 'def f():\r\n\tprint("a\\n")\r\n'
    once = ('def f():\n\tprint("a\\n")', 'def f():\n\tprint("b\\n")')
    twice = tuple(part.replace("\\", "\\\\").replace("\n", "\\n") for part in once)
    assert edited(text, *twice) == edited(text, *once) == text.replace("a", "b")
    assert edited(text, twice[0], once[1]) == text.replace("a", "b")
    plan = find_edit(text, *twice)
    assert isinstance(plan, EditPlan) and "line end" in plan.note
    assert edited(r"x = '\n'; y", r"'\n'; y", r"'\n'; z") == r"x = '\n'; z"
    assert "not found" in refused("a\nb\n", r"a\nc", "x")
    assert "not found" in refused("a\n", r"\n", "x")


def test_an_edit_that_was_made_before_is_said_to_be_done():
    message = refused("def f():\n    return 1\n", "    return 0\n", "    return 1\n")
    assert message.startswith("`old` was not found.")
    assert message.endswith("`new` is in the file already (line 2). If this edit was made before, "
                            "it is done.")  # fmt: skip
    assert "already" not in refused("a = 1\n", "b = 2", "b = 3")
    assert "already" not in refused("a = 1\n", "b = 2", "")


def test_numbered_lines_split_as_compilers_do():
    assert numbered_lines("a\u2028b\x0c\r\nc\n") == ["a\u2028b\x0c", "c"]
    assert numbered_lines("a\rb\r") == ["a", "b"]
    assert numbered_lines("\n") == [""]


def test_a_match_at_a_million_places_of_one_line_is_told_without_counting_lines_for_each():
    message = refused("x" * 400_000, "xx")
    assert message.startswith("`old` occurs 399999 times (lines 1, 1,")


def test_a_byte_order_mark_that_a_model_sends_is_not_written_into_the_text():
    assert edited("import os\n", "import os", "\ufeffimport re") == "import re\n"
    assert edited("import os\n", "\ufeffimport os", "\ufeffimport re") == "import re\n"
    assert edited("a\ufeffb", "a\ufeffb", "ab") == "ab"
