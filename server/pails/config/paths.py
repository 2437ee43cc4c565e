"""Where Pails keeps its own files, and the name under which a workspace is known there."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

import platformdirs

from pails.core.errors import StorageError

STATE_DIR = "PAILS_STATE_DIR"
CONFIG_DIR = "PAILS_CONFIG_DIR"


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
        state = _folder(environ.get(STATE_DIR)) or platformdirs.user_state_path("pails")
        config = _folder(environ.get(CONFIG_DIR)) or platformdirs.user_config_path("pails")
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

    @property
    def all_sessions(self) -> Path:
        """Holds a folder of session logs for each workspace. None of these need exist."""
        return self.state / "sessions"

    def sessions(self, workspace: PurePath) -> Path:
        """The session logs of a workspace."""
        return self.all_sessions / workspace_key(workspace)

    @property
    def all_output(self) -> Path:
        """Holds the folders below, of all workspaces and sessions."""
        return self.state / "output"

    def output(self, workspace: PurePath, session_id: str) -> Path:
        """The outputs of a session's commands that are too long for a result."""
        return self.all_output / workspace_key(workspace) / session_id

    @property
    def all_texts(self) -> Path:
        """Holds the folders below, of all workspaces and sessions."""
        return self.state / "texts"

    def texts(self, workspace: PurePath, session_id: str) -> Path:
        """The texts that a session's changes led from and to."""
        return self.all_texts / workspace_key(workspace) / session_id

    @property
    def all_snapshots(self) -> Path:
        """Holds a snapshot store for each workspace."""
        return self.state / "snapshots"

    def snapshots(self, workspace: PurePath) -> Path:
        """The snapshots of a workspace."""
        return self.all_snapshots / workspace_key(workspace)

    @property
    def all_deleted(self) -> Path:
        """Holds a folder for each deleted session."""
        return self.state / "deleted"

    def deleted(self, session_id: str) -> Path:
        """All that a deleted session had."""
        return self.all_deleted / session_id

    @property
    def locks(self) -> Path:
        """A lock file for each file that was written, by the hash of its path."""
        return self.state / "locks"

    @property
    def answers(self) -> Path:
        """Answers that an editor was shown as a file."""
        return self.state / "answers"


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


def unusable_folders(environ: Mapping[str, str]) -> list[str]:
    """The variables that should name a folder of ours and cannot; they count as unset."""
    given = [name for name in (STATE_DIR, CONFIG_DIR) if environ.get(name, "").strip()]
    return [name for name in given if _folder(environ[name]) is None]


def _folder(text: str | None) -> Path | None:
    if not text or not text.strip():
        return None
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:  # `~name` of a user that does not exist
        return None
