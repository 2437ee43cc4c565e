"""The append-only log of one session: one JSON object a line, written before it counts.

    {"seq":7,"time":1790000000.123,"event":{"kind":"toolCallStarted",…},"v":1}

A line ends with `\\n` and readers split on nothing else. A record is in the operating system's
hands when `append` returns, so the death of our process loses nothing; `sync` waits for the disk.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import StorageError
from pails.core.events import Event
from pails.host.log import AppendLog
from pails.session.codec import Record, decode_record, encode_record


class Journal:
    """Writes records to a file that this process owns."""

    def __init__(self, path: Path, next_seq: int = 1) -> None:
        self.path = path
        self._log = AppendLog(path)
        self._next_seq = next_seq

    @property
    def last_seq(self) -> int:
        return self._next_seq - 1

    def append(self, event: Event) -> int:
        """Write the event and return its number. Raises `StorageError`: then nothing counts."""
        seq = self._next_seq
        self._log.append(encode_record(Record(seq, round(time.time(), 3), event)))
        self._next_seq = seq + 1
        return seq

    async def sync(self) -> None:
        """Wait until everything appended is on the disk."""
        await self._log.sync()

    def close(self) -> None:
        self._log.close()


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a log holds, and in words what had to be mended or left out."""

    records: tuple[Record, ...]
    repaired: tuple[str, ...]


def load(path: Path) -> Loaded:
    """Read a log and repair its tail: blocking.

    A torn last line, as a killed process leaves it, is cut off so that the next record does not
    glue to it. An unreadable line in the middle is left where it is and skipped.
    """
    lines, torn = AppendLog.read_and_repair(path)
    repaired: list[str] = []
    if torn:
        repaired.append(f"the last record was torn and is lost ({torn} bytes)")
    records = list(_decode_all(lines, repaired))
    if not records:
        raise StorageError(
            f"The session log {path} holds no readable record; it was left as it is."
        )
    return Loaded(tuple(records), tuple(repaired))


def _decode_all(lines: list[bytes], repaired: list[str]) -> Iterator[Record]:
    bad = 0
    for line in lines:
        try:
            yield decode_record(line)
        except ValueError:
            bad += 1
    if bad:
        repaired.append(
            f"{bad} unreadable record(s) were skipped; their bytes are still in the log"
        )
