"""What went wrong with a model's server, as one error of ours with a sentence for a person.

The class decides what happens next: `ModelUnavailableError` and `RateLimitedError` are tried
again, `ModelRefusedError` never is. Whatever a server says passes through here, and with it goes
every key that it may have echoed.
"""

import json
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from pails.core.errors import (
    ConfigurationError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    PailsError,
    RateLimitedError,
)
from pails.core.text import join_surrogates
from pails.model.endpoint import Endpoint
from pails.model.json_values import Json, as_dict, as_list, parse
from pails.model.retry import read_retry_after
from pails.telemetry import mask

_NO_HEADERS: Mapping[str, str] = {}

_LONGEST_COMPLAINT = 20_000
"""Characters of what a server says that are searched; an error may hold a whole page."""

_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|billing|quota[_ ]exceeded|arrearage"
    r"|exceeded your current quota|out of credits?|credit balance|payment required",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"(?:invalid|incorrect|expired|missing|not valid)[^.]{0,20}(?:api|access)?[_ -]?key"
    r"|api[_ -]?key[^.]{0,20}(?:invalid|incorrect|expired|missing|not valid)|authentication",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too long|too many (?:input )?tokens"
    r"|n_ctx|exceeds?[^.]{0,40}(?:window|token|context|limit)|prompt is too",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ]found|model[^.]{0,60}(?:not exist|not found|unknown|not supported)"
    r"|(?:unknown|invalid|no such) model",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(r"not support[^.]{0,20}(?:tool|function)", re.IGNORECASE)
