"""From JSON to the types of `protocol` and back, with errors that a person can read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pygls.exceptions import JsonRpcInvalidParams

from pails.core.errors import InvalidRequestError
from pails.core.text import join_surrogates_within
from pails.lsp.protocol.base import WireModel

W = TypeVar("W", bound=WireModel)


def encode(value: WireModel) -> dict[str, Any]:
    """Plain JSON data with camelCase names."""
    return value.model_dump(mode="json", by_alias=True)


def decode(kind: type[W], data: object) -> W:
    """Raises `ValidationError`. Half characters, which no log could hold, become U+FFFD."""
    return kind.model_validate(join_surrogates_within(data))


def decode_params(kind: type[W], method: str, params: object) -> W:
    """The parameters of a request; left out means none. Raises `JsonRpcInvalidParams`."""
    try:
        return decode(kind, {} if params is None else params)
    except ValidationError as error:
        text = f"Invalid parameters for {method}: {explain(error)}."
        raise JsonRpcInvalidParams(text) from error


def decode_arguments(kind: type[W], command: str, arguments: Sequence[object]) -> W:
    """The arguments of a command, which come by position; raises also `InvalidRequestError`."""
    names = list(kind.model_fields)
    if len(arguments) > len(names):
        raise InvalidRequestError(f"{command} takes at most {len(names)} arguments.")
    return decode_params(kind, command, dict(zip(names, arguments, strict=False)))


def absolute_path(text: str) -> Path:
    """A path as a client sent it; raises `InvalidRequestError` for a relative one."""
    path = Path(text)
    if not path.is_absolute():
        raise InvalidRequestError(f"{text!r} is not an absolute path, so nothing was done.")
    return path


def explain(error: ValidationError) -> str:
    """What is wrong, field by field: `text: String should have at least 1 character`."""
    return "; ".join(
        f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" if detail["loc"] else detail["msg"]
        for detail in error.errors(include_url=False, include_context=False)
    )
