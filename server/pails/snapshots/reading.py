"""Reading what a look has found, and storing its bytes."""

import errno
import time
from collections.abc import Callable, Mapping

from pails.host.tree import Status, read_file, read_link
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import FILE, LINK, PROGRAM, Entry, Reason
from pails.snapshots.look import Look, Place
from pails.snapshots.stat_cache import Row, lookup

_CHANGED_MEANWHILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.EISDIR)


class Reader:
    """`rows` can be remembered for the next time, as far as reading has come.

    They are worth it if it `has_read` anything, instead of finding all in the cache.
    """

    def __init__(
        self,
        place: Place,
        look: Look,
        store: Callable[[bytes], str],
        cache: Mapping[str, bytes],
    ) -> None:
        self.started = time.time_ns()
        self.rows: list[tuple[str, Row]] = []
        self.has_read = False
        self._place = place
        self._look = look
        self._store = store
        self._cache = cache

    def read(self, deadline: Deadline) -> dict[str, Entry]:
        """The entries by path. What cannot be read goes to the look's `left_out` and `gone`.

        Raises `TimeoutError`, and what storing raises.
        """
        entries: dict[str, Entry] = {}
        for path in self._look.links:
            deadline.check()
            self._read_one(path, None, entries)
        for path, status in self._look.files.items():
            deadline.check()
            self._read_one(path, status, entries)
        return entries

    def _read_one(self, path: str, status: Status | None, entries: dict[str, Entry]) -> None:
        known = status and lookup(self._cache, path, status)
        if status and known:
            self.rows.append((path, (status, known)))
            entries[path] = _file(status, known)
            return
        self.has_read = True
        try:
            content, steady = self._content(path, status)
        except OSError as error:
            self._missed(path, error)
            return
        id = self._store(content)
        entries[path] = _file(status, id) if status else Entry(LINK, id)
        if steady:
            self.rows.append((path, (steady, id)))

    def _content(self, path: str, status: Status | None) -> tuple[bytes, Status | None]:
        absolute = self._place.absolute(path)
        if status is None:
            return read_link(absolute), None
        return read_file(absolute, self._place.limits.file_bytes)

    def _missed(self, path: str, error: OSError) -> None:
        self._look.gone.append(path)
        if error.errno == errno.EFBIG:
            self._look.left_out[path] = Reason.TOO_LARGE
        elif error.errno not in _CHANGED_MEANWHILE:
            self._look.left_out[path] = Reason.UNREADABLE


def _file(status: Status, id: str) -> Entry:
    return Entry(PROGRAM if status.executable else FILE, id)
