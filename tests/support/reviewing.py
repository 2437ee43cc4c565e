"""A session's review without a model: writes of an agent, edits of a person, decisions.

desk = ReviewDesk(tmp_path)
desk.turn("t1")
await desk.write("a.py", "…")        # as a tool would, told of as the executor does
desk.type("a.py", "…")               # the person, in their editor or on the disk
await desk.review.resolve("t1", "rejected")
"""

from dataclasses import dataclass, field
from pathlib import Path

from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    FileChanged,
    HunksResolved,
    Mode,
    SessionCreated,
    TurnStarted,
)
from pails.core.ports import Change
from pails.core.review import FileReview, ReviewHunk
from pails.host.texts import TextStore
from pails.session.changes.review import Review
from pails.session.journal import Journal
from pails.session.recorder import Recorder
from pails.session.state import SessionState
from pails.tools.files import places
from pails.tools.files.document import Document, Unwritten
from pails.tools.files.documents import Documents
from tests.support.editor import MemoryEditor


@dataclass
class ReviewDesk:
    """One session in `root`, on a workspace that lies in there."""

    root: Path
    editor: MemoryEditor = field(default_factory=MemoryEditor)
    calls: int = 0
    turn_id: str = ""

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        self.workspace = self.root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.texts = TextStore(self.root / "texts")
        self.documents = Documents(self.editor)
        self.events: list[Event] = []
        self.recorder = Recorder("s", Journal(self.root / "log.jsonl"), SessionState())
        self.recorder.subscribe(lambda envelope: self.events.append(envelope.event))
        self.recorder.record(SessionCreated(str(self.workspace), Mode.AUTO, "m"))
        self.review = Review("s", self.recorder, self.documents, self.texts)

    def close(self) -> None:
        self.recorder.close()

    def reopened(self) -> Review:
        """The review of the same session in another process."""
        state = SessionState()
        for event in self.events:
            state.apply(event)
        recorder = Recorder("s", Journal(self.root / "other.jsonl"), state)
        review = Review("s", recorder, self.documents, self.texts)
        recorder.close()
        return review

    # -- what happens ---------------------------------------------------------------------------

    def turn(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.recorder.record(TurnStarted(turn_id, f"Title of {turn_id}", Mode.AUTO, "m"))

    def path(self, name: str) -> Path:
        return self.workspace / name

    def type(self, name: str, text: str) -> None:
        """The person changes the file, in the editor where it is open."""
        path = self.path(name)
        buffer = self.editor.buffer(path)
        if buffer:
            self.editor.open(path, text, buffer.version + 1)
        else:
            path.write_bytes(text.encode())

    def text(self, name: str) -> str | None:
        """The file as it is now."""
        path = self.path(name)
        buffer = self.editor.buffer(path)
        if buffer:
            return buffer.text
        return path.read_bytes().decode() if path.exists() else None

    async def write(self, name: str, text: str, *, asked: bool = False) -> None:
        document = await self.documents.read_or_new(self.path(name))
        assert isinstance(document, Document)
        change = await self.documents.write(document, text, "Write")
        assert isinstance(change, Change)
        self._tell((change,), asked=asked)

    async def delete(self, name: str) -> None:
        place = await places.find_place(self.documents, self.path(name))
        assert not isinstance(place, Unwritten)
        changes, failure = await places.remove(self.documents, place, "Delete")
        assert failure is None
        self._tell(changes)

    async def move(self, name: str, target: str) -> None:
        place = await places.find_place(self.documents, self.path(name))
        assert not isinstance(place, Unwritten)
        changes = await places.move(self.documents, place, self.path(target), "Move")
        assert not isinstance(changes, Unwritten)
        self._tell(changes)

    def _tell(self, changes: tuple[Change, ...], *, asked: bool = False) -> None:
        self.calls += 1
        call_id = f"c{self.calls}"
        if asked:
            record, approval = self.recorder.record, f"a{self.calls}"
            record(ApprovalRequested(self.turn_id, call_id, approval, "t", "", "", "", ""))
            record(ApprovalResolved(self.turn_id, approval, ApprovalChoice.ALLOW_ONCE))
        for change in changes:
            self.recorder.record(self._event(call_id, change))

    def _event(self, call_id: str, change: Change) -> FileChanged:
        return FileChanged(
            self.turn_id,
            call_id,
            str(change.path),
            "",
            0,
            0,
            change.target,
            change.saved,
            created=change.before is None,
            deleted=change.after is None,
            moved_from=str(change.moved_from or ""),
            before_id=self._keep(change.before),
            after_id=self._keep(change.after),
        )

    def _keep(self, text: str | None) -> str | None:
        return None if text is None else self.texts.keep(text)

    # -- what can be seen -----------------------------------------------------------------------

    async def file(self, turn_id: str, name: str) -> FileReview:
        """What the review shows of a turn's file."""
        (turn,) = await self.review.list(turn_id)
        (file,) = [file for file in turn.files if file.path == self.path(name)]
        return file

    async def hunks(self, turn_id: str, name: str) -> tuple[ReviewHunk, ...]:
        return (await self.file(turn_id, name)).hunks

    async def states(self, turn_id: str, name: str) -> list[str]:
        return [hunk.state for hunk in await self.hunks(turn_id, name)]

    def resolutions(self) -> list[HunksResolved]:
        return [event for event in self.events if isinstance(event, HunksResolved)]
