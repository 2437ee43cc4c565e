"""Paths as a person would write them."""

from pathlib import Path


def relative(path: str, workspace: Path) -> str:
    """Relative to the workspace where it lies inside."""
    given = Path(path)
    return str(given.relative_to(workspace)) if given.is_relative_to(workspace) else path
