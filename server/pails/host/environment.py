"""The environment that child processes get: what they need, and nothing that is a secret.

It is an allow-list. Keys and tokens in the server's own environment have names nobody can list,
so whatever is not known to be needed stays here.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pails.host.process_tree import CALL_MARKER

_PERSON_AND_PLACE = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    # The ids of the calls around this process: whoever ends those must find our children too.
    CALL_MARKER,
)
_TOOLCHAINS = (  # folders only
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "NVM_DIR", "JAVA_HOME", "GOPATH", "GOROOT"),
    *("CARGO_HOME", "RUSTUP_HOME", "DOTNET_ROOT", "ANDROID_HOME"),
)
_WINDOWS = (
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME"),
    *("USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
    *("PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "NUMBER_OF_PROCESSORS"),
)
_ALLOWED = frozenset((*_PERSON_AND_PLACE, *_TOOLCHAINS, *_WINDOWS))
_ALLOWED_PREFIXES = ("LC_", "XDG_")
_OWN_PREFIX = "PAILS_"

NON_INTERACTIVE = {
    # Nobody sits at the command: what would ask must fail at once instead of waiting.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",  # `git commit` without a message ends with an error, not in an editor
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    # A pager would wait for a key.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    # Colours and cursor movement are of no use to a reader of plain text.
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # Else a Python program that is ended by the time limit loses what it has printed.
    "PYTHONUNBUFFERED": "1",
    # Not here: CI=1, under which test runners refuse to write snapshots and linters turn
    # warnings into errors; npm_config_yes, under which `npx NAME` installs NAME unasked.
}


def current_environment() -> dict[str, str]:
    """A copy of this process's own environment."""
    return dict(os.environ)


def child_environment(
    passthrough: Sequence[str] = (), base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for any child process.

    `passthrough` names more variables of `base` (the server's own environment when left out)
    that a person wants commands to see. Names of ours are never passed on.
    """
    base = os.environ if base is None else base
    kept = {name: value for name, value in base.items() if _passes(name, passthrough)}
    kept["PATH"] = os.pathsep.join(_absolute_folders(kept.get("PATH", os.defpath)))
    if not any(kept.get(name) for name in ("LANG", "LC_ALL", "LC_CTYPE")):
        kept["LANG"] = "C.UTF-8"  # an editor started from a desktop often has none
    return {**kept, **NON_INTERACTIVE}


def command_environment(
    workspace: Path, passthrough: Sequence[str] = (), base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for a command, with the workspace's own virtual environment first."""
    environment = child_environment(passthrough=passthrough, base=base)
    programs = "Scripts" if sys.platform == "win32" else "bin"
    for name in (".venv", "venv"):
        folder = workspace / name
        if (folder / programs).is_dir() and (folder / "pyvenv.cfg").is_file():
            path = os.pathsep.join((str(folder / programs), environment["PATH"]))
            return {**environment, "PATH": path, "VIRTUAL_ENV": str(folder)}
    return environment


def _passes(name: str, passthrough: Sequence[str]) -> bool:
    if name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES):
        return True
    return name in passthrough and not name.startswith(_OWN_PREFIX)


def _absolute_folders(path: str) -> list[str]:
    """The entries of a PATH that mean the same in every folder; `.` would be the workspace."""
    return [entry for entry in path.split(os.pathsep) if Path(entry).is_absolute()]
