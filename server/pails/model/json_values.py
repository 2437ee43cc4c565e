"""JSON as plain data, read without trust in its shape: a server may send anything anywhere."""

import json
from typing import cast

Json = dict[str, object]
"""A JSON object."""


def parse(text: str | bytes, *, strict: bool = True) -> object:
    """What the JSON text says. Raises `ValueError`, also for what is nested too deep to be read.

    `strict=False` takes bare control characters in strings.
    """
    try:
        # With any option a decoder is made anew, which costs more than reading a chunk.
        return json.loads(text) if strict else json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def as_dict(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