_RATE = re.compile(r"rate[_ -]?limit|too many requests|resource[_ ]exhausted", re.IGNORECASE)
_REFUSED = re.compile(r"invalid_request|bad_request|permission|content_filter", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a server said in an error: its sentence, and all its words to find signs in."""

    message: str
    words: str


def read_complaint(body: str) -> Complaint:
    """The error in a response body, in whichever of the usual shapes it comes."""
    try:
        return complaint_in(parse(body))
    except ValueError:
        text = "" if body.lstrip()[:1] == "<" else body[:_LONGEST_COMPLAINT]
        return Complaint(text, text)


def complaint_in(value: object) -> Complaint:
    """The error in a decoded body or stream chunk."""
    if listed := as_list(value):
        return complaint_in(listed[0])
    outer = as_dict(value)
    inner = outer.get("error", outer)
    fields = as_dict(inner) or {"message": inner}
    texts = (fields.get(name) for name in ("message", "detail", "msg", "error_msg"))
    message = next((text for text in texts if isinstance(text, str) and text), "")
    words = json.dumps(value, ensure_ascii=False)
    return Complaint(message[:_LONGEST_COMPLAINT], words[:_LONGEST_COMPLAINT])


def response_failure(
    endpoint: Endpoint,
    status: int,
    body: str,
    headers: Mapping[str, str] = _NO_HEADERS,
    now: datetime | None = None,
) -> ModelError:
    """The error that a response with this status means."""
    now = now or datetime.now(UTC)
    complaint = read_complaint(body)
    wait = read_retry_after(headers, body, now)
    return _judge(endpoint, status, complaint, wait, now)


def stream_failure(endpoint: Endpoint, chunk: Json) -> ModelError:
    """The error that a chunk of a stream holds; the status it names, if any, counts as one."""
    complaint = complaint_in(chunk)
    fields = as_dict(chunk.get("error")) or chunk
    codes = (fields.get(name) for name in ("code", "status", "status_code"))
    status = next((int(code) for code in map(str, codes) if re.fullmatch(r"[45]\d\d", code)), 0)
    wait = read_retry_after({}, complaint.words, datetime.now(UTC))
    return _judge(endpoint, status or _guess_status(complaint), complaint, wait)


def transport_failure(endpoint: Endpoint, error: Exception) -> PailsError:
    """The error that a failed connection means."""
    url, said = endpoint.base_url, _quote(endpoint, str(error))
    if isinstance(error, httpx.ConnectTimeout):
        return ModelUnavailableError(
            f"No connection to the model server at {url} within the time limit. "
            "Check the address and the network."
        )
    if isinstance(error, httpx.ProxyError):
        return ModelUnavailableError(
            f"The proxy did not let us through to {url}: {said}. "
            "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
        )
    if isinstance(error, httpx.ConnectError):
        return _connect_failure(endpoint, error)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | httpx.LocalProtocolError):
        return ConfigurationError(
            f"The address or key of the model server cannot be used: {said}. "
            "Set base_url (PAILS_BASE_URL) to something like http://127.0.0.1:11434/v1."
        )
    said = said or type(error).__name__
    return ModelUnavailableError(f"The connection to the model server at {url} broke off ({said}).")


def _connect_failure(endpoint: Endpoint, error: httpx.ConnectError) -> PailsError:
    url = endpoint.base_url
    if any(isinstance(cause, socket.gaierror) for cause in _causes(error)):
        return ModelUnavailableError(
            f"The name {endpoint.host!r} of the model server cannot be found. "
            f"Check the address {url} and the network."
        )
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ModelRefusedError(
            f"The certificate of {url} cannot be verified: {_quote(endpoint, str(error))}. "
            "Where a company's proxy signs connections, name its certificate in SSL_CERT_FILE."
        )
    start = "Start it" if endpoint.is_local else "Check the network"
    return ModelUnavailableError(
        f"No model server answers at {url}. {start}, or set base_url (PAILS_BASE_URL)."
    )


def _judge(
    endpoint: Endpoint,
    status: int,
    complaint: Complaint,
    wait: float | None,
    now: datetime | None = None,
) -> ModelError:
    """Permanent causes first: servers send them under every status, 429 included."""
    quoted = _quote(endpoint, complaint.message).rstrip(".")
    said = f": {quoted}." if quoted else "."
    who = f"The model server at {endpoint.base_url}"
    code = f" ({status})" if status else ""
    key = f"the key ({endpoint.origin})" if endpoint.origin else "the key"
    if status == 402 or (status in (400, 403, 429) and _lacks_credit(complaint, wait)):
        return ModelRefusedError(
            f"{who} says that the account has no credit left{code}{said} "
            f"Top it up, or use another model or key; {key} was used."
        )
    if status == 429 or (wait is not None and (status >= 500 or status == 408)):
        return _rate_limited(who, code, said, wait, now or datetime.now(UTC))
    if status == 401 or (status in (400, 403) and _BAD_KEY.search(complaint.words)):
        return ModelRefusedError(
            f"{who} did not accept the key{code}{said} {_key_advice(endpoint)}"
        )
    if status == 0 or status >= 500 or status in (408, 409, 425):
        return ModelUnavailableError(f"{who} failed{code}{said}")
    return ModelRefusedError(
        f"{who} refused the request{code}{said} {_advice(status, complaint, endpoint)}"
    )


def _lacks_credit(complaint: Complaint, wait: float | None) -> bool:
    """A quota by the minute reads like an empty account, but comes with the time to wait."""
    return wait is None and bool(_NO_CREDIT.search(complaint.words))


def _rate_limited(
    who: str, code: str, said: str, wait: float | None, now: datetime
) -> RateLimitedError:
    if wait is None:
        return RateLimitedError(f"{who} asks for patience{code}{said}")
    then = (now + timedelta(seconds=wait)).astimezone()
    when = f"{_duration(wait)}, until {then:%Y-%m-%d %H:%M:%S}"
    return RateLimitedError(f"{who} asks to wait {when}{code}{said}", wait)


def _key_advice(endpoint: Endpoint) -> str:
    if not endpoint.api_key:
        return "No key was sent: set PAILS_API_KEY, or the variable of your provider."
    return f"The key came from {endpoint.origin or 'the settings'}: check or replace it there."


def _advice(status: int, complaint: Complaint, endpoint: Endpoint) -> str:
    """What a person can do about a refusal: the first of these that fits."""
    model, words = repr(endpoint.model), complaint.words
    advice = (
        (
            status == 413 or _TOO_LONG.search(words),
            "The conversation is too long for this model: start a new one, or take another model.",
        ),
        (_NO_TOOLS.search(words), f"Choose a model that can call tools; {model} cannot here."),
        (_NO_MODEL.search(words), f"Check the name of the model, {model} (PAILS_MODEL)."),
        (status == 404, "Check base_url (PAILS_BASE_URL): it usually ends in /v1."),
        (status == 403, f"The key ({endpoint.origin or 'none'}) may not use {model} from here."),
        (300 <= status < 400, "It has moved: set base_url (PAILS_BASE_URL) to its new address."),
    )
    return next((text for fits, text in advice if fits), "Trying the same again will not help.")


def _guess_status(complaint: Complaint) -> int:
    """The status that an error without one stands for; 0 when nothing tells."""
    if _NO_CREDIT.search(complaint.words):
        return 402
    if _RATE.search(complaint.words):
        return 429
    if _BAD_KEY.search(complaint.words):
        return 401
    return 400 if _REFUSED.search(complaint.words) or _TOO_LONG.search(complaint.words) else 0


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _quote(endpoint: Endpoint, text: str) -> str:
    """What others said, on one line of sensible length and without any key."""
    line = " ".join(mask(join_surrogates(text), endpoint.api_key).split())
    return line if len(line) <= 500 else line[:500] + "…"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"
