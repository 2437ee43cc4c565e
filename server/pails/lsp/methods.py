"""Names and numbers of the wire that must be known before anything heavy is loaded.

`protocol.py` has the types; a test holds the two together.
"""

from enum import IntEnum

PAI_METHODS = (
    "pai/session/new",
    "pai/session/list",
    "pai/session/open",
    "pai/session/prompt",
    "pai/session/cancel",
    "pai/session/setMode",
    "pai/session/setModel",
    "pai/approval/answer",
    "pai/question/answer",
    "pai/status",
)
"""What a client may ask for, answered once the rest of the server is loaded."""


class ErrorCode(IntEnum):
    """Codes of error responses. Every message is a sentence for a person.

    All but the last two are those of JSON-RPC and LSP; ours lie outside their reserved ranges.
    """

    INVALID_REQUEST = -32600  # no JSON-RPC request, or one after `shutdown`
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602  # missing, mistyped or unknown parameters; the message names them
    INTERNAL_ERROR = -32603  # a bug of ours; the server goes on
    SERVER_NOT_INITIALIZED = -32002  # a request before `initialize`
    REQUEST_CANCELLED = -32800  # by `$/cancelRequest`
    REQUEST_FAILED = -32803  # understood, but it cannot be carried out
    NOT_FOUND = -31001  # no such session, turn, document or workspace
    CONFIGURATION = -31002  # something must be set first; the message says what and where
