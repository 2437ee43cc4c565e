"""When to try again, and how long to wait before."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pails.core.errors import ModelError, ModelUnavailableError, RateLimitedError

LONGEST_ASKED = 365 * 86400.0
"""Seconds. What asks for more, a bug or a joke, is read as this, for which there is a date."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Seconds to wait before each further attempt; the last attempt follows the last wait.

    Up to `jitter` of each wait is added at random, so that many clients do not come back at once.
    What a server asks for is kept to when it is at most `longest_wait`; a person is told to come
    back when it is more.
    """

    delays: tuple[float, ...] = (1.0, 2.0, 4.0)
    jitter: float = 0.25
    longest_wait: float = 60.0

    def wait_after(self, failures: int, error: ModelError) -> float | None:
        """Seconds to wait after this many failed attempts, of which `error` was the last.

        None when there is to be no further attempt.
        """
        if failures > len(self.delays):
            return None
        wait = self.delays[failures - 1]
        if isinstance(error, RateLimitedError):
            if error.retry_after is not None and error.retry_after > self.longest_wait:
                return None
            wait = max(wait, error.retry_after or 0.0)
        elif not isinstance(error, ModelUnavailableError):
            return None
        return wait * (1 + self.jitter * random.random())


def read_retry_after(headers: Mapping[str, str], body: str, now: datetime) -> float | None:
    """Seconds that the server asks to wait, from what it sent with a refusal; None if nothing.

    `Retry-After` is a number of seconds or a date; a date is compared with the server's own clock
    where it sent it. `headers` must look names up in any case. At most `LONGEST_ASKED`.
    """
    wait = _wait_asked_for(headers, body, now)
    return None if wait is None else min(wait, LONGEST_ASKED)


def _wait_asked_for(headers: Mapping[str, str], body: str, now: datetime) -> float | None:
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "").strip()
    if (seconds := _number(asked)) is not None:
        return seconds
    if (then := _date(asked)) is not None:
        return max(0.0, (then - (_date(headers.get("date", "")) or now)).total_seconds())
    in_body = re.search(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', body)
    return float(in_body[1]) if in_body else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None  # neither is what is no number at all


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
