"""The tool `run_command`: one program with its arguments, no shell in between.

What the person is shown is what runs: a command is normalised while its arguments are validated,
before the gate sees it, and the program and its environment are looked up before anybody is asked.
"""

import asyncio
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from uuid import uuid4

from pydantic import AfterValidator, BeforeValidator, Field

from pails.core.events import Effect, ToolOutputDelta
from pails.core.ports import Action, Editor, ToolResult
from pails.core.text import first_line, shown_path
from pails.host.environment import command_environment
from pails.host.process import Finished, run
from pails.host.process_tree import with_marker
from pails.host.programs import NotStarted, look_up
from pails.policy.visible import visible, visible_line
from pails.tools.files.open_files import OpenFiles
from pails.tools.paths import PathOrWorkspace, path_for_person, resolve_path
from pails.tools.registry import CallContext, Parameters, Proposal, Tool
from pails.tools.text.command_line import as_list, program_and_arguments, shell_notes

OUTPUT_NAMES = "command-*-*.txt"
"""Matches the files that hold the outputs of commands."""
_TITLE_CHARS = 120
_LIVE_CHARS = 100_000
_UNSAVED = "there is unsaved text"


class RunCommandParameters(Parameters):
    command: Annotated[
        list[str], BeforeValidator(as_list), AfterValidator(program_and_arguments)
    ] = Field(description="the program and its arguments")
    cwd: PathOrWorkspace = Field(".", description="folder to run in")
    timeout_seconds: int | None = Field(None, ge=1, le=600, description="until it is ended")


class RunCommand(Tool[RunCommandParameters]):
    name = "run_command"
    effect = Effect.EXECUTE
    parameters = RunCommandParameters

    def __init__(
        self,
        spill_dir: Path,
        passthrough: Sequence[str],
        owner: str,
        timeout: float,
        editor: Editor | None = None,
    ) -> None:
        """See `builtin_tools`; `timeout` is in seconds, for a command that names no limit."""
        self._spill_dir = spill_dir
        self._passthrough = tuple(passthrough)
        self._owner = owner
        self._timeout = timeout
        self._open_files = OpenFiles(editor)

    def action(self, args: RunCommandParameters, context: CallContext) -> Action:
        """The folder of the command is what it reads; the gate tells two folders apart by it."""
        title = first_line(f"Run {_one_line(args.command)}", _TITLE_CHARS)
        folder = resolve_path(context, args.cwd)
        return Action(self.name, self.effect, title, reads=(folder,), argv=tuple(args.command))

    async def propose(
        self, args: RunCommandParameters, context: CallContext
    ) -> Proposal | ToolResult:
        folder = resolve_path(context, args.cwd)
        environment, program = await asyncio.to_thread(
            self._look_up, args.command[0], folder, context.workspace
        )
        if isinstance(program, NotStarted):
            return _not_started(program)
        limit = args.timeout_seconds or self._timeout
        spill = self._spill_path(context)
        open_files = self._open_files
        call = _Call(args.command, context, folder, environment, limit, spill, open_files)
        return Proposal(call.run, _for_approval(call, program))

    def _look_up(
        self, program: str, folder: Path, workspace: Path
    ) -> tuple[Mapping[str, str], Path | NotStarted]:
        """Blocking. The environment for commands, and the program in it."""
        environment = command_environment(workspace, self._passthrough)
        if self._owner:
            environment = with_marker(environment, self._owner)
        return environment, look_up(program, folder, environment)

    def _spill_path(self, context: CallContext) -> Path:
        # The id of a call comes from the model's server and may hold anything.
        call = re.sub(r"[^A-Za-z0-9_-]", "_", context.call_id)[:40]
        return self._spill_dir / f"command-{call}-{uuid4().hex[:8]}.txt"


@dataclass(frozen=True, slots=True)
class _Call:
    """A command that is ready to run, in the environment in which it was looked up."""

    command: list[str]
    context: CallContext
    folder: Path
    environment: Mapping[str, str]
    seconds: float
    spill: Path
    open_files: OpenFiles

    async def run(self) -> ToolResult:
        before = await self.open_files.before(self.context, _one_line(self.command))
        if before.refusal:
            return ToolResult(before.refusal, is_error=True, summary=f"not run: {_UNSAVED}")
        outcome = await run(
            self.command,
            self.folder,
            self.environment,
            self.seconds,
            self.spill,
            on_output=_LiveOutput(self.context).show,
        )
        if isinstance(outcome, NotStarted):
            return _not_started(outcome)
        ending = _ending(outcome, self.seconds)
        notes = [
            *_output_notes(outcome),
            *_background_notes(outcome),
            *shell_notes(self.command),
            *await self.open_files.after(self.context, before),
        ]
        body = outcome.output.rstrip("\n") or "(no output)"
        return ToolResult(
            "\n".join((body, *notes, ending)),
            is_error=outcome.timed_out or outcome.exit_code != 0,
            summary=f"{first_line(ending, _TITLE_CHARS)}, after {outcome.seconds:.1f} s",
        )


class _LiveOutput:
    """Shows a person the output while it comes, up to a length: a flood is not watched."""

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._room = _LIVE_CHARS

    async def show(self, text: str) -> None:
        if self._room <= 0:
            return
        shown = text[: self._room]
        self._room -= len(text)
        if self._room <= 0:
            shown += "\n[… more output, no longer shown live …]\n"
        context = self._context
        await context.emit(ToolOutputDelta(context.turn_id, context.call_id, shown))


def _one_line(command: Sequence[str]) -> str:
    return visible_line(shlex.join(command))


def _for_approval(call: _Call, program: Path) -> str:
    """All that a person needs to decide: the whole command, its folder, its limit."""
    workspace = call.context.workspace
    lines = [
        visible(shlex.join(call.command)),
        f"in {path_for_person(call.context, call.folder)}, for {call.seconds:g} s at most",
    ]
    if program.is_relative_to(workspace):
        file = visible_line(shown_path(program, workspace))
        lines.append(f"runs {file} of this workspace")
    return "\n".join(lines)


def _not_started(found: NotStarted) -> ToolResult:
    return ToolResult(f"Nothing was run. {found.reason}", is_error=True, summary=found.reason)


def _ending(outcome: Finished, limit: float) -> str:
    code = outcome.exit_code
    name = f" (killed by {outcome.signal_name})" if outcome.signal_name else ""
    # A shell counts from 128 for signals, and that is the number people and models know.
    shown = "unknown" if code is None else code if code >= 0 else 128 - code
    line = f"exit code {shown}{name}"
    if not outcome.timed_out:
        return line
    ended = "could not be ended" if outcome.background_pids or code is None else "ended"
    return (
        f"timed out after {limit:g} s; process tree {ended}\n{line}\n"
        "Give a larger `timeout_seconds` (at most 600) if it needs longer."
    )


def _output_notes(outcome: Finished) -> list[str]:
    if not outcome.dropped_bytes:
        return []
    left_out = f"{outcome.dropped_bytes} bytes of the output are left out above"
    if outcome.spill_path is None:
        return [f"{left_out} and could not be kept."]
    kept = "all of it is" if outcome.spill_complete else "as much as is kept of it is"
    return [f"{left_out}; {kept} in {outcome.spill_path}"]


def _background_notes(outcome: Finished) -> list[str]:
    if not outcome.background_pids:
        return []
    pids = " ".join(map(str, outcome.background_pids))
    return [f"Still running in the background, its output no longer read: pid {pids}"]
