"""The histories of a session's files, made when somebody asks and kept while there is room."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from pails.core.ports import Texts
from pails.core.review import FileReview
from pails.session.changes.file_chains import Chain
from pails.session.changes.file_history import FileHistory
from pails.session.changes.file_review import ReviewedFile
from pails.tools.files.document import Document, Unreadable

_MOST_CHARS = 50_000_000
"""In the texts of all histories that are kept; one alone may have more."""
_NEIGHBOURS = 4
"""A chain asks for most texts twice, one right after the other."""


@dataclass(slots=True)
class _Kept:
    """A history, and what it shows beside the file as it was when somebody last looked."""

    chain: Chain
    history: FileHistory
    document: Document | Unreadable | None = None
    files: tuple[ReviewedFile, ...] = ()
    reviews: tuple[FileReview, ...] = ()


class Histories:
    """May be asked from several threads at once, and blocks."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def history(self, path: str, chain: Chain) -> FileHistory:
        """The history of a file with this chain; `path` is the one that it has now."""
        return self._get(path, chain).history

    def reviews(
        self, path: str, chain: Chain, document: Document | Unreadable
    ) -> list[tuple[ReviewedFile, FileReview]]:
        """What each turn did to the file, oldest first, as it stands in the file as it is."""
        kept = self._get(path, chain)
        with self._lock:
            if kept.document == document:
                return list(zip(kept.files, kept.reviews, strict=True))
        files = tuple(ReviewedFile(Path(path), one, document) for one in kept.history.changes)
        reviews = tuple(file.review() for file in files)
        with self._lock:
            kept.document, kept.files, kept.reviews = document, files, reviews
        return list(zip(files, reviews, strict=True))

    def _get(self, path: str, chain: Chain) -> _Kept:
        with self._lock:
            kept = self._kept.get(path)
            if kept and kept.chain == chain:
                self._kept.move_to_end(path)
                return kept
        kept = _Kept(chain, FileHistory(chain, lru_cache(_NEIGHBOURS)(self._texts.get)))
        with self._lock:
            self._keep(path, kept)
        return kept

    def _keep(self, path: str, kept: _Kept) -> None:
        self._drop(self._kept.pop(path, None))
        self._kept[path] = kept
        self._size += kept.history.size
        while self._size > _MOST_CHARS and len(self._kept) > 1:
            self._drop(self._kept.popitem(last=False)[1])

    def _drop(self, kept: _Kept | None) -> None:
        if kept:
            self._size -= kept.history.size
