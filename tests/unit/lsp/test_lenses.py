"""Lenses and code actions over waiting changes: what, where, and that nothing is left without."""

from pathlib import Path

import pytest
from lsprotocol import types

from pails.core.review import ReviewHunk
from pails.lsp import methods
from pails.lsp.documents import OpenDocument
from pails.lsp.lenses import PendingHunk, changes_text, code_lenses, review_actions
from pails.lsp.positions import Encoding

URI = "file:///w/x.py"
PATH = Path("/w/x.py")
TEXT = "one\ntwo 😀\nthree\nfour\n"
ON_FILE = ["Accept all", "Reject all", "Show before"]


def document(text: str = TEXT) -> OpenDocument:
    return OpenDocument(URI, 1, text, Encoding.UTF16)


def waiting(line: int, old: str, new: str, hunk_id: str = "h") -> PendingHunk:
    return PendingHunk("s", "t", PATH, ReviewHunk(hunk_id, "pending", old, new, line, line))


def titles(lenses: list[types.CodeLens], line: int) -> list[str]:
    return [
        lens.command.title
        for lens in lenses
        if lens.command and lens.range.start.line == line == lens.range.end.line
    ]


def test_nothing_waits_nothing_shows() -> None:
    assert code_lenses(document(), []) == []


def test_each_change_has_its_lenses_and_the_file_has_its_own() -> None:
    lenses = code_lenses(
        document(), [waiting(3, "4\n", "four\n", "h2"), waiting(1, "", "two 😀\n")]
    )
    assert titles(lenses, 0) == ["Pails: 2 changes", *ON_FILE]
    assert titles(lenses, 1) == titles(lenses, 3) == ["Accept", "Reject"]
    commands = [lens.command for lens in lenses if lens.command]
    assert [command.command for command in commands][:4] == [
        methods.SHOW_CHANGES,
        methods.ACCEPT_FILE,
        methods.REJECT_FILE,
        methods.SHOW_BEFORE,
    ]
    assert commands[1].arguments == [URI]
    assert commands[-1].command == methods.REJECT_HUNK
    assert commands[-1].arguments == ["s", "t", "h2"]


def test_a_change_in_the_first_line_stands_behind_the_file() -> None:
    lenses = code_lenses(document(), [waiting(0, "1\n", "one\n")])
    assert titles(lenses, 0) == ["Pails: 1 change", *ON_FILE, "Accept", "Reject"]


def test_lenses_of_a_line_keep_their_order_where_a_client_sorts_them() -> None:
    places = [lens.range.start.character for lens in code_lenses(document(), [waiting(1, "", "x")])]
    assert places == [0, 1, 2, 3, 0, 1]
    short = [
        lens.range.start.character for lens in code_lenses(document("ab\n"), [waiting(0, "", "x")])
    ]
    assert short == [0, 1, 2, 2, 2, 2], "no place is outside of the line"


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        (TEXT, 2, 2),
        (TEXT, 4, 3),  # at the end: an editor has no fifth line
        ("one", 1, 0),
        ("", 0, 0),
        ("one\r\ntwo\r\n", 9, 1),
    ],
)
def test_removed_lines_are_told_where_they_were(text: str, line: int, shown: int) -> None:
    lenses = code_lenses(document(text), [waiting(line, "a\nb\n", "")])
    assert titles(lenses, shown)[-2:] == ["Accept (2 lines removed)", "Reject (2 lines removed)"]


def actions_at(
    line: int,
    *,
    trigger: types.CodeActionTriggerKind = types.CodeActionTriggerKind.Automatic,
    can_type: bool = False,
) -> list[str]:
    place = types.Range(types.Position(line, 0), types.Position(line, 0))
    context = types.CodeActionContext([], None, trigger)
    params = types.CodeActionParams(types.TextDocumentIdentifier(URI), place, context)
    pending = [waiting(1, "2\n", "two 😀\nthree\n"), waiting(4, "five\n", "")]
    actions = review_actions(document(), pending, params, can_type=can_type)
    return [action.title for action in actions]


DECIDE = ["Pails: accept this change", "Pails: reject this change"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (0, []),
        (1, DECIDE),
        (2, DECIDE),
        (3, [f"{title} (1 line removed)" for title in DECIDE]),
    ],
)
def test_actions_inside_of_a_change(line: int, offered: list[str]) -> None:
    assert actions_at(line) == offered


def test_who_can_type_can_say_why() -> None:
    assert actions_at(1, can_type=True) == [*DECIDE, "Pails: reject this change, and say why…"]


def test_who_opens_the_menu_can_decide_about_the_file() -> None:
    asked = actions_at(0, trigger=types.CodeActionTriggerKind.Invoked)
    assert asked == [
        "Pails: show the changes in this file",
        "Pails: accept all changes in this file",
        "Pails: reject all changes in this file",
        "Pails: show this file before the changes",
    ]


def test_the_changes_as_a_diff() -> None:
    pending = [
        waiting(3, "4", "four\r\n"),
        PendingHunk("s", "t", PATH, ReviewHunk("g", "pending", "a\n", "", 0, 0)),
    ]
    assert changes_text("x.py", pending) == (
        "--- a/x.py\n+++ b/x.py\n@@ -1,1 +0,0 @@\n-a\n@@ -4,1 +4,1 @@\n-4\n+four\n"
    )
