"""From what a model sends to the valid arguments of a tool, or a mistake that it can mend."""

import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from pails.core.messages import ToolCall
from pails.core.ports import ToolResult
from pails.core.text import first_line
from pails.tools.registry import Parameters, Tool, ToolRegistry

_SUMMARY_CHARS = 120
_ECHO_CHARS = 200
_MAX_FAULTS = 10


def parse_call(registry: ToolRegistry, call: ToolCall) -> tuple[Tool[Any], Parameters] | ToolResult:
    """The tool and its valid arguments, or an error that the model can mend."""
    tool = registry.get(call.name)
    if tool is None:
        names = ", ".join(registry.names)
        name = first_line(repr(call.name), _ECHO_CHARS)
        return _mistake(f"There is no tool {name}. The tools are: {names}.")
    try:
        data = from_json(call.arguments or "{}")
    except ValueError as error:
        return _mistake(f"The arguments are not valid JSON ({error}). Nothing was run.")
    try:
        return tool, tool.parameters.model_validate(data)
    except ValidationError as error:
        faults = _faults(error)
        schema = json.dumps(tool.spec.parameters, ensure_ascii=False)
        return _mistake(
            f"The arguments do not fit {tool.name}: {faults}. Nothing was run. "
            f"The arguments must fit this schema: {schema}"
        )


def _mistake(text: str) -> ToolResult:
    return ToolResult(
        text, is_error=True, summary=first_line(text.partition(". ")[0], _SUMMARY_CHARS)
    )


def _faults(error: ValidationError) -> str:
    """The first faults of the arguments, and how many more there are."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(_fault(dict(detail)) for detail in details[:_MAX_FAULTS])
    more = len(details) - _MAX_FAULTS
    return f"{told}; and {more:,} more" if more > 0 else told


def _fault(detail: dict[str, Any]) -> str:
    """One of them. The place is in the model's own words, which may be very many."""
    where = first_line(".".join(str(part) for part in detail["loc"]), _ECHO_CHARS)
    told = first_line(str(detail["msg"]), _ECHO_CHARS)
    return f"{where}: {told}" if where else told
