"""The tools `list_snapshots` and `rollback`: files as they were before a turn of the session."""

from pathlib import Path

from pydantic import Field

from pails.core.errors import PailsError
from pails.core.events import Effect
from pails.core.numbers import counted
from pails.core.ports import Action, Rewinder, ToolResult
from pails.core.rewind import RewindReport, TurnPoint, summary
from pails.core.text import first_line, shown_path
from pails.policy.visible import visible_line
from pails.tools.registry import CallContext, Parameters, Proposal, Tool

_NO_SESSION = ToolResult("There is no session here to go back in.", is_error=True)
_TITLE_CHARS = 60
_MOST_FILES = 5


class ListSnapshotsParameters(Parameters):
    pass


class RollbackParameters(Parameters):
    turn_id: str = Field(min_length=1, description="of list_snapshots")


class ListSnapshots(Tool[ListSnapshotsParameters]):
    name = "list_snapshots"
    effect = Effect.READ
    parameters = ListSnapshotsParameters

    def action(self, args: ListSnapshotsParameters, context: CallContext) -> Action:
        return Action(self.name, self.effect, "List the snapshots")

    async def propose(
        self, args: ListSnapshotsParameters, context: CallContext
    ) -> Proposal | ToolResult:
        rewinder = context.rewinder
        if rewinder is None:
            return _NO_SESSION

        async def run() -> ToolResult:
            points = await rewinder.turns()
            lines = [_line(point, context) for point in points]
            text = "The turns of this session, oldest first; rollback goes to before one:\n"
            return ToolResult(text + "\n".join(lines), summary=counted(len(lines), "turn"))

        return Proposal(run)


class Rollback(Tool[RollbackParameters]):
    name = "rollback"
    effect = Effect.WRITE
    parameters = RollbackParameters

    def action(self, args: RollbackParameters, context: CallContext) -> Action:
        title = f"Roll the files back to before {visible_line(first_line(args.turn_id, 40))}"
        return Action(self.name, self.effect, title, final=True)

    async def propose(
        self, args: RollbackParameters, context: CallContext
    ) -> Proposal | ToolResult:
        rewinder = context.rewinder
        if rewinder is None:
            return _NO_SESSION
        try:
            preview = await rewinder.preview_files(args.turn_id)
            titles = {point.turn_id: point.title for point in await rewinder.turns()}
        except PailsError as error:
            return ToolResult(str(error), is_error=True)
        if not preview.files:
            return ToolResult(f"Nothing was rolled back.\n{_told(preview, context)}", is_error=True)

        async def run() -> ToolResult:
            return await _roll_back(rewinder, args.turn_id, context)

        title = visible_line(first_line(titles.get(args.turn_id, ""), _TITLE_CHARS))
        return Proposal(run, f"Back to before “{title}”:\n{_told(preview, context)}")


async def _roll_back(rewinder: Rewinder, turn_id: str, context: CallContext) -> ToolResult:
    try:
        report = await rewinder.rewind_files(turn_id)
    except PailsError as error:
        return ToolResult(str(error), is_error=True)
    text = f"Rolled back, and the person can undo it.\n{_told(report, context)}"
    return ToolResult(text, summary=counted(len(report.files), "file"))


def _told(report: RewindReport, context: CallContext) -> str:
    paths = [item.path for item in (*report.files, *report.conflicts)]
    return summary(report, [visible_line(_shown(path, context)) for path in paths])


def _line(point: TurnPoint, context: CallContext) -> str:
    files = [_shown(path, context) for path in point.files]
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    changed = ", ".join(files[:_MOST_FILES]) + more if files else "no file edited"
    ran = "; ran commands" if point.ran_commands else ""
    return f"{point.turn_id}  {first_line(point.title, _TITLE_CHARS)}  ({changed}{ran})"


def _shown(path: str, context: CallContext) -> str:
    return shown_path(Path(path), context.workspace)
