"""Which files of a workspace no ignore file hides: ripgrep is the only judge of that.

Ripgrep lists regular files. About anything else, and about names that are too few to list a whole
workspace for, it is asked on a model: a folder with copies of the ignore files and with empty
files under the names in question.
"""

import os
import subprocess
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pails.host.environment import child_environment
from pails.host.files import exists, read_bytes
from pails.host.folders import home_folders
from pails.host.paths import git_folder
from pails.host.search import find_ripgrep

IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")

_LIST = ("--no-config", "--no-messages", "--files", "--hidden", "--null", "--path-separator=/")
# The last are files that are being written just now.
_RULES = ("--no-require-git", "--glob=!.git", "--glob=!.pails-*.tmp")
_MOST_IGNORE_BYTES = 1_000_000


def list_files(root: Path, without: Iterable[str], deadline: float) -> list[str]:
    """The regular files below `root`, relative to it, that no ignore file hides; in no order.

    Ignore files above `root` count up to the root of its git project, if that is below the home
    folder: many people keep their home in git and ignore everything there. Folders named in
    `without` are not entered. Raises `TimeoutError` when `time.monotonic()` reaches `deadline`,
    `OSError` when ripgrep or the folder cannot be used, `ConfigurationError` without ripgrep.
    """
    parents = () if _project_root(root) != root else ("--no-ignore-parent",)
    globs = [f"--glob=!**/{name}" for name in without]
    return _run((*_LIST, *_RULES, *parents, *globs), root, deadline)


def not_ignored(root: Path, names: Collection[str], scratch: Path, deadline: float) -> set[str]:
    """Those of the names below `root` that no ignore file hides, whatever stands there.

    The model is made in a folder of its own in `scratch`, and removed. Raises as `list_files`.
    """
    if not names:
        return set()
    top = _project_root(root)
    prefix = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    with TemporaryDirectory(prefix="model-", dir=scratch, ignore_cleanup_errors=True) as folder:
        model = Path(folder)
        _copy_ignore_files(top, model, [prefix + name for name in names])
        for name in names:
            (model / (prefix + name)).touch()
        listed = _run((*_LIST, *_RULES, "--no-ignore-parent"), model, deadline)
    visible = {name.removeprefix(prefix) for name in listed if name.startswith(prefix)}
    return visible.intersection(names)


def _project_root(root: Path) -> Path:
    homes = home_folders()
    for folder in (root, *root.parents):
        if folder in homes:
            break
        if exists(folder / ".git"):
            return folder
    return root


def _copy_ignore_files(top: Path, model: Path, names: Iterable[str]) -> None:
    folders = {parent.as_posix() for name in names for parent in Path(name).parents}
    for folder in folders:
        (model / folder).mkdir(parents=True, exist_ok=True)
        for name in IGNORE_FILES:
            _copy(top / folder / name, model / folder / name)
    excludes = _excludes(top)
    if excludes is not None:
        (model / ".git" / "info").mkdir(parents=True)
        _copy(excludes, model / ".git" / "info" / "exclude")


def _excludes(top: Path) -> Path | None:
    """The ignore file inside the git data; that of the main folder for a linked worktree."""
    git = git_folder(top)
    if git is None:
        return None
    with suppress(OSError, UnicodeDecodeError):
        git = git / read_bytes(git / "commondir", 8192).decode().strip()
    return git / "info" / "exclude"


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):  # most folders have none
        target.write_bytes(read_bytes(source, _MOST_IGNORE_BYTES))


def _run(arguments: Iterable[str], cwd: Path, deadline: float) -> list[str]:
    process = subprocess.Popen(
        [find_ripgrep(), *arguments],
        cwd=cwd,
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            output, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"listing {cwd} took too long") from None
        finally:
            process.kill()
    # What it could not read it has left out: whoever looks into the folders will see that.
    return os.fsdecode(output).split("\0")[:-1]
