"""The append-only log of one session: one JSON object a line, written before it counts.

    {"seq":7,"time":1790000000.123,"event":{"kind":"toolCallStarted",…},"v":1}

A line ends with `\\n` and readers split on nothing else. A record is in the operating system's
hands when `append` returns, so the death of our process loses nothing; `sync` waits for the disk.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pails.core.errors import LogError
from pails.core.events import Event
from pails.host.log import AppendLog, read_lines
from pails.session.codec import Record, decode_record, encode_record


class Journal:
    """Writes records to a file that this process owns. Raises `LogError` when it cannot."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = AppendLog(path)
        self._next_seq = 1
        self._owed: list[Record] = []

    @classmethod
    def reopen(cls, path: Path) -> "tuple[Journal, Loaded]":
        """Go on with a log and mend its tail: blocking.

        A torn last line, as a killed process leaves it, is cut off so that the next record does
        not glue to it. A log without any readable record is refused and left as it is.
        """
        journal = cls(path)
        try:
            loaded = load(path)
            torn = journal._log.cut(loaded.size)
        except LogError:
            journal.close()
            raise
        journal._next_seq = max(record.seq for record in loaded.records) + 1
        if torn:
            lost = f"the last record was torn and is lost ({torn} bytes)"
            loaded = replace(loaded, repaired=(lost, *loaded.repaired))
        return journal, loaded

    @property
    def last_seq(self) -> int:
        return self._next_seq - 1

    @property
    def owed(self) -> Sequence[Record]:
        """The records that `owe` took and that are not in the file yet."""
        return tuple(self._owed)

    def append(self, event: Event) -> None:
        """Number the event and write it. Raises `LogError`: then nothing counts."""
        record = self._record(event)
        self._log.append(b"".join(map(encode_record, (*self._owed, record))))
        self._owed.clear()
        self._next_seq = record.seq + 1

    def owe(self, event: Event) -> None:
        """Number an event that could not be written; it is written in front of the next one."""
        record = self._record(event)
        self._owed.append(record)
        self._next_seq = record.seq + 1

    async def sync(self) -> None:
        """Wait until everything appended is on the disk."""
        await self._log.sync()

    def discard(self) -> None:
        """Let go of the log and leave none behind."""
        self._log.discard()

    def close(self) -> None:
        self._log.close()

    def _record(self, event: Event) -> Record:
        return Record(self._next_seq, round(time.time(), 3), event)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a log holds, and in words what was mended or left out. `size`: bytes of whole lines."""

    records: tuple[Record, ...]
    repaired: tuple[str, ...]
    size: int


def load(path: Path) -> Loaded:
    """Read a log, which may be in use: blocking.

    A line without an end is left out, as is a line in the middle that is unreadable or whose
    number does not rise. Raises `LogError` when there is no readable record at all.
    """
    lines, size = read_lines(path)
    repaired: list[str] = []
    records = list(_decode_all(lines, repaired))
    if not records:
        raise LogError(
            f"The session log {path} holds no readable record; it was left as it is. Start a new "
            "session."
        )
    return Loaded(tuple(records), tuple(repaired), size)


def _decode_all(lines: list[bytes], repaired: list[str]) -> Iterator[Record]:
    bad = last_seq = 0
    for line in lines:
        try:
            record = decode_record(line)
        except ValueError:
            bad += 1
            continue
        if record.seq <= last_seq:
            bad += 1
            continue
        last_seq = record.seq
        yield record
    if bad:
        repaired.append(
            f"{bad} unreadable record(s) were skipped; their bytes are still in the log"
        )
