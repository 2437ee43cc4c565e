"""Events of a turn, shown as text on a terminal."""

from pathlib import Path

from pails.cli.output import OutputView
from pails.cli.screen import Screen, display_width, printable
from pails.cli.summary import TurnSummary
from pails.core.events import (
    ApprovalChoice,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    HunksResolved,
    Notice,
    PlanStep,
    PlanUpdated,
    Problem,
    PromptAccepted,
    QuestionAnswered,
    ReasoningDelta,
    ReplyDiscarded,
    Rewound,
    RoundStarted,
    SyntaxChecked,
    TextDelta,
    ToolCallEnded,
    ToolCallPrepared,
    ToolOutputDelta,
    TurnEnded,
)
from pails.core.text import first_line, shown_path

_DIFF_LINES = 120
_SAID_CHARS = 100
_PLAN_TOOL = "update_plan"
_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]"}
_NOTICE_STYLES = {"info": "dim", "warning": "yellow", "error": "red"}
_CHOICES = {
    ApprovalChoice.ALLOW_ONCE: "allowed once",
    ApprovalChoice.ALLOW_SESSION: "allowed for this session",
    ApprovalChoice.REJECT: "refused",
    ApprovalChoice.UNANSWERED: "not allowed: nobody answered",
    ApprovalChoice.CANCELLED: "no longer needed: the turn was cancelled",
}
_REFUSALS = (ApprovalChoice.REJECT, ApprovalChoice.UNANSWERED)


