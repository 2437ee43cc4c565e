"""What only trying can tell about a folder."""

import tempfile
from pathlib import Path


def try_writing(folder: Path) -> None:
    """Write a file that is gone at once. Raises `OSError` where that is impossible."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"pails doctor")
