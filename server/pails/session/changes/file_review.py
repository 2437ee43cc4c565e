"""What one turn did to one file, as a person reviews it against the file as it is now. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pails.core.review import FileReview, HunkState, ReviewHunk
from pails.session.changes.decisions import Standing, standings
from pails.session.changes.file_history import ChangeSet, Part
from pails.tools.files.document import Document, Unreadable


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A change beside the file as it is now. `path` is where the file is now."""

    path: Path
    change: ChangeSet
    document: Document | Unreadable

    @property
    def now(self) -> str | None:
        """The text as it is now, None where there is none."""
        document = self.document
        return document.text if isinstance(document, Document) and document.exists else None

    def review(self) -> FileReview:
        """As it is shown. Takes a while for a large text."""
        change = self.change
        note = change.note
        if isinstance(self.document, Unreadable):
            note = note or f"{self.path.name} {self.document.message}"
        return FileReview(
            self.path,
            self._hunks(),
            created=change.before is None and not change.note,
            deleted=change.after is None and not change.note,
            moved_from=Path(change.moved_from) if change.moved_from else None,
            note=note,
        )

    def _hunks(self) -> tuple[ReviewHunk, ...]:
        dropped = (
            Standing(part, part.hunk.at.new_start, is_there=False) for part in self.change.dropped
        )
        hunks = [self._hunk(standing) for standing in (*standings(self.change, self.now), *dropped)]
        return tuple(sorted(hunks, key=lambda hunk: hunk.old_line))

    def _hunk(self, standing: Standing) -> ReviewHunk:
        part = standing.part
        verdict = self.change.verdicts.get(part.id)
        return ReviewHunk(
            part.id,
            state_of(self.change, standing),
            part.hunk.old,
            part.hunk.new,
            part.hunk.at.start,
            standing.line,
            verdict.feedback if verdict else "",
        )


def state_of(change: ChangeSet, standing: Standing) -> HunkState:
    """A person's word counts for good; a write that a person allowed needs no second one."""
    if change.is_taken_back(standing.part):
        return "rejected"
    if standing.part.id in change.verdicts or standing.part.lined.asked:
        return "accepted"
    return "pending" if standing.is_there else "superseded"


def waiting(change: ChangeSet, now: str | None) -> Sequence[Part]:
    """The parts about which nobody has decided."""
    return [
        standing.part
        for standing in standings(change, now)
        if state_of(change, standing) == "pending"
    ]
