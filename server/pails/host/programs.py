"""Where programs are, and why one could not be started."""

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pails.host.files import reason

_SHELL_ONLY = frozenset(
    ("cd", "source", ".", "export", "alias", "unset", "set", "eval", "exec", "ulimit", "umask")
)
_ALTERNATIVES = {"python": "python3", "python3": "python", "pip": "pip3", "pip3": "pip"}
_REASONS = {
    errno.ENOENT: "is there, but the interpreter that its `#!` line names is not.",
    errno.E2BIG: "could not be started: its arguments are too long together. Use a file, or parts.",
    errno.ENOEXEC: "is no program this system can run; a script may lack its `#!` line.",
    errno.EACCES: "is not executable. Run it through its interpreter, or `chmod +x` it.",
}


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A command cannot be started; `reason` is a sentence that says what to do."""

    reason: str


def look_up(program: str, cwd: Path, env: Mapping[str, str]) -> Path | NotStarted:
    """The file that would run under this name in this folder, or why none can."""
    if not cwd.is_dir():
        kind = "is not a folder" if cwd.exists() else "does not exist"
        return NotStarted(f"The working folder {cwd} {kind}.")
    if found := find_program(program, cwd, env):
        return found
    if os.sep in program and (cwd / program).is_file():
        return NotStarted(f"{program} {_REASONS[errno.EACCES]}")
    return NotStarted(_explain_missing(program, cwd, env))


def find_program(name: str, cwd: Path, env: Mapping[str, str]) -> Path | None:
    """The program of this name, as seen from this folder; None when there is none."""
    if os.sep in name:
        path = cwd / name
        return path if os.access(path, os.X_OK) and path.is_file() else None
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    return Path(found) if found else None


def explain_start_failure(
    error: OSError | ValueError, argv: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> NotStarted:
    """What is missing, and what would work instead, when the system refused to start it."""
    if isinstance(error, ValueError):
        return NotStarted(f"An argument cannot be passed to a program: {error}.")
    found = look_up(argv[0], cwd, env)
    if isinstance(found, NotStarted):
        return found
    if known := _REASONS.get(error.errno or 0):
        return NotStarted(f"{argv[0]} {known}")
    return NotStarted(f"{argv[0]} could not be started: {reason(error)}.")


def _explain_missing(program: str, cwd: Path, env: Mapping[str, str]) -> str:
    if program in _SHELL_ONLY:
        return (
            f"`{program}` is a part of the shell, not a program. Give the folder as `cwd`, or run"
            ' ["bash", "-c", "…"].'
        )
    other = _ALTERNATIVES.get(program)
    if other and find_program(other, cwd, env):
        return f"There is no program `{program}` here, but there is `{other}`: use that."
    if os.sep in program:
        return f"There is no file {program} in {cwd}."
    return f"There is no program `{program}` on the PATH. It is not installed, or misspelt."
