"""What servers say when they fail, and what becomes of it."""

import json
from datetime import UTC, datetime

import httpx
import pytest

from pails.core.errors import (
    ConfigurationError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
)
from pails.model.endpoint import Endpoint
from pails.model.failures import response_failure, stream_failure, transport_failure

ENDPOINT = Endpoint("m1", "https://host.example/v1", "sk-verysecretkey", "OPENAI_API_KEY")
LOCAL = Endpoint("m1", "http://127.0.0.1:1/v1")
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def error(message: str, **fields: object) -> str:
    return json.dumps({"error": {"message": message, **fields}})


NO_CREDIT = error("You exceeded your current quota.", code="insufficient_quota")


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (401, error("Incorrect API key provided"), ModelRefusedError, "OPENAI_API_KEY"),
        (400, error("API key not valid."), ModelRefusedError, "OPENAI_API_KEY"),
        (403, error("Invalid API key"), ModelRefusedError, "did not accept the key"),
        (403, error("Country not supported"), ModelRefusedError, "may not use 'm1'"),
        (429, NO_CREDIT, ModelRefusedError, "no credit left"),
        (403, error("credit balance is too low"), ModelRefusedError, "no credit left"),
        (402, error("Insufficient Balance"), ModelRefusedError, "Top it up"),
        (429, error("Rate limit reached"), RateLimitedError, "patience"),
        (429, "", RateLimitedError, "patience"),
        (400, error("maximum context length is 8192"), ModelRefusedError, "too long"),
        (400, error("prompt is too long: 9 > 8"), ModelRefusedError, "too long"),
        (400, error("exceeds the available context size n_ctx"), ModelRefusedError, "too long"),
        (413, "", ModelRefusedError, "too long"),
        (404, error("The model `m1` does not exist"), ModelRefusedError, "name of the model"),
        (404, "<html>nginx</html>", ModelRefusedError, "usually ends in /v1"),
        (400, error("m1 does not support tools"), ModelRefusedError, "can call tools"),
        (422, '{"detail": "bad field"}', ModelRefusedError, "bad field"),
        (301, "", ModelRefusedError, "moved"),
        (500, error("boom"), ModelUnavailableError, "boom"),
        (503, "overloaded", ModelUnavailableError, "overloaded"),
        (529, "[1]", ModelUnavailableError, "(529)"),
        (408, "", ModelUnavailableError, "(408)"),
        (500, "null", ModelUnavailableError, "(500)"),
    ],
)
def test_each_answer_has_its_class_and_says_what_to_do(status, body, kind, says):
    failure = response_failure(ENDPOINT, status, body)
    assert type(failure) is kind
    assert says in str(failure)
    assert "host.example" in str(failure)


def test_a_long_wait_names_when():
    headers = httpx.Headers({"retry-after": "11180"})
    failure = response_failure(ENDPOINT, 429, "", headers, NOW)
    assert isinstance(failure, RateLimitedError)
    assert failure.retry_after == 11180.0
    until = datetime(2026, 3, 1, 15, 6, 20, tzinfo=UTC).astimezone()
    assert f"3 h 6 min, until {until:%Y-%m-%d %H:%M:%S}" in str(failure)


@pytest.mark.parametrize("asked", ["9" * 23, "9" * 5000, "1e999", "-1e999", "nan", "31 Dec 9999"])
def test_no_wait_is_too_long_to_be_told(asked):
    for headers in ({"Retry-After": asked}, {"Retry-After-Ms": asked}):
        failure = response_failure(ENDPOINT, 429, "", httpx.Headers(headers), NOW)
        assert isinstance(failure, RateLimitedError)
        assert "asks " in str(failure)
        assert len(str(failure)) < 200


def test_a_quota_by_the_minute_is_a_rate_limit():
    body = error("You exceeded your current quota, check billing", details=[{"retryDelay": "7s"}])
    failure = response_failure(ENDPOINT, 429, body)
    assert isinstance(failure, RateLimitedError)
    assert failure.retry_after == 7.0


def test_a_busy_server_that_says_how_long_is_waited_for():
    failure = response_failure(ENDPOINT, 503, "", httpx.Headers({"Retry-After": "3"}))
    assert isinstance(failure, RateLimitedError)
    assert failure.retry_after == 3.0


def test_without_a_key_the_advice_is_to_set_one():
    failure = response_failure(LOCAL, 401, error("no auth"))
    assert "No key was sent: set PAILS_API_KEY" in str(failure)


@pytest.mark.parametrize(
    ("chunk", "kind"),
    [
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, ModelUnavailableError),
        ({"error": "something broke"}, ModelUnavailableError),
        ({"error": {"message": "slow down", "code": 429}}, RateLimitedError),
        ({"error": {"message": "x", "type": "rate_limit_error"}}, RateLimitedError),
        ({"error": {"message": "x", "code": "insufficient_quota"}}, ModelRefusedError),
        ({"error": {"message": "x", "type": "invalid_request_error"}}, ModelRefusedError),
        ({"error": {"message": "x", "type": "authentication_error"}}, ModelRefusedError),
        ({"error": {"message": "x", "code": "503"}}, ModelUnavailableError),
        ({"object": "error", "message": "x", "code": 400}, ModelRefusedError),
    ],
)
def test_errors_within_a_stream(chunk, kind):
    assert type(stream_failure(ENDPOINT, chunk)) is kind


@pytest.mark.parametrize(
    ("cause", "kind", "says"),
    [
        (httpx.ConnectTimeout(""), ModelUnavailableError, "time limit"),
        (httpx.ConnectError("All connection attempts failed"), ModelUnavailableError, "answers at"),
        (
            httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"),
            ModelRefusedError,
            "SSL_CERT_FILE",
        ),
        (httpx.ProxyError("403"), ModelUnavailableError, "HTTPS_PROXY"),
        (httpx.UnsupportedProtocol("no protocol"), ConfigurationError, "PAILS_BASE_URL"),
        (httpx.InvalidURL("bad port"), ConfigurationError, "PAILS_BASE_URL"),
        (httpx.ReadError(""), ModelUnavailableError, "broke off (ReadError)"),
    ],
)
def test_failed_connections(cause, kind, says):
    failure = transport_failure(ENDPOINT, cause)
    assert type(failure) is kind
    assert says in str(failure)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_no_message_holds_a_key(status):
    echo = (
        "key sk-verysecretkey is bad; Authorization: Bearer abc.def/ghi; sk-proj-0123456789abcdefgh"
    )
    failure = response_failure(ENDPOINT, status, error(echo))
    for secret in ("verysecretkey", "abc.def", "0123456789"):
        assert secret not in str(failure)


def test_a_key_at_the_end_of_what_is_quoted_is_not_quoted_in_part():
    endpoint = Endpoint("m1", "https://host.example/v1", "plain words as a key")
    failure = response_failure(endpoint, 500, "x" * 490 + " plain words as a key")
    assert "plain" not in str(failure)


def test_a_key_in_a_failed_connection_is_not_told():
    failure = transport_failure(ENDPOINT, httpx.LocalProtocolError("b'Bearer opaque\\nvalue'"))
    assert "PAILS_BASE_URL" in str(failure)
    assert "opaque" not in str(failure)
    assert "value" not in str(failure)


def test_long_and_odd_messages_are_tamed():
    failure = response_failure(ENDPOINT, 500, error("a\n\n b \ud83d" + "x" * 5000))
    assert "a b \ufffdx" in str(failure)
    assert len(str(failure)) < 700
