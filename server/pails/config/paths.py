"""Where Pails keeps its own files, and the name under which a workspace is known there."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

import platformdirs

from pails.core.errors import StorageError


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders of ours, absolute. PAILS_STATE_DIR and PAILS_CONFIG_DIR override the platform's.

    What lies in `state` and `logs` is for this person alone: folders 0700, files 0600.
    """

    state: Path
    config: Path
    logs: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Paths":
        state = _folder(environ.get("PAILS_STATE_DIR")) or platformdirs.user_state_path("pails")
        config = _folder(environ.get("PAILS_CONFIG_DIR")) or platformdirs.user_config_path("pails")
        return cls(state, config, state / "logs")

    def create(self) -> None:
        """Make the state and log folders, private to this person; `StorageError` if impossible."""
        for folder in (self.state, self.logs):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)
            except OSError as error:
                raise StorageError(
                    f"Pails cannot use its folder {folder}: {error.strerror or error}. Nothing "
                    "was changed. Make it writable, or name another one in PAILS_STATE_DIR."
                ) from error

    def sessions(self, workspace: PurePath) -> Path:
        """The folder of a workspace's session logs. It need not exist."""
        return self.state / "sessions" / workspace_key(workspace)


def workspace_key(workspace: PurePath) -> str:
    """One file name per workspace, however its path was spelled: a readable part and a hash.

    Links are resolved, a Windows drive is compared without case, and composed and decomposed
    accents are one.
    """
    real = _real(workspace) if isinstance(workspace, Path) else workspace
    spelling = real.as_posix()
    if real.drive:
        spelling = spelling.casefold()
    spelling = unicodedata.normalize("NFC", spelling)
    digest = hashlib.sha256(spelling.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "-", spelling.rsplit("/", 1)[-1]).strip("-.")[:40]
    return f"{name or 'root'}-{digest}"


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links: no real path exists
        return path.absolute()


def _folder(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text and text.strip() else None
