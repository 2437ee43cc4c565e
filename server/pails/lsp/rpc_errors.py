"""Error responses: what an exception becomes on the wire, and what comes in as one."""

import logging
from typing import Any, cast

from cattrs import transform_error
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams

from pails.core.errors import (
    ConfigurationError,
    ModelError,
    NotFoundError,
    PailsError,
    StorageError,
)
from pails.core.rpc import ErrorCode

log = logging.getLogger(__name__)


def as_rpc_error(failure: BaseException) -> JsonRpcException:
    """The error response for an exception of a handler; what we did not expect is logged."""
    match failure:
        case JsonRpcException():
            return failure
        case NotFoundError():
            return JsonRpcException(str(failure), ErrorCode.NOT_FOUND)
        case ConfigurationError():
            return JsonRpcException(str(failure), ErrorCode.CONFIGURATION)
        case ModelError() | StorageError():
            return JsonRpcException(str(failure), ErrorCode.EXTERNAL_FAILURE)
        case PailsError():
            return JsonRpcException(str(failure), ErrorCode.REQUEST_FAILED)
        case _:
            log.error("a request failed", exc_info=failure)
            return JsonRpcInternalError(
                f"Pails failed inside ({type(failure).__name__}: {failure}). Some of the work may "
                "have been done, so look before you repeat it; the server goes on, and its log has "
                "the details."
            )


def unsendable(failure: Exception) -> JsonRpcException:
    """The error response for a request that was carried out and whose result is no JSON."""
    log.error("a result could not be sent", exc_info=failure)
    return JsonRpcInternalError(
        "The request was carried out, but Pails failed to send its result "
        f"({type(failure).__name__}: {failure}). Look at what it did before you repeat it; the "
        "server goes on, and its log has the details."
    )


def invalid_params(what: str, error: Exception) -> JsonRpcInvalidParams:
    """For a message that is not of its type. `what` it is completes "invalid parameters for …"."""
    reasons = "; ".join(transform_error(error, path="message"))
    return JsonRpcInvalidParams(f"Invalid parameters for {what}: {reasons}.")


def client_error(error: object) -> JsonRpcException:
    """The exception for an error response of the client, whatever that holds."""
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    code = fields.get("code")
    return JsonRpcException(
        str(fields.get("message") or "The client answered with an error."),
        code if isinstance(code, int) else ErrorCode.INTERNAL_ERROR,
    )


def connection_lost() -> JsonRpcException:
    """What a request of ours ends with when the client is gone."""
    return JsonRpcException("The client is gone and did not answer.", ErrorCode.REQUEST_FAILED)
