"""When work has to end: at an instant, or as soon as somebody says so from another thread."""

import time


class Deadline:
    """`at` is an instant of `time.monotonic()`."""

    def __init__(self, at: float) -> None:
        self.at = at

    def end(self) -> None:
        """Have the work end at its next step."""
        self.at = 0.0

    def check(self) -> None:
        """Raises `TimeoutError` when it is time."""
        if time.monotonic() >= self.at:
            raise TimeoutError("out of time")
