"""What a tool is, and the set of tools of a session.

A tool never raises except cancellation: a failure that the model can mend is a `ToolResult` with
`is_error` set. Its description is the `.md` file of its name beside this module, its parameters
are a pydantic model, and the schema the model sees is made from that.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, model_validator

from pails.core.events import Effect
from pails.core.messages import ToolSpec
from pails.core.ports import Action, Emit, Person, Rewinder, ToolResult


class Parameters(BaseModel):
    """The base of every tool's parameters. Unknown arguments are refused, so typos are seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        """Models send null for what they leave out."""
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, object]", data)
        optional = {name for name, info in cls.model_fields.items() if not info.is_required()}
        return {k: v for k, v in given.items() if v is not None or k not in optional}


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, slots=True)
class CallContext:
    """Where a call runs: its ids, the workspace (absolute, real path), how to speak, the way back.

    `rewinder` is None where there is no session to go back in.
    """

    turn_id: str
    call_id: str
    workspace: Path
    emit: Emit
    person: Person
    rewinder: Rewinder | None = None


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """A file as a call would leave it; None where there is, or would be, no file."""

    path: Path
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that is ready to run. `text` is the whole of it for a person, `diff` what changes.

    A call that writes texts says which in `files`. Where a person may take a part of them, or
    change them, `revise` makes the same call with these texts in place of its own.
    """

    run: Callable[[], Awaitable[ToolResult]]
    text: str = ""
    diff: str = ""
    files: tuple[ProposedFile, ...] = ()
    revise: "Callable[[Mapping[Path, str]], Proposal] | None" = None


class Tool(Generic[P]):
    """One tool. The executor calls `action` (pure), asks the gate, then `propose`, then runs."""

    name: ClassVar[str]
    effect: ClassVar[Effect]
    parameters: type[P]

    def action(self, args: P, context: CallContext) -> Action:
        """What the call would touch. Reads and does nothing."""
        raise NotImplementedError

    async def propose(self, args: P, context: CallContext) -> Proposal | ToolResult:
        """Prepare the call: may read what `action` named; a result here ends the call."""
        raise NotImplementedError

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return _spec(self.name, self.parameters)


class ToolRegistry:
    """The tools of a session, in a fixed order so that the request's prefix stays the same."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}

    def get(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())


@cache
def _spec(name: str, parameters: type[Parameters]) -> ToolSpec:
    """The same for every session; making it takes some milliseconds."""
    text = resources.files("pails.tools").joinpath(f"descriptions/{name}.md")
    schema = _trimmed_schema(parameters.model_json_schema())
    return ToolSpec(name, text.read_text(encoding="utf-8").strip(), schema)


_NEEDLESS = frozenset(("additionalProperties", "minLength", "maxLength"))


def _trimmed_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema less what pydantic generates beyond need, which only costs tokens."""
    kept: dict[str, Any] = {
        key: _trimmed(value)
        for key, value in schema.items()
        if key not in _NEEDLESS and not (key == "title" and isinstance(value, str))
    }
    if kept.get("default", 0) is None:
        # `X | None`: what is optional is left out; null is understood, but need not be offered.
        del kept["default"]
        return {**kept.pop("anyOf")[0], **kept}
    return kept


def _trimmed(value: object) -> object:
    if isinstance(value, dict):
        return _trimmed_schema(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return [_trimmed(entry) for entry in cast("list[object]", value)]
    return value
