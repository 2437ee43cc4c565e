"""Codes of error responses, which the server sends and every client reads."""

from enum import IntEnum, unique


@unique
class ErrorCode(IntEnum):
    """Each code has a `meaning`, one sentence for whoever writes a client.

    Ours are those from -31001 down; they lie outside the ranges that JSON-RPC and LSP reserve.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "ErrorCode":
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    PARSE_ERROR = -32700, "The message is no JSON."
    INVALID_REQUEST = -32600, "It is no JSON-RPC request, or it comes after `shutdown`."
    METHOD_NOT_FOUND = -32601, "There is no such method."
    INVALID_PARAMS = -32602, "Parameters are missing, mistyped or unknown; the message names them."
    INTERNAL_ERROR = -32603, "A bug of Pails; the server goes on, and its log has the details."
    SERVER_NOT_INITIALIZED = -32002, "A request came before `initialize`."
    REQUEST_CANCELLED = -32800, "The request was taken back by `$/cancelRequest`."
    REQUEST_FAILED = -32803, "It is understood, but it cannot be carried out as asked."
    NOT_FOUND = -31001, "There is no such session, turn, document or workspace."
    CONFIGURATION = -31002, "Something must be set first; the message says what and where."
    EXTERNAL_FAILURE = -31003, "The request is in order, but the model server or the disk failed."
