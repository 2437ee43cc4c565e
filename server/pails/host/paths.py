"""Where paths really lead: look-ups on the disk, and comparisons that need none."""

import os
from contextlib import suppress
from pathlib import Path

_MOST_PATH_BYTES = 8192


def real_path(path: Path) -> Path | None:
    """The path with all links followed, also where it or its target does not exist (yet).

    None for a path that no file can have, such as one with a NUL in it, and for links that lead
    in a circle.
    """
    try:
        real = Path(os.path.realpath(path))
        return None if real.is_symlink() else real
    except (OSError, ValueError):
        return None


def named_and_real(path: Path) -> tuple[Path, Path]:
    """The path with the links in its folders followed, and with its own followed too.

    The first is the name that an editor and a person know. Where a link leads in a circle, the
    path stays as it is: reading it says so.
    """
    folder = None if path.name == ".." else real_path(path.parent)
    if folder is None:
        real = real_path(path) or path
        return real, real
    named = folder / path.name
    is_link = os.path.islink(named)  # noqa: PTH114 - `is_symlink` raises for a name too long
    return named, (real_path(named) or named) if is_link else named


def real_folder(path: Path) -> Path | None:
    """The real path of an existing folder, else None."""
    real = real_path(path)
    return real if real is not None and real.is_dir() else None


def git_folder(root: Path) -> Path | None:
    """Where the git data of a folder really is: its `.git`, or the place that this file names."""
    git = real_path(root / ".git")
    if git is None or not git.is_file():
        return git
    name, _, place = _first_words(git).partition(": ")
    return real_path(root / place.strip()) if name == "gitdir" else git


def git_folders(root: Path) -> tuple[Path, ...]:
    """The same, and the folder that it shares with other work trees, if there is one."""
    git = git_folder(root)
    if git is None:
        return ()
    shared = _first_words(git / "commondir").strip()
    common = real_path(git / shared) if shared else None
    return (git,) if common is None else (git, common)


def home_folder() -> Path | None:
    """The person's own folder, real; None where the system knows none."""
    try:
        return real_path(Path.home())
    except RuntimeError:
        return None


def _first_words(path: Path) -> str:
    """The beginning of a file that holds a path; nothing where there is no such file."""
    with suppress(OSError, UnicodeDecodeError):
        if path.is_file():  # reading a pipe would block
            with path.open("rb") as file:
                return file.read(_MOST_PATH_BYTES).decode()
    return ""


def is_within(path: Path, folder: Path) -> bool:
    """Whether the path is the folder or below it; both real. Case counts where the system says."""
    inner, outer = os.path.normcase(path), os.path.normcase(folder)
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


def normalized(path: Path) -> Path:
    """The path without `.` and `..`, links not followed."""
    return Path(os.path.normpath(path))
