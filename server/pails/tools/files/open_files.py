"""Open documents around a command: unsaved text that it would not see, files that it changed.

A command reads the disk. So before it runs the person is asked about what they have not saved, and
afterwards is told which open files have another text on the disk than in their editor.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pails.core.ports import Buffer, Editor
from pails.core.text import shown_path
from pails.host import files
from pails.policy.visible import visible_line
from pails.tools.files.document import text_of
from pails.tools.files.unsaved import buffers_below, text_on_disk
from pails.tools.registry import CallContext

SAVE = "Save all and run"
RUN = "Run anyway"
CANCEL = "Do not run"
ALWAYS_SAVE = "Always save before commands"
NEVER_ASK = "Never ask again in this session"
_REMEMBERED = {ALWAYS_SAVE: SAVE, NEVER_ASK: RUN}
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Before:
    """How the open documents of the workspace stood when a command began.

    `on_disk` has the texts of their files; `saved` were saved for the command, `unsaved` were not.
    `refusal` says why the command is not to run; empty when it may.
    """

    on_disk: Mapping[Path, str | None] = field(default_factory=dict[Path, str | None])
    saved: tuple[Path, ...] = ()
    unsaved: tuple[Path, ...] = ()
    refusal: str = ""


class OpenFiles:
    """The open documents around the commands of one session, in which an answer is remembered."""

    def __init__(self, editor: Editor | None) -> None:
        self._editor = editor
        self._remembered = ""
        self._clean: dict[str, int] = {}
        """By URI, the newest version that was seen to be what is on the disk."""

    async def before(self, context: CallContext, command: str) -> Before:
        """Save, ask or leave it, as the person wants; `command` is one line for them."""
        editor = self._editor
        buffers = buffers_below(editor, context.workspace)
        if editor is None or not buffers:
            return Before()
        on_disk, unsaved = await asyncio.to_thread(self._look, buffers)
        if not unsaved:
            return Before(on_disk)
        answer = self._remembered or await self._ask(editor, context, unsaved, command)
        if answer not in (SAVE, RUN):
            return Before(refusal=_refusal(context, unsaved, answer))
        if answer == SAVE:
            for path in unsaved:
                await editor.save(path)
        buffers = buffers_below(editor, context.workspace)  # the person may have saved meanwhile
        on_disk, left = await asyncio.to_thread(self._look, buffers)
        return Before(on_disk, tuple(path for path in unsaved if path not in left), left)

    async def after(self, context: CallContext, before: Before) -> list[str]:
        """What the model is to know; the client is told of files that changed on the disk."""
        changed: list[Path] = []
        if self._editor and before.on_disk:
            buffers = buffers_below(self._editor, context.workspace)
            changed = await asyncio.to_thread(_changed, buffers, before.on_disk)
            if changed:
                self._editor.changed_on_disk(changed)
        sentences = (
            ("Saved before it ran", before.saved),
            ("Unsaved in the editor, so the command did not see the text there", before.unsaved),
            (
                "Changed on the disk while open in the editor, whose text the other tools still "
                "use until it is reloaded",
                changed,
            ),
        )
        return [f"{said}: {_names(context, paths)}" for said, paths in sentences if paths]

    async def _ask(
        self, editor: Editor, context: CallContext, unsaved: Sequence[Path], command: str
    ) -> str:
        """`SAVE`, `RUN`, or whatever the person says instead. Nobody's answer means to run."""
        options = [RUN, CANCEL, NEVER_ASK]
        if editor.can_save:
            options = [SAVE, RUN, CANCEL, ALWAYS_SAVE, NEVER_ASK]
        verb = "has" if len(unsaved) == 1 else "have"
        names = visible_line(_names(context, unsaved))
        text = f"{names} {verb} unsaved text, which this command would not see: {command}"
        if not editor.can_save:
            text += (
                "\nThis editor cannot be asked to save. To have it seen, save before you answer."
            )
        answer = await context.person.ask(text, options)
        self._remembered = _REMEMBERED.get(answer or "", "")
        return self._remembered or answer or RUN

    def _look(self, buffers: Sequence[Buffer]) -> tuple[dict[Path, str | None], tuple[Path, ...]]:
        """Blocks. The texts on the disk, and the documents with text that is not saved.

        Not among these are those whose files somebody has changed since: to save would undo that.
        """
        on_disk = {buffer.path: text_on_disk(buffer.path) for buffer in buffers}
        unsaved: list[Path] = []
        for buffer in buffers:
            if text_of(buffer) == (on_disk[buffer.path] or ""):
                self._clean[buffer.uri] = buffer.version
            elif not self._is_outdated(buffer):
                unsaved.append(buffer.path)
        return on_disk, tuple(unsaved)

    def _is_outdated(self, buffer: Buffer) -> bool:
        """Whether it has another text than its file only because the file has changed."""
        if self._clean.get(buffer.uri) == buffer.version:
            return True
        return buffer.settled_at is not None and files.changed_at(buffer.path) > buffer.settled_at


def _changed(buffers: Sequence[Buffer], before: Mapping[Path, str | None]) -> list[Path]:
    """Blocks. Open files that have another text now, which is not that of their documents."""
    changed: list[Path] = []
    for buffer in buffers:
        now = text_on_disk(buffer.path)
        if buffer.path in before and now != before[buffer.path] and now != text_of(buffer):
            changed.append(buffer.path)
    return changed


def _names(context: CallContext, paths: Sequence[Path]) -> str:
    shown = [shown_path(path, context.workspace) for path in paths[:_MOST_NAMED]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _refusal(context: CallContext, unsaved: Sequence[Path], answer: str) -> str:
    said = "" if answer == CANCEL else f" They say: {answer}"
    return (
        f"Nothing was run: the person does not want it to run while there is unsaved text in "
        f"{_names(context, unsaved)}.{said} Go on without it, or ask what they want."
    )
