"""Pails at work on a small project with a failing test: what `make run` starts.

It uses the model you have. Without one, a rehearsed model plays its part, and everything else is
real: the server, the tools, the files, the syntax check, the approval.
"""

import asyncio
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rehearsal import MODEL, TEST_COMMAND, rehearsal_server

from pails.cli.person import Nobody
from pails.cli.run import find_person, run_task
from pails.cli.screen import Screen
from pails.cli.turn import Task
from pails.cli.watchers import Reader
from pails.config import load as load_config
from pails.core.errors import ConfigurationError, PailsError
from pails.core.events import ApprovalChoice, ApprovalRequested
from pails.core.ports import ApprovalAnswer
from pails.host.environment import current_environment
from pails.model.discovery import find_endpoint, probe

SAMPLE = Path(__file__).parent / "sample"
PROMPT = "The test fails. Find the bug, fix it, run the tests."

REHEARSAL = """\
No model found: this is a rehearsal. Replies are rehearsed; tools, files, checks and approvals \
are real.
To see a real one at work, do one of these and run this again:
  export OPENAI_API_KEY=…        or the key of another provider
  export PAILS_BASE_URL=http://localhost:8080/v1 PAILS_MODEL=…        any compatible server
  start Ollama, llama.cpp, LM Studio or vLLM on this machine: Pails finds it by itself
"""


class AllowsTheTest(Nobody):
    """Nobody is at a terminal: exactly the test of the sample may run, nothing else."""

    async def approve(self, request: ApprovalRequested) -> ApprovalAnswer:
        if request.rule == f"run_command: {shlex.join(TEST_COMMAND)}":
            return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
        return await super().approve(request)


def main() -> int:
    """Run the example in a copy that is removed at the end; returns the exit code of the run."""
    screen = Screen(sys.stdout, sys.stdout, current_environment())
    # To be told to end is like Ctrl-C: the copy is removed then, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    scratch = Path(tempfile.mkdtemp(prefix="pails-try-")).resolve()
    try:
        shutil.copytree(SAMPLE, scratch / "sample")
        return asyncio.run(try_it(scratch, screen))
    except KeyboardInterrupt:
        return 130
    except PailsError as error:
        screen.row(str(error))
        return 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        screen.row(f"The copy in {scratch} is removed.")
        screen.row('Now in a project of yours: pails run "what to do"')


async def try_it(scratch: Path, screen: Screen) -> int:
    """Run the task with the model there is, or else with the rehearsed one."""
    environ = {**current_environment(), "PAILS_STATE_DIR": str(scratch / "state")}
    problem = await find_problem(environ)
    if problem is None:
        return await run(scratch / "sample", screen, environ)
    screen.row(f"{problem}\n{REHEARSAL}".lstrip())
    with rehearsal_server() as base_url:
        rehearsed = {"PAILS_BASE_URL": base_url, "PAILS_MODEL": MODEL, "PAILS_API_KEY": ""}
        return await run(scratch / "sample", screen, environ | rehearsed)


async def find_problem(environ: Mapping[str, str]) -> str | None:
    """Why there is no model to use, "" when none is set up; None when there is one."""
    settings = await asyncio.to_thread(load_config, None, environ, {})
    try:
        endpoint = await find_endpoint(settings, environ)
    except ConfigurationError:
        return ""
    return await probe(endpoint) or None


async def run(workspace: Path, screen: Screen, environ: Mapping[str, str]) -> int:
    """Run the task just as `pails run` does."""
    person = find_person(screen, sys.stdin)
    if isinstance(person, Nobody):
        person = AllowsTheTest(screen)
        screen.row(
            "There is no terminal to ask you at. One command of the sample is allowed, "
            f"`{shlex.join(TEST_COMMAND)}`, and nothing else that would need you."
        )
    screen.row(screen.paint(f"> {PROMPT}", "bold"))
    task = Task(PROMPT, workspace, mode="auto")
    outcome = await run_task(task, person, Reader(screen, workspace), environ)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
