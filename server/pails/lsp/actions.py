"""Code actions: what a person may ask for about a place in a document.

Each is a command with the arguments `[uri, range]`, so that any client can offer it; running one
starts a turn in the editor session of the workspace, see `commands.py`. `protocol.py` has the types
of all commands.
"""

from collections.abc import Sequence

from lsprotocol import types

from pails.core.text import first_line
from pails.lsp.documents import OpenDocument

EXPLAIN = "pails.explain"
FIX = "pails.fix"
IMPROVE = "pails.improve"
DOCUMENT = "pails.document"
TESTS = "pails.tests"
ASK = "pails.ask"
FIX_DIAGNOSTIC = "pails.fixDiagnostic"
CANCEL = "pails.cancel"

COMMANDS = (EXPLAIN, FIX, IMPROVE, DOCUMENT, TESTS, ASK, FIX_DIAGNOSTIC, CANCEL)

KINDS = [
    types.CodeActionKind.QuickFix,
    types.CodeActionKind.Refactor,
    types.CodeActionKind.RefactorRewrite,
]

# Explaining and asking change nothing, so they have no kind: no kind of the specification fits.
_ON_SELECTION: tuple[tuple[str, str, types.CodeActionKind | None], ...] = (
    ("Pails: explain", EXPLAIN, None),
    ("Pails: fix", FIX, types.CodeActionKind.QuickFix),
    ("Pails: improve", IMPROVE, types.CodeActionKind.RefactorRewrite),
    ("Pails: document", DOCUMENT, types.CodeActionKind.RefactorRewrite),
    ("Pails: write tests", TESTS, types.CodeActionKind.Refactor),
    ("Pails: ask…", ASK, None),
)


def code_actions(document: OpenDocument, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What we offer at this place.

    Diagnostics can be fixed anywhere. The rest wants a selection, or a person who opened the menu
    themselves: offered unasked for a mere cursor it would light the bulb on every line. A cursor
    means its whole line.
    """
    uri, context = document.uri, params.context
    offered = [_fix_diagnostic(uri, diagnostic) for diagnostic in context.diagnostics]
    place = params.range
    asked = context.trigger_kind is not types.CodeActionTriggerKind.Automatic
    if place.start == place.end and asked:
        place = whole_line(document, place.start.line)
    if place.start != place.end:
        offered += [
            types.CodeAction(title, kind=kind, command=_command(title, command, uri, place))
            for title, command, kind in _ON_SELECTION
        ]
    return [action for action in offered if is_wanted(action, context.only)]


def whole_line(document: OpenDocument, line: int) -> types.Range:
    """The range of one line; empty for a blank one, about which there is nothing to ask."""
    text = document.lines.line(line)
    if not text.strip():
        return types.Range(types.Position(line, 0), types.Position(line, 0))
    start = document.lines.offset(line, 0, document.encoding)
    return document.range(start, start + len(text))


def _fix_diagnostic(uri: str, diagnostic: types.Diagnostic) -> types.CodeAction:
    message = diagnostic.message
    title = f"Pails: fix “{first_line(message, 60)}”"
    command = _command(title, FIX_DIAGNOSTIC, uri, diagnostic.range, message)
    return types.CodeAction(
        title, kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
    )


def _command(title: str, command: str, uri: str, place: types.Range, *more: str) -> types.Command:
    plain = {
        end: {"line": position.line, "character": position.character}
        for end, position in (("start", place.start), ("end", place.end))
    }
    return types.Command(title, command, arguments=[uri, plain, *more])


def is_wanted(action: types.CodeAction, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether the client asked for such actions.

    Kinds are hierarchical: `refactor` asks for `refactor.rewrite` too.
    """
    if not only:
        return True
    kind = _kind_text(action.kind)
    return any(
        kind == wanted or kind.startswith(f"{wanted}.") or not wanted
        for wanted in map(_kind_text, only)
    )


def _kind_text(kind: types.CodeActionKind | str | None) -> str:
    return str(kind.value if isinstance(kind, types.CodeActionKind) else kind or "")
