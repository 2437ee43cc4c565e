"""Files of ours that nobody needs any more, and their removal, which blocks.

Only a name that we give and an age make a file a leftover: a person may keep files of their own
in the same folder, and its other files may belong to a Pails on another machine.
"""

import os
import re
import secrets
import shutil
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

_TEMPORARY = re.compile(r"\.pails-(\d+)-[0-9a-f]{8}\.tmp")
_TEMPORARY_SECONDS = 3600.0
"""No write takes so long. A younger file may be the one of a process in another container or on
another machine, whose number tells nothing here."""


def temporary_name() -> str:
    """A new name for a file that becomes another one: `.pails-<process>-<random>.tmp`."""
    return f".pails-{os.getpid()}-{secrets.token_hex(4)}.tmp"


def remove_temporary(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder."""
    with suppress(OSError), os.scandir(folder) as found:
        for item in found:
            name = _TEMPORARY.fullmatch(item.name)
            if name and not _is_alive(int(name[1])):
                _remove_file(Path(item.path), _TEMPORARY_SECONDS)


def remove_old(folder: Path, names: str, seconds: float) -> None:
    """Remove the files below `folder` that are called so and were last changed so long ago.

    `names` is a pattern such as `*.txt`. Folders that this leaves empty go too.
    """
    emptied: set[Path] = set()
    with suppress(OSError):
        for path in folder.rglob(names):
            if _remove_file(path, seconds):
                emptied |= {*path.parents} - {folder, *folder.parents}
    for parent in sorted(emptied, reverse=True):  # what lies deeper comes first
        with suppress(OSError):  # something else is in it
            parent.rmdir()


def remove_old_folders(parent: Path, seconds: float) -> None:
    """Remove the folders in `parent` into which nothing was put for so long, with all in them."""
    with suppress(OSError):
        for item in tuple(os.scandir(parent)):
            if item.is_dir(follow_symlinks=False) and _is_old(item.stat(), seconds):
                shutil.rmtree(item.path, ignore_errors=True)


def _remove_file(path: Path, seconds: float) -> bool:
    """Whether this was a file of that age and is gone now."""
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and _is_old(status, seconds):
            path.unlink()
            return True
    return False


def _is_old(status: os.stat_result, seconds: float) -> bool:
    return time.time() - status.st_mtime > seconds


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # there signal 0 is no question but Ctrl+C
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
