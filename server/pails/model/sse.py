"""Server-sent events, cut out of bytes as they arrive.

Bytes in, so that a reader may measure silence in bytes: a comment that a server sends to keep the
connection alive is no event, yet a sign of life.
"""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: `name` is empty unless the server named it; `data` is its lines, joined."""

    name: str
    data: str


class EventTooLongError(Exception):
    """An event, or a line of it, goes on beyond what any real one needs."""


class EventDecoder:
    """Feed it chunks cut anywhere; it returns the events that are complete.

    `longest` is how many bytes of an event are kept before `feed` raises `EventTooLongError`.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._line: list[bytes] = []
        self._line_size = 0
        self._name = ""
        self._data: list[str] = []
        self._data_size = 0
        self._skip_newline = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        if self._skip_newline and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        # A \r at the end ends its line now; should its \n follow, it belongs to the same end.
        self._skip_newline = chunk.endswith(b"\r")
        *ends, rest = _LINE_END.split(chunk)
        events: list[ServerEvent] = []
        for end in ends:
            self._add_to_line(end)
            events.extend(self._take_line())
        self._add_to_line(rest)
        return events

    def end(self) -> list[ServerEvent]:
        """The event that the stream broke off behind, when only its blank line is missing."""
        return [*self._take_line(), *self._take_event()]

    def _add_to_line(self, part: bytes) -> None:
        self._line.append(part)
        self._line_size += len(part)
        if self._line_size + self._data_size > self._longest:
            raise EventTooLongError

    def _take_line(self) -> list[ServerEvent]:
        line = b"".join(self._line).decode("utf-8", "replace").removeprefix("\ufeff")
        self._line.clear()
        self._line_size = 0
        if not line:
            return self._take_event()
        if line.startswith("{"):
            # No field of the protocol, but how some servers write an error into a stream.
            return [*self._take_event(), ServerEvent("", line)]
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
            self._data_size += len(line)
        elif field == "event":
            self._name = value.removeprefix(" ")
        return []

    def _take_event(self) -> list[ServerEvent]:
        name, data = self._name, "\n".join(self._data).strip()
        self._name = ""
        self._data = []
        self._data_size = 0
        return [ServerEvent(name, data)] if data else []
