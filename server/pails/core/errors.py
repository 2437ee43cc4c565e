"""Everything Pails raises on purpose.

    PailsError                  says for a person what happened, what was kept, what to do
    ├─ NotFoundError            a session, turn, approval or workspace that does not exist
    ├─ InvalidRequestError      a client asked for something that cannot be done as asked
    ├─ ConfigurationError       no model configured, no key, an unusable setting
    ├─ ModelError               the model could not give a reply that leads on
    │  ├─ ModelUnavailableError     no connection, 5xx, broken stream: trying again may help
    │  ├─ RateLimitedError          429; `retry_after` seconds when the server said so
    │  ├─ ModelStuckError           it sends the same call for ever
    │  └─ ModelRefusedError         401, 403, 400, no credit: trying again does not help
    ├─ HistoryError             a conversation that no strict provider would accept (a bug of ours)
    └─ StorageError             a log or file of ours cannot be read or written

A failure that the model can mend is not here: it is a `ToolResult` with `is_error` set. Broad
`except` clauses stand at three borders only: a request, a tool, a background task.
"""


class PailsError(Exception):
    """The base: `str(error)` is a sentence for a person."""


class NotFoundError(PailsError):
    """Something was named that does not exist."""


class InvalidRequestError(PailsError):
    """The request is understood but cannot be carried out as asked."""


class ConfigurationError(PailsError):
    """Something must be set before this can work; the message says what and where."""


class ModelError(PailsError):
    """No reply could be had from the model, or none that leads on."""


class ModelUnavailableError(ModelError):
    """The server could not be reached, failed, or broke off; a retry may help."""


class RateLimitedError(ModelError):
    """The server asked for patience. `retry_after` is in seconds, None when it did not say."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefusedError(ModelError):
    """The server understood and refused; a retry does not help."""


class ModelStuckError(ModelError):
    """The model repeats itself without effect; what it did before is kept."""


class HistoryError(PailsError):
    """The conversation is not sendable."""


class StorageError(PailsError):
    """A file of ours could not be read or written; the message says what is kept."""
