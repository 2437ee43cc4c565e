"""Which code actions are offered where."""

import pytest
from lsprotocol import types

from pails.lsp.actions import COMMANDS, code_actions
from pails.lsp.documents import OpenDocuments

URI = "file:///w/x.py"
INVOKED = types.CodeActionTriggerKind.Invoked
AUTOMATIC = types.CodeActionTriggerKind.Automatic


def offered(
    start: tuple[int, int],
    end: tuple[int, int],
    *,
    trigger: types.CodeActionTriggerKind | None = AUTOMATIC,
    diagnostics: tuple[types.Diagnostic, ...] = (),
    only: list[types.CodeActionKind] | None = None,
) -> list[types.CodeAction]:
    documents = OpenDocuments()
    documents.open(types.TextDocumentItem(URI, "python", 1, "x😀 = 1\n\ny"))
    place = types.Range(types.Position(*start), types.Position(*end))
    context = types.CodeActionContext(diagnostics, only, trigger)
    params = types.CodeActionParams(types.TextDocumentIdentifier(URI), place, context)
    return code_actions(documents.require(URI), params)


def titles(actions: list[types.CodeAction]) -> list[str]:
    return [action.title.removeprefix("Pails: ") for action in actions]


ALL = ["explain", "fix", "improve", "document", "write tests", "ask…"]


def test_a_selection_gets_them_all_as_commands() -> None:
    actions = offered((0, 0), (0, 2))
    assert titles(actions) == ALL
    for action in actions:
        assert action.command is not None
        assert action.command.command in COMMANDS
        assert action.command.arguments == [
            URI,
            {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 2}},
        ]


def test_a_mere_cursor_lights_no_bulb() -> None:
    assert offered((0, 1), (0, 1)) == []


@pytest.mark.parametrize("trigger", [INVOKED, None])
def test_a_cursor_means_its_line_when_the_person_asks(
    trigger: types.CodeActionTriggerKind | None,
) -> None:
    actions = offered((0, 1), (0, 1), trigger=trigger)
    assert titles(actions) == ALL
    assert actions[0].command is not None and actions[0].command.arguments is not None
    end = actions[0].command.arguments[1]["end"]  # type: ignore[index]
    assert end == {"line": 0, "character": 7}


def test_a_blank_line_has_nothing_to_ask_about() -> None:
    assert offered((1, 0), (1, 0), trigger=INVOKED) == []


def test_each_diagnostic_can_be_fixed_also_at_a_cursor() -> None:
    place = types.Range(types.Position(0, 0), types.Position(0, 1))
    diagnostic = types.Diagnostic(place, f"undefined name\n{'x' * 100}")
    [action] = offered((0, 0), (0, 0), diagnostics=(diagnostic,))
    assert action.title == "Pails: fix “undefined name”"
    assert action.kind == types.CodeActionKind.QuickFix
    assert action.command is not None and action.command.arguments is not None
    assert action.command.arguments[2] == diagnostic.message


@pytest.mark.parametrize(
    ("only", "kept"),
    [
        ([types.CodeActionKind.QuickFix], ["fix"]),
        ([types.CodeActionKind.Refactor], ["improve", "document", "write tests"]),
        ([types.CodeActionKind.RefactorRewrite], ["improve", "document"]),
        ([types.CodeActionKind.Empty], ALL),
        ([types.CodeActionKind.SourceOrganizeImports], []),
    ],
)
def test_only_the_wanted_kinds(only: list[types.CodeActionKind], kept: list[str]) -> None:
    assert titles(offered((0, 0), (0, 1), only=only)) == kept
