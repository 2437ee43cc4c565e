"""The output of a command: its beginning as it comes, its end when it is over."""

from collections import deque
from collections.abc import Iterator

HEAD_LINES = 12
TAIL_LINES = 8


class OutputView:
    """Cuts streamed output into lines and holds back what would scroll everything else away."""

    def __init__(self) -> None:
        self._partial = ""
        self._shown = 0
        self._dropped = 0
        self._tail: deque[str] = deque()

    def feed(self, text: str) -> Iterator[str]:
        """The lines to show now."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            yield from self._take(line)

    def finish(self) -> Iterator[str]:
        """What was held back: how much is left out, and the last lines."""
        if self._partial:
            yield from self._take(self._partial)
            self._partial = ""
        if self._dropped:
            yield f"… {self._dropped} lines …"
        yield from self._tail
        self._tail.clear()

    def _take(self, line: str) -> Iterator[str]:
        # A progress bar returns to the start of its line: only its last state counts.
        line = line.rstrip("\r").rpartition("\r")[2]
        if self._shown < HEAD_LINES:
            self._shown += 1
            yield line
            return
        self._tail.append(line)
        if len(self._tail) > TAIL_LINES:
            self._tail.popleft()
            self._dropped += 1
