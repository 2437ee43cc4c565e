"""An editor for tests below the edges: buffers in memory, with the manners of several clients."""

from collections.abc import Sequence
from pathlib import Path

from pails.core.events import Problem
from pails.core.ports import Buffer, EditOutcome, TextChange
from pails.tools.text.edit import apply_changes


class MemoryEditor:
    """Buffers by path. `saves`: what the client does when asked to save.

    "writes" saves, "refuses" says no, "lies" says yes and does nothing, "formats" saves the text
    with a comment added, "cannot" is a client that is not asked. `refusal`, when set, is why edits
    are not applied.
    """

    def __init__(self, saves: str = "writes") -> None:
        self.buffers: dict[Path, Buffer] = {}
        self.saves = saves
        self.refusal = ""
        self.labels: list[str] = []
        self.relocates = False
        """Whether the client can move and delete files."""
        self.changed: list[Path] = []
        """The open files that were said to have changed on the disk."""

    def open(
        self, path: Path, text: str, version: int = 1, settled_at: float | None = None
    ) -> None:
        self.buffers[path] = Buffer(path, path.as_uri(), text, version, settled_at)

    def text(self, path: Path) -> str:
        return self.buffers[path].text

    def buffer(self, path: Path) -> Buffer | None:
        return self.buffers.get(path)

    def open_buffers(self) -> Sequence[Buffer]:
        return list(self.buffers.values())

    @property
    def can_save(self) -> bool:
        return self.saves != "cannot"

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        if self.refusal:
            return EditOutcome("refused", self.refusal)
        current = self.buffers[buffer.path]
        if current.version != buffer.version:
            return EditOutcome("refused", f"version {buffer.version} is not {current.version}")
        self.labels.append(label)
        self.open(buffer.path, apply_changes(buffer.text, changes), buffer.version + 1)
        return EditOutcome("applied")

    async def relocate(self, path: Path, target: Path | None, label: str) -> EditOutcome | None:
        if not self.relocates:
            return None
        if self.refusal:
            return EditOutcome("refused", self.refusal)
        self.labels.append(label)
        for open_path in [each for each in self.buffers if each.is_relative_to(path)]:
            buffer = self.buffers.pop(open_path)
            if target is not None:
                self.open(target / open_path.relative_to(path), buffer.text)
        if target is None:
            path.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        return EditOutcome("applied")

    async def save(self, path: Path) -> bool:
        text = self.text(path)
        if self.saves == "formats":
            text += "# formatted\n"
            self.open(path, text, self.buffers[path].version + 1)
        if self.saves in {"writes", "formats"}:
            path.write_bytes(text.encode())
        return self.saves not in {"refuses", "cannot"}

    def publish(self, path: Path, text: str | None, problems: Sequence[Problem]) -> None:
        """Shows nothing: these tests look at texts only."""

    def changed_on_disk(self, paths: Sequence[Path]) -> None:
        self.changed += paths
