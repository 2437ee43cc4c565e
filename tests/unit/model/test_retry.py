"""How long to wait, and when not to."""

from datetime import UTC, datetime

import httpx
import pytest

from pails.core.errors import ModelRefusedError, ModelUnavailableError, RateLimitedError
from pails.model.retry import LONGEST_ASKED, RetryPolicy, read_retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
EXACT = RetryPolicy(jitter=0.0)


def test_waits_double_and_then_end():
    error = ModelUnavailableError("x")
    assert [EXACT.wait_after(n, error) for n in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, None]


def test_jitter_only_adds_and_stays_in_bounds():
    waits = {RetryPolicy(jitter=0.5).wait_after(2, ModelUnavailableError("x")) for _ in range(50)}
    assert len(waits) > 1
    assert all(wait is not None and 2.0 <= wait <= 3.0 for wait in waits)


def test_what_the_server_asks_for_is_kept_to_up_to_a_minute():
    assert EXACT.wait_after(1, RateLimitedError("x", 30.0)) == 30.0
    assert EXACT.wait_after(1, RateLimitedError("x", 60.0)) == 60.0
    assert EXACT.wait_after(1, RateLimitedError("x", 60.1)) is None
    assert EXACT.wait_after(3, RateLimitedError("x", 0.0)) == 4.0
    assert EXACT.wait_after(2, RateLimitedError("x")) == 2.0


def test_a_refusal_is_never_tried_again():
    assert EXACT.wait_after(1, ModelRefusedError("x")) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": " 11180 "}, 11180.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:20 GMT"}, 20.0),
        ({"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "Sunday, 01-Mar-26 12:00:20 GMT"}, 20.0),
        (
            {
                "Retry-After": "Sun, 01 Mar 2026 10:00:07 GMT",
                "Date": "Sun, 01 Mar 2026 10:00:00 GMT",
            },
            7.0,
        ),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "9" * 5000}, LONGEST_ASKED),
        ({"Retry-After": "1e999"}, LONGEST_ASKED),
        ({"Retry-After": "inf"}, LONGEST_ASKED),
        ({"Retry-After-Ms": "9" * 400}, LONGEST_ASKED),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2359"}, LONGEST_ASKED),
        ({"Retry-After": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
        ({"Retry-After": f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT"}, None),
        ({"Retry-After": f"Fri, 31 Dec 2026 23:59:59 +{'9' * 30}"}, None),
        ({"Retry-After-Ms": "350", "Retry-After": "1"}, 0.35),
    ],
)
def test_retry_after_in_seconds_or_as_a_date(headers, seconds):
    assert read_retry_after(httpx.Headers(headers), "", NOW) == seconds


def test_a_wait_in_the_body():
    assert read_retry_after(httpx.Headers(), '{"retryDelay": "34s"}', NOW) == 34.0
    body = '{"retryDelay": "%ss"}' % ("9" * 400)
    assert read_retry_after(httpx.Headers(), body, NOW) == LONGEST_ASKED
