"""Everything Pails raises for a person to read, and the bugs it finds in itself.

    PailsError                  says for a person what happened, what was kept, what to do
    ├─ NotFoundError            a session, turn, approval or workspace that does not exist
    ├─ InvalidRequestError      a client asked for something that cannot be done as asked
    ├─ ConfigurationError       no model configured, no key, an unusable setting
    ├─ ModelError               the model could not give a reply that leads on
    │  ├─ ModelUnavailableError     no connection, 5xx, broken stream: trying again may help
    │  ├─ RateLimitedError          429; `retry_after` seconds when the server said so
    │  ├─ ModelStuckError           it sends the same call for ever
    │  └─ ModelRefusedError         401, 403, 400, no credit: trying again does not help
    └─ StorageError             a file cannot be read or written
       └─ LogError                 a session's log: nothing may go on unlogged

    InternalError               a bug of ours; a person reads that Pails failed inside
    └─ HistoryError             a conversation that no strict provider would accept

Parts that may fail for reasons of their own add to the tree beside their code: `host/worker.py` a
`WorkerError`, `session/run.py` a `TransitionError`.

A failure that the model can mend is not here: it is a `ToolResult` with `is_error` set. Broad
`except` clauses stand at two kinds of border only: a request and a tool.
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


class StorageError(PailsError):
    """A file could not be read or written; the message says what is kept.

    `reason` is the system's word alone, such as "No space left on device"; empty without one.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class LogError(StorageError):
    """A session's log could not be read or written."""


class InternalError(Exception):
    """Something that cannot happen did: `str(error)` is for us, not for a person."""


class HistoryError(InternalError):
    """The conversation is not sendable."""
