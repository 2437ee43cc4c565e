"""What is told of the files that a call has written: to the session, the editor and the model."""

import asyncio
import logging
from dataclasses import replace

from pails.core.errors import StorageError
from pails.core.events import FileChanged, SyntaxChecked
from pails.core.ports import Change, ToolResult
from pails.core.tasks import uninterrupted
from pails.core.text import shown_path
from pails.tools.calls.choosing import Typed
from pails.tools.calls.findings import findings
from pails.tools.calls.surroundings import Surroundings
from pails.tools.registry import Proposal
from pails.tools.text.diff import DiffText, unified

log = logging.getLogger(__name__)

IF_DONE = "If this completes the task, check it where you can, then answer in words."
"""Said after a good write: small models do not stop by themselves, and undo what they did."""


class WrittenFiles:
    """Tells of the files that the calls of one turn have written, and checks their syntax."""

    def __init__(self, turn_id: str, around: Surroundings) -> None:
        self._turn_id = turn_id
        self._around = around

    def begin_checks(self, proposal: Proposal) -> None:
        """Check what is proposed while it is decided on, logged and written."""
        for file in proposal.files:
            if file.after is not None:
                self._around.checker.begin(file.path, file.before, file.after)

    async def told(self, call_id: str, result: ToolResult, typed: Typed) -> ToolResult:
        """Tell of each written file; the findings of its check ride on the result."""
        said = [await self._told(call_id, change, typed) for change in result.changes]
        return replace(result, text="\n".join((result.text, *filter(None, said))))

    async def _told(self, call_id: str, change: Change, typed: Typed) -> str:
        around = self._around
        shown = shown_path(change.path, around.workspace)
        # What is written must be told of, also when the turn is cancelled at this moment.
        await uninterrupted(self._log(call_id, change, shown, typed))
        if change.after is None:
            if around.editor:
                around.editor.publish(change.path, None, ())
            return ""
        return "" if change.binary else await self._checked(call_id, change, change.after, shown)

    async def _checked(self, call_id: str, change: Change, after: str, shown: str) -> str:
        """What the model is told of the syntax of a written file."""
        around = self._around
        # What a file had at its old path is no news at its new one.
        before = change.before if change.moved_from is None else after
        report = await around.checker.check(change.path, before, after)
        if around.editor:
            around.editor.publish(change.path, after, report.problems)
        if report.checked:
            await around.emit(
                SyntaxChecked(
                    self._turn_id,
                    call_id,
                    str(change.path),
                    report.language,
                    report.problems,
                    report.existing,
                )
            )
        found = findings(report, shown)
        good = not report.problems and not report.existing
        return f"{found}\n{IF_DONE}".lstrip() if good else found

    async def _log(self, call_id: str, change: Change, shown: str, typed: Typed) -> None:
        diff, ids = await asyncio.to_thread(self._kept, change, shown, typed)
        await self._around.emit(
            FileChanged(
                self._turn_id,
                call_id,
                str(change.path),
                diff.text,
                diff.added,
                diff.removed,
                change.target,
                change.saved,
                created=change.before is None,
                deleted=change.after is None,
                moved_from=str(change.moved_from or ""),
                before_id=ids[0],
                after_id=ids[1],
                proposed_id=ids[2],
            )
        )

    def _kept(
        self, change: Change, shown: str, typed: Typed
    ) -> tuple[DiffText, tuple[str | None, str | None, str | None]]:
        """The diff of a change, and the ids of its texts; see `FileChanged`. Blocks."""
        diff = unified(shown, change.before, change.after)
        before, after = self._keep(change.before, change), self._keep(change.after, change)
        proposed = self._keep(typed[change.path], change) if change.path in typed else ""
        return diff, (before, after, proposed)

    def _keep(self, text: str | None, change: Change) -> str | None:
        """A write that has happened is told of in any case, also when no text can be kept."""
        if text is None or change.binary:
            return None if text is None else ""
        try:
            return self._around.texts.keep(text)
        except StorageError as error:
            log.error("a text cannot be kept for review: %s", error)
            return ""
