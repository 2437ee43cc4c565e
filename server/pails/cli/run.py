"""`pails run`: one task from the command line, through the same server that editors use.

Exit codes: 0 done; 1 failed, or stopped at the limit of rounds; 2 usage or configuration;
3 the turn ended, but something needed a person and nobody was there; 130 cancelled.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pails.cli.person import AtTerminal, Nobody, Person
from pails.cli.screen import Screen, printable
from pails.cli.turn import Task, Turn
from pails.cli.watchers import JsonLines, Reader, Watcher
from pails.core.errors import ConfigurationError, InvalidRequestError, NotFoundError, PailsError
from pails.core.events import Mode, StopReason, TurnEnded
from pails.core.text import join_surrogates
from pails.host.environment import current_environment
from pails.host.files import exists
from pails.host.interrupts import wake_on_signals

DONE, FAILED, USAGE, NEEDED_A_PERSON, CANCELLED = 0, 1, 2, 3, 130

_EPILOG = """\
exit codes: 0 done; 1 failed or stopped at the limit of rounds; 2 usage or configuration;
3 something needed a person and nobody was at a terminal; 130 cancelled.
The answer goes to stdout, everything else to stderr. Ctrl-C cancels the turn, twice ends at once.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended, and what that means to a script."""

    end: TurnEnded
    session_id: str
    exit_code: int


def main(argv: list[str]) -> int:
    """Run the command line behind `pails run`; returns the exit code."""
    options = _parser().parse_args(argv)
    environ = current_environment()
    screen = Screen(sys.stdout, sys.stderr, environ)
    try:
        task = _task(options, sys.stdin)
        return asyncio.run(_interruptible(_run(task, screen, environ, as_json=options.json)))
    except PailsError as error:
        screen.row(screen.paint(f"pails: {printable(str(error))}", "red"))
        return exit_code_of(error)


async def _interruptible(run: Awaitable[int]) -> int:
    with wake_on_signals():
        return await run


async def _run(task: Task, screen: Screen, environ: Mapping[str, str], *, as_json: bool) -> int:
    person = find_person(screen, sys.stdin)
    if as_json:
        return (await run_task(task, person, JsonLines(screen, sys.stdout), environ)).exit_code
    outcome = await run_task(task, person, Reader(screen, task.workspace), environ)
    if person.missed:
        missed = ", ".join(printable(what) for what in person.missed)
        screen.row(screen.paint(f"! needed a person and was refused: {missed}", "yellow"))
    go_on = f"  go on with: pails run --session {outcome.session_id} …"
    screen.row(screen.paint(go_on, "dim"))
    return outcome.exit_code


async def run_task(
    task: Task, person: Person, watcher: Watcher, environ: Mapping[str, str]
) -> Outcome:
    """Run one task to its end; raises `PailsError` when there was no turn or no end of it."""
    turn = Turn(person, watcher)
    end = await turn.run(task, environ)
    return Outcome(end, turn.session_id, exit_code(end, missed=bool(person.missed)))


def find_person(screen: Screen, stdin: TextIO) -> Person:
    """The person at the terminal, where there is one to read and to type."""
    return AtTerminal(screen, stdin) if stdin.isatty() and screen.has_reader else Nobody(screen)


def exit_code(end: TurnEnded, *, missed: bool) -> int:
    """What the end of a turn means to a script."""
    if end.reason is StopReason.CANCELLED:
        return CANCELLED
    if end.reason is not StopReason.DONE:
        return FAILED
    return NEEDED_A_PERSON if missed else DONE


def exit_code_of(error: PailsError) -> int:
    """What a failure before or beside the turn means to a script."""
    usage = isinstance(error, ConfigurationError | InvalidRequestError | NotFoundError)
    return USAGE if usage else FAILED


def _task(options: argparse.Namespace, stdin: TextIO) -> Task:
    """The task that the options describe; raises `InvalidRequestError` when there is none."""
    text: str = stdin.read() if options.task == "-" else options.task
    text = join_surrogates(text)  # a shell may pass any bytes
    if not text.strip():
        raise InvalidRequestError('The task is empty. Say what to do: pails run "fix the test".')
    workspace = Path(options.workspace).absolute()
    attachments = tuple(Path(path).absolute() for path in options.attach)
    for path in map(str, (workspace, *attachments)):
        if join_surrogates(path) != path:
            raise InvalidRequestError(
                f"{join_surrogates(path)} is a name that is not UTF-8, and Pails can only work "
                "with names that are. Nothing was done; rename it, or name another one."
            )
    if missing := [str(path) for path in attachments if not exists(path)]:
        raise InvalidRequestError(f"There is no file to attach at {', '.join(missing)}.")
    return Task(
        text,
        workspace,
        options.mode,
        options.model,
        options.session,
        attachments,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pails run",
        description="Give the agent one task and watch it work.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("task", help="what to do, in words; - reads it from stdin")
    add("--workspace", default=".", metavar="DIR", help="the folder to work in (default: this one)")
    add("--mode", choices=[mode.value for mode in Mode], help="how much passes unasked")
    add("--model", help="the model's name at the configured server")
    add("--session", metavar="ID", help="go on with this session")
    add("--attach", action="append", default=[], metavar="FILE", help="a file the task is about")
    add("--json", action="store_true", help="print each event as a line of JSON, and nothing else")
    return parser