class TurnView:
    """Shows the events of a turn in order. What each looks like is in its own method."""

    def __init__(self, screen: Screen, workspace: Path) -> None:
        self._screen = screen
        self._workspace = workspace
        self._summary = TurnSummary(screen, workspace)
        self._streamed = False
        self._reasoning = False
        self._begun = False
        self._names: dict[str, str] = {}
        self._prepared: dict[str, ToolCallPrepared] = {}
        self._outputs: dict[str, OutputView] = {}
        self._last_call = ""

    def show(self, event: Event) -> None:  # noqa: PLR0912 - a table of cases, one line each
        """Show one event; what a person need not see shows nothing."""
        self._summary.note(event)
        match event:
            case RoundStarted():
                self._show_round(event)
            case TextDelta():
                self._show_text(event)
            case ReasoningDelta():
                self._show_reasoning()
            case ReplyDiscarded():
                self._show_discarded(event)
            case AssistantMessageAdded():
                self._show_message(event)
            case ToolCallPrepared():
                self._show_prepared(event)
            case ToolOutputDelta():
                self._show_output(event)
            case ToolCallEnded():
                self._show_ended(event)
            case FileChanged():
                self._show_change(event)
            case SyntaxChecked():
                self._show_syntax(event)
            case PlanUpdated():
                self._show_plan(event.steps)
            case ApprovalResolved():
                self._show_resolved(event)
            case HunksResolved():
                self._show_decision(event)
            case QuestionAnswered():
                self._row(f"  answer: {event.answer or 'none'}", "dim")
            case Notice():
                self._row(f"! {event.text}", _NOTICE_STYLES[event.level])
            case PromptAccepted() if event.position:
                self._row(f"waits for the running turn (place {event.position})", "dim")
            case Rewound():
                self._show_rewound(event)
            case TurnEnded():
                self._summary.show(event)
            case _:
                pass

    def _row(self, text: str, *styles: str) -> None:
        self._screen.row(self._screen.paint(printable(text), *styles))

    # -- the reply ------------------------------------------------------------------------------

    def _show_round(self, event: RoundStarted) -> None:
        self._streamed = self._reasoning = self._begun = False
        if event.wrap_up:
            self._row("The limit of rounds is reached; the model sums up.", "yellow")

    def _show_text(self, event: TextDelta) -> None:
        self._begun = True
        if self._screen.streams:
            self._streamed = True
            self._screen.write_answer(printable(event.text))

    def _show_reasoning(self) -> None:
        self._begun = True
        if not self._reasoning:
            self._reasoning = True
            self._row("thinking …", "dim")

    def _show_discarded(self, event: ReplyDiscarded) -> None:
        broke_off = "The reply broke off and starts again: " if self._begun else ""
        self._streamed = self._begun = False
        self._row(broke_off + event.reason, "yellow")

    def _show_message(self, event: AssistantMessageAdded) -> None:
        for call in event.message.tool_calls:
            self._names[call.id] = call.name
        if not self._streamed:
            self._screen.write_answer(printable(event.message.text))
        self._screen.close_line()

    # -- tools ----------------------------------------------------------------------------------

    def _show_prepared(self, event: ToolCallPrepared) -> None:
        self._prepared[event.call_id] = event
        self._last_call = event.call_id
        if event.tool != _PLAN_TOOL:
            self._row(f"● {event.title}", "bold")

    def _show_output(self, event: ToolOutputDelta) -> None:
        view = self._outputs.setdefault(event.call_id, OutputView())
        for line in view.feed(event.text):
            self._row(f"  │ {line}", "dim")

    def _show_ended(self, event: ToolCallEnded) -> None:
        if view := self._outputs.pop(event.call_id, None):
            for line in view.finish():
                self._row(f"  │ {line}", "dim")
        call = self._prepared.get(event.call_id)
        if call and call.tool == _PLAN_TOOL and not event.is_error:
            return  # the plan itself has been shown
        named = "" if self._last_call == event.call_id else f"{self._title(event.call_id)}: "
        said = event.summary or first_line(event.text, _SAID_CHARS) or "done"
        mark, style = ("✗", "red") if event.is_error else ("✓", "green")
        # A command says itself how long it ran, without the time it waited for a person.
        took = "" if call and call.effect is Effect.EXECUTE else f" ({event.seconds:.1f} s)"
        rest = printable(named + said) + self._screen.paint(took, "dim")
        self._screen.row(f"  {self._screen.paint(mark, style)} {rest}")

    def _title(self, call_id: str) -> str:
        call = self._prepared.get(call_id)
        return call.title if call else self._names.get(call_id, "tool")

    def _show_change(self, event: FileChanged) -> None:
        self._row(
            f"  {self._relative(event.path)} +{event.added} −{event.removed}{self._fate(event)}"
        )
        lines = self._screen.diff(event.diff, indent="    ")
        for line in lines[:_DIFF_LINES]:
            self._screen.row(line)
        if len(lines) > _DIFF_LINES:
            self._row(f"    … {len(lines) - _DIFF_LINES} more lines of this diff", "dim")

    def _fate(self, event: FileChanged) -> str:
        """What else is to be said of a written file."""
        if event.moved_from:
            return f" (was {self._relative(event.moved_from)})"
        if event.deleted:
            return " (deleted)"
        if event.created:
            return " (new)"
        return "" if event.saved else " (in the editor, unsaved)"

    def _show_syntax(self, event: SyntaxChecked) -> None:
        older = f", {event.existing} from before" if event.existing else ""
        if event.problems:
            self._row(f"  ✗ syntax ({event.language}): {len(event.problems)} new{older}", "red")
        elif event.language:
            self._row(f"  ✓ syntax ({event.language}) ok{older}", "dim")
        for problem in event.problems:
            self._show_problem(self._relative(event.path), problem)

    def _show_problem(self, path: str, problem: Problem) -> None:
        start = problem.start
        self._row(f"    {path}:{start.line}:{start.column}: {problem.message}")
        before = printable(problem.source_line[: start.column - 1])
        indent = "".join("\t" if c == "\t" else " " * display_width(c) for c in before)
        self._row(f"    {problem.source_line}", "dim")
        self._row(f"    {indent}^", "red")

    def _show_rewound(self, event: Rewound) -> None:
        done = "taken back" if not event.undoes else "made again"
        for path in event.files:
            self._row(f"  {self._relative(path)} {done}")
        for path in event.conflicts:
            self._row(f"  {self._relative(path)} left alone", "yellow")

    # -- the person ------------------------------------------------------------------------------

    def _show_plan(self, steps: tuple[PlanStep, ...]) -> None:
        self._row("Plan", "bold")
        for step in steps:
            style = ("dim",) if step.status == "done" else ()
            self._row(f"  {_MARKS[step.status]} {step.text}", *style)

    def _show_resolved(self, event: ApprovalResolved) -> None:
        reason = f": {event.feedback}" if event.feedback else ""
        style = "yellow" if event.choice in _REFUSALS else "dim"
        self._row(f"  {_CHOICES[event.choice]}{reason}", style)

    def _show_decision(self, event: HunksResolved) -> None:
        """A review that goes on in an editor meanwhile."""
        count = len(event.hunk_ids)
        what = f"{count} change{'s' if count != 1 else ''} in {self._relative(event.path)}"
        reason = f": {event.feedback}" if event.feedback else ""
        self._row(f"  {what} {event.decision}{reason}", "dim")

    def _relative(self, path: str) -> str:
        return shown_path(Path(path), self._workspace)
