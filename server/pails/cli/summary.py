"""What a turn came to: shown when it has ended."""

from dataclasses import dataclass
from pathlib import Path

from pails.cli.screen import Screen, printable
from pails.core.events import (
    Effect,
    Event,
    FileChanged,
    RunState,
    StopReason,
    ToolCallEnded,
    ToolCallPrepared,
    TurnEnded,
)
from pails.core.messages import Usage
from pails.core.text import shown_path

_HEADLINES = {
    StopReason.DONE: ("Done", "green"),
    StopReason.MAX_ROUNDS: ("Stopped at the limit of rounds", "yellow"),
    StopReason.CANCELLED: ("Cancelled", "yellow"),
    StopReason.ERROR: ("Failed", "red"),
    StopReason.INTERRUPTED: ("Interrupted", "red"),
}


@dataclass(slots=True)
class _FileTotal:
    added: int = 0
    removed: int = 0
    edits: int = 0


class TurnSummary:
    """Adds up files and commands of a turn and shows them with its end."""

    def __init__(self, screen: Screen, workspace: Path) -> None:
        self._screen = screen
        self._workspace = workspace
        self._files: dict[str, _FileTotal] = {}
        self._commands: dict[str, str] = {}
        self._results: list[tuple[str, ToolCallEnded]] = []

    def note(self, event: Event) -> None:
        """Keep what the summary will need of this event."""
        match event:
            case FileChanged():
                total = self._files.setdefault(event.path, _FileTotal())
                total.added += event.added
                total.removed += event.removed
                total.edits += 1
            case ToolCallPrepared(effect=Effect.EXECUTE):
                self._commands[event.call_id] = event.title
            case ToolCallEnded() if event.call_id in self._commands:
                self._results.append((self._commands[event.call_id], event))
            case _:
                pass

    def show(self, end: TurnEnded) -> None:
        """The last rows of a turn."""
        paint, row = self._screen.paint, self._screen.row
        headline, style = _HEADLINES[end.reason]
        row()
        row(paint(headline, "bold", style) + f" · {_figures(end)}")
        if end.error and end.state is not RunState.COMPLETED:
            row(paint(f"  {printable(end.error)}", "red"))
        for path, total in self._files.items():
            row(f"  {printable(shown_path(Path(path), self._workspace))} {_changed(total)}")
        for title, result in self._results:
            mark = paint("✗", "red") if result.is_error else paint("✓", "green")
            said = result.summary or "done"
            row(f"  {mark} {printable(f'{title}: {said}')}")


def _changed(total: _FileTotal) -> str:
    edits = f" in {total.edits} edits" if total.edits > 1 else ""
    return f"+{total.added} −{total.removed}{edits}"


def _figures(end: TurnEnded) -> str:
    rounds = "1 round" if end.rounds == 1 else f"{end.rounds} rounds"
    return f"{rounds} · {_tokens(end.usage)} · {end.seconds:.1f} s"


def _tokens(usage: Usage) -> str:
    if usage == Usage():
        return "tokens not reported"
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
