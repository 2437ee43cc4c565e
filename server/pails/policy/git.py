"""Git's own folders, known by what they hold instead of by their name.

Git takes any folder with a `HEAD`, `objects` and `refs` for a repository, and its `config` and
`hooks` say what programs git runs. So such a folder is git's wherever it lies; and what could
become one, file by file, is not written unasked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pails.host.files import exists
from pails.host.paths import git_folders, is_within
from pails.policy.names import plain_name

GitPlace = Literal["inside", "part", ""]
"""`inside` a git folder; `part` of one, if it were written; or neither."""

_WHOLE = ("HEAD", "objects", "refs")
_BEGUN = (*_WHOLE, "commondir")
# Without a `HEAD` there is no repository, so writing one always counts.
_ALWAYS = ("head", "commondir", "packed-refs")
_BESIDE_OTHERS = ("config", "config.worktree")
_FOLDERS = ("hooks", "objects", "refs", "info")


def git_place(path: Path, workspace: Path) -> GitPlace:
    """What a file at `path` would be to git; both real, the path in the workspace. Blocking."""
    folders = tuple(_folders_above(path, workspace))
    if any(_is_whole(folder) or _has_elsewhere(folder, path) for folder in folders):
        return "inside"
    if plain_name(path.name) in _ALWAYS or any(_is_part(path, folder) for folder in folders):
        return "part"
    return ""


def _folders_above(path: Path, top: Path) -> Iterator[Path]:
    """What there is of the folders that hold the path, and itself, up to `top`."""
    above = (folder for folder in (path, *path.parents) if is_within(folder, top))
    return filter(exists, above)


def _is_whole(folder: Path) -> bool:
    return all(exists(folder / name) for name in _WHOLE)


def _has_elsewhere(folder: Path, path: Path) -> bool:
    """Whether the path is in what the folder's `.git` names."""
    return any(is_within(path, git) for git in git_folders(folder))


def _is_part(path: Path, folder: Path) -> bool:
    """Whether the path is what a git folder has, and the folder has something of one already."""
    if path == folder:
        return False
    first, *below = map(plain_name, path.relative_to(folder).parts)
    known = first in _FOLDERS if below else first in _BESIDE_OTHERS
    return known and any(exists(folder / name) for name in _BEGUN)
