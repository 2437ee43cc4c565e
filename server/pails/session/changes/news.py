"""Finding out what the model is to be told at the start of a turn, each fact once.

What a person decided is in the log; what they, or a program, changed is seen by comparing the files
that the agent wrote with the texts that it knows of.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pails.context.news import News, render_news
from pails.core.errors import StorageError
from pails.core.events import HunksResolved, SeenText
from pails.core.hunks import diff_hunks, rebase_hunks
from pails.core.ports import Texts
from pails.core.text import shown_path
from pails.host.tree import Status, status_of
from pails.session.changes.knowledge import Knowledge
from pails.tools.files.document import Document, Unreadable
from pails.tools.files.documents import Documents
from pails.tools.text.diff import unified

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Briefing:
    """A block for the model, empty when there is nothing to tell; `seen` are files it tells of."""

    text: str = ""
    seen: tuple[SeenText, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    """A file that the agent wrote: the text that the model knows, and the file as it is."""

    path: str
    known_id: str | None
    look: Status | None
    document: Document | Unreadable

    @property
    def is_open(self) -> bool:
        return isinstance(self.document, Document) and self.document.buffer is not None


class Newsroom:
    """Writes the briefings of one session."""

    def __init__(
        self,
        workspace: Path,
        knowledge: Knowledge,
        documents: Documents,
        texts: Texts,
        may_read: Callable[[Path], bool],
    ) -> None:
        """`may_read` says what the model may be shown unasked; it may block."""
        self._workspace = workspace
        self._knowledge = knowledge
        self._documents = documents
        self._texts = texts
        self._may_read = may_read
        self._unchanged: dict[str, tuple[Status | None, str | None]] = {}
        """How files looked when they had which text: while they look so, they need no reading."""

    async def briefing(self) -> Briefing:
        """What happened since the last one. In a session that has written nothing it is free."""
        known, decisions = dict(self._knowledge.texts), self._knowledge.to_tell
        if not known and not decisions:
            return Briefing()
        is_open = {path for path in known if self._documents.buffer(Path(path), Path(path))}
        looks = await asyncio.to_thread(self._looks, known, is_open)
        if not looks and not decisions:
            return Briefing()
        documents = await self._documents.read_all([Path(path) for path in looks])
        files = [
            _File(path, known[path], look, document)
            for (path, look), document in zip(looks.items(), documents, strict=True)
        ]
        return await asyncio.to_thread(self._compared, files, decisions)

    def _looks(
        self, known: Mapping[str, str | None], is_open: Set[str]
    ) -> dict[str, Status | None]:
        """The files that may have another text than the known one, and how they look. Blocks."""
        looks: dict[str, Status | None] = {}
        for path, text_id in known.items():
            with suppress(OSError):  # else nobody can say, and nothing is said
                look = status_of(path)
                is_plain = look is None or look.kind == "file"
                unchanged = is_plain and self._unchanged.get(path) == (look, text_id)
                if path in is_open or not unchanged:
                    looks[path] = look
        return looks

    def _compared(self, files: Sequence[_File], decisions: Sequence[HunksResolved]) -> Briefing:
        news = [self._decided(together) for together in _grouped(decisions)]
        seen: list[SeenText] = []
        for file in files:
            taken = [one for one in decisions if file.path in (one.path, one.moved_to)]
            try:
                now_id, drift = self._drifted(file, taken)
            except StorageError as error:
                log.warning("%s cannot be compared with what the model knows: %s", file.path, error)
                continue
            if not file.is_open:
                self._unchanged[file.path] = (file.look, now_id)
            if now_id != file.known_id:
                seen.append(SeenText(file.path, now_id))
                news += drift
        return Briefing(render_news(news), tuple(seen))

    def _decided(self, decisions: Sequence[HunksResolved]) -> News:
        """Decisions that go together, as one."""
        decision, last = decisions[0], decisions[-1]
        shown = shown_path(Path(decision.path), self._workspace)
        verb = "accepted after all" if decision.decision == "accepted" else decision.decision
        count = sum(len(one.hunk_ids) for one in decisions)
        what = "this change" if count == 1 else f"these {count} changes"
        said = f"{shown}: the person {verb} {what} of yours"
        if decision.feedback:
            said += f", and says: “{decision.feedback}”"
        if decision.moved_to:
            said += f" The file is at {shown_path(Path(decision.moved_to), self._workspace)} again."
        if not self._may_read(Path(decision.path)):
            return News(f"{said}.")
        try:
            before, after = self._text(decision.before_id), self._text(last.after_id)
        except StorageError:
            return News(f"{said}.")
        return News(f"{said}. What that did:", unified(shown, before, after).text)

    def _drifted(
        self, file: _File, decisions: Sequence[HunksResolved]
    ) -> tuple[str | None, list[News]]:
        """The id of the file's text now, and what has to be said if it is not the known one."""
        document = file.document
        if isinstance(document, Unreadable) or file.known_id == "":
            return file.known_id, []
        now = document.text if document.exists else None
        now_id = None if now is None else self._texts.keep(now)
        if now_id == file.known_id:
            return now_id, []
        expected = self._expected(self._text(file.known_id), decisions)
        shown = shown_path(Path(file.path), self._workspace)
        if now is None:
            said = f"{shown}: somebody else has deleted or moved it."
            return now_id, [News(said)] if expected is not None else []
        if not self._may_read(Path(file.path)):  # it may lead elsewhere by now
            return now_id, [News(f"{shown}: has another text, which you may not see unasked.")]
        diff = unified(shown, expected, now).text
        said = f"{shown}: changed by the person, or by a program, since you wrote it:"
        return now_id, [News(said, diff)] if diff else []

    def _expected(self, text: str | None, decisions: Sequence[HunksResolved]) -> str | None:
        """The text that the model knows with what was decided, which it is told of as such."""
        for decision in decisions:
            before, after = self._text(decision.before_id), self._text(decision.after_id)
            if after is None or text is None:
                text = after
            else:
                text = rebase_hunks(diff_hunks(before or "", after), before or "", text).text
        return text

    def _text(self, text_id: str | None) -> str | None:
        return None if text_id is None else self._texts.get(text_id)


def _grouped(decisions: Sequence[HunksResolved]) -> list[list[HunksResolved]]:
    """Decisions of one kind, with the same words, that followed each other in a file."""
    groups: list[list[HunksResolved]] = []
    for decision in decisions:
        last = groups[-1][-1] if groups else None
        if last and _goes_on(last, decision):
            groups[-1].append(decision)
        else:
            groups.append([decision])
    return groups


def _goes_on(last: HunksResolved, decision: HunksResolved) -> bool:
    said = (last.path, last.decision, last.feedback)
    alike = said == (decision.path, decision.decision, decision.feedback)
    follows = bool(last.after_id) and last.after_id == decision.before_id
    return alike and follows and not decision.moved_to
