"""Texts that are not on the disk, as files, for a program that reads files.

A shadow is a temporary folder that stands for the root of the file system. Each text lies there
under the path of its document, and with it come the files that say what a search leaves out, from
the same folders: so ripgrep does with these texts just what it would do if they had been saved.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pails.host.paths import git_folders

_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
_REPOSITORIES = (".git", ".jj")
"""Only within one of these does ripgrep obey `.gitignore`."""


class Shadow:
    """A folder with these texts, by absolute path. All methods block.

    Making one raises `OSError`; whoever has made it calls `remove`.
    """

    def __init__(self, texts: Mapping[Path, str]) -> None:
        self.paths = frozenset(texts)
        self._folder = tempfile.mkdtemp(prefix="pails-unsaved-")
        try:
            for path, text in texts.items():
                self._write(path, text)
            for folder in {parent for path in texts for parent in path.parents}:
                self._copy_ignore_files(folder)
        except BaseException:
            self.remove()
            raise

    @property
    def root(self) -> Path:
        """What stands for the root of the file system."""
        return Path(self._folder)

    def place(self, path: Path) -> Path:
        """Where an absolute path is in the shadow."""
        return Path(self._folder, path.drive.replace(":", ""), *path.parts[1:])

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, path: Path, text: str) -> None:
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())

    def _copy_ignore_files(self, folder: Path) -> None:
        """What cannot be read is left out: ripgrep could not read it either."""
        for name in _IGNORE_FILES:
            _copy(folder / name, self.place(folder / name))
        for name in _REPOSITORIES:
            if os.path.lexists(folder / name):
                self.place(folder / name).mkdir(exist_ok=True)
        for git in git_folders(folder):
            _copy(git / "info" / "exclude", self.place(folder / ".git" / "info" / "exclude"))


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
