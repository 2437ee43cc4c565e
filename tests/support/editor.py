"""An editor for tests below the edges: buffers in memory, with the manners of several clients."""

from collections.abc import Sequence
from pathlib import Path

from pails.core.events import Problem
from pails.core.ports import Buffer, EditOutcome, TextChange
from pails.tools.edit import apply_changes


class MemoryEditor:
    """Buffers by path. `saves`: what the client does when asked to save.

    "writes" saves, "refuses" says no, "lies" says yes and does nothing, "formats" saves the text
    with a comment added. `refusal`, when set, is why edits are not applied.
    """

    def __init__(self, saves: str = "writes") -> None:
        self.buffers: dict[Path, Buffer] = {}
        self.saves = saves
        self.refusal = ""
        self.labels: list[str] = []

    def open(self, path: Path, text: str, version: int = 1) -> None:
        self.buffers[path] = Buffer(path, path.as_uri(), text, version)

    def text(self, path: Path) -> str:
        return self.buffers[path].text

    def buffer(self, path: Path) -> Buffer | None:
        return self.buffers.get(path)

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        if self.refusal:
            return EditOutcome("refused", self.refusal)
        current = self.buffers[buffer.path]
        if current.version != buffer.version:
            return EditOutcome("refused", f"version {buffer.version} is not {current.version}")
        self.labels.append(label)
        self.open(buffer.path, apply_changes(buffer.text, changes), buffer.version + 1)
        return EditOutcome("applied")

    async def save(self, path: Path) -> bool:
        text = self.text(path)
        if self.saves == "formats":
            text += "# formatted\n"
            self.open(path, text, self.buffers[path].version + 1)
        if self.saves in {"writes", "formats"}:
            path.write_bytes(text.encode())
        return self.saves != "refuses"

    def publish(self, path: Path, problems: Sequence[Problem]) -> None:
        """Shows nothing: these tests look at texts only."""
