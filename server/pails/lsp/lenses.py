"""Code lenses and code actions over the changes that wait in a document. Pure.

Above each change stand `Accept` and `Reject`, on the first line what concerns the whole file. The
code actions offer the same, for clients that show no lenses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from pails.core.hunks import diff_lines
from pails.core.review import ReviewHunk
from pails.core.text import split_lines
from pails.lsp import methods
from pails.lsp.documents import OpenDocument


@dataclass(frozen=True, slots=True)
class PendingHunk:
    """A hunk that waits, in which file, and the turn of which session made it."""

    session_id: str
    turn_id: str
    path: Path
    hunk: ReviewHunk

    @property
    def change_set(self) -> tuple[str, str, Path]:
        """What it is a part of."""
        return self.session_id, self.turn_id, self.path


@dataclass(frozen=True, slots=True)
class _Offer:
    """A command, as a lens calls it and as a menu of code actions does."""

    command: str
    lens: str
    action: str


_ON_HUNK = (
    _Offer(methods.ACCEPT_HUNK, "Accept", "Pails: accept this change"),
    _Offer(methods.REJECT_HUNK, "Reject", "Pails: reject this change"),
)
_WHY = "Pails: reject this change, and say why…"
_ON_FILE = (
    _Offer(methods.SHOW_CHANGES, "", "Pails: show the changes in this file"),
    _Offer(methods.ACCEPT_FILE, "Accept all", "Pails: accept all changes in this file"),
    _Offer(methods.REJECT_FILE, "Reject all", "Pails: reject all changes in this file"),
    _Offer(methods.SHOW_BEFORE, "Show before", "Pails: show this file before the changes"),
)


def code_lenses(document: OpenDocument, pending: Sequence[PendingHunk]) -> list[types.CodeLens]:
    """The lenses of a document, from its top; none when nothing waits."""
    if not pending:
        return []
    count = f"Pails: {len(pending)} change{'s' if len(pending) > 1 else ''}"
    on_file = [_command(offer, offer.lens or count, document.uri) for offer in _ON_FILE]
    by_line = {0: on_file}
    for waiting in pending:
        first, _ = _lines(document, waiting.hunk)
        by_line.setdefault(first, []).extend(
            _command(offer, offer.lens + _removed(waiting.hunk), *_names(waiting))
            for offer in _ON_HUNK
        )
    return [
        types.CodeLens(_place(document, line, number), command)
        for line, commands in sorted(by_line.items())
        for number, command in enumerate(commands)
    ]


def review_actions(
    document: OpenDocument,
    pending: Sequence[PendingHunk],
    params: types.CodeActionParams,
    *,
    can_type: bool,
) -> list[types.CodeAction]:
    """What can be decided at this place; about the whole file where the person opened the menu.

    `can_type`: the client can ask for the reason of a rejection.
    """
    commands: list[types.Command] = []
    for waiting in pending:
        first, last = _lines(document, waiting.hunk)
        if first <= params.range.end.line and params.range.start.line <= last:
            title_end = _removed(waiting.hunk)
            commands += [
                _command(offer, offer.action + title_end, *_names(waiting)) for offer in _ON_HUNK
            ]
            if can_type:
                arguments = [*_names(waiting), "", True]
                commands.append(types.Command(_WHY, methods.REJECT_HUNK, arguments=arguments))
    asked = params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic
    if pending and asked:
        commands += [_command(offer, offer.action, document.uri) for offer in _ON_FILE]
    return [types.CodeAction(command.title, command=command) for command in commands]


def changes_text(name: str, pending: Sequence[PendingHunk]) -> str:
    """The changes as a unified diff without context, for a person to read."""
    parts = [f"--- a/{name}\n+++ b/{name}\n"]
    for hunk in sorted((waiting.hunk for waiting in pending), key=lambda hunk: hunk.line):
        old, new = split_lines(hunk.old), split_lines(hunk.new)
        parts.append(f"@@ -{_extent(hunk.old_line, old)} +{_extent(hunk.line, new)} @@\n")
        parts += [f"{line}\n" for line in diff_lines(hunk.old, hunk.new)]
    return "".join(parts)


def _extent(first: int, lines: Sequence[str]) -> str:
    """As diff writes it: an empty extent names the line before it."""
    return f"{first + 1 if lines else first},{len(lines)}"


def _command(offer: _Offer, title: str, *arguments: str) -> types.Command:
    return types.Command(title, offer.command, arguments=list(arguments))


def _names(waiting: PendingHunk) -> tuple[str, str, str]:
    return waiting.session_id, waiting.turn_id, waiting.hunk.id


def _removed(hunk: ReviewHunk) -> str:
    """Of lines that are gone nothing is to be seen, so the title says how many there were."""
    if hunk.new:
        return ""
    count = len(split_lines(hunk.old))
    return f" ({count} line{'s' if count > 1 else ''} removed)"


def _lines(document: OpenDocument, hunk: ReviewHunk) -> tuple[int, int]:
    """The first and last line of a hunk; where it only removed, the line that is there now.

    The empty line behind the last line end is none that a cursor reaches in every editor.
    """
    lines = document.lines
    bottom = len(lines) - 1
    if bottom and not lines.line(bottom):
        bottom -= 1
    first = min(hunk.line, bottom)
    return first, max(first, min(hunk.line + len(split_lines(hunk.new)) - 1, bottom))


def _place(document: OpenDocument, line: int, number: int) -> types.Range:
    """Where a lens stands. Some clients sort the lenses of a line by their characters."""
    start = document.lines.offset(line, 0, document.encoding)
    at = document.range(start, start + min(number, len(document.lines.line(line)))).end
    return types.Range(at, at)
