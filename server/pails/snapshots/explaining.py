"""What may go wrong with snapshots, as sentences for a person."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pygit2 import GitError

from pails.core.errors import ConfigurationError, StorageError
from pails.host.folders import home_folders
from pails.host.paths import is_within
from pails.snapshots.entries import SnapshotError


@contextmanager
def explained(doing: str, advice: str = "") -> Generator[None]:
    """Raise `SnapshotError` for whatever may go wrong. `doing` completes "Pails could not …"."""
    try:
        yield
    except TimeoutError as error:
        raise SnapshotError(
            f"Pails could not {doing} in time. Your files are as they were, and so are all older "
            "snapshots; the next one looks at everything again."
        ) from error
    except SnapshotError:
        raise
    except (GitError, OSError, ValueError, StorageError, ConfigurationError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SnapshotError(
            f"Pails could not {doing}: {reason}. Your files are as they were.{advice}", reason
        ) from error


def refuse_too_much(root: Path) -> None:
    """Raise `SnapshotError` for a folder that holds more than one project."""
    if reason := _too_much(root):
        raise SnapshotError(
            f"Pails keeps no snapshots of {root}: it is {reason}. What the agent does there "
            "cannot be taken back as a whole. Open the folder of one project instead."
        )


def _too_much(root: Path) -> str:
    if root.parent == root:
        return "the root of a file system"
    for home in home_folders():
        if root == home:
            return "your home folder"
        if is_within(home, root):
            return "a folder above your home folder"
    return ""
