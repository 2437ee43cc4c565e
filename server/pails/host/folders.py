"""Folders as a whole: private ones, their size on the disk, replacing and removing them."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from pails.host.paths import real_path

if sys.platform != "win32":
    import pwd

_BLOCK_BYTES = 512


def home_folders() -> set[Path]:
    """The person's home folder, by the environment and by the system's own list; real paths."""
    found: set[Path] = set()
    with suppress(RuntimeError):
        found.add(Path.home())
    if sys.platform != "win32":
        with suppress(KeyError):
            found.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return {real for path in found if (real := real_path(path))}


def make_private(folder: Path) -> None:
    """Make a folder, and those above it, that only this person can enter. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def names_in(folder: Path) -> list[str]:
    """The names in a folder; none where there is no folder. Raises `OSError`."""
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []


def disk_usage(folder: Path) -> int:
    """How many bytes the files below take on the disk, which counts in blocks."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # it went away while we looked
                status = Path(parent, name).lstat()
                blocks = getattr(status, "st_blocks", None)
                total += status.st_size if blocks is None else blocks * _BLOCK_BYTES
    return total


def find_files(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files below a folder whose relative paths fit one of the patterns."""
    return [path for pattern in patterns for path in folder.glob(pattern) if path.is_file()]


def rename(source: Path, target: Path) -> None:
    """Give a folder another name, in one step. Raises `OSError`."""
    source.rename(target)


def remove_files(paths: Iterable[Path]) -> None:
    """Remove these files, as far as they exist and we may."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything below it, read-only files too; what resists stays."""
    shutil.rmtree(folder, onerror=_writable_first)


def _writable_first(action: Callable[[str], object], path: str, _: object) -> None:
    with suppress(OSError):
        Path(path).chmod(stat.S_IRWXU)
        action(path)
