"""The base of every type on the `pai/…` wire, and what all parts of it share."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """The base of every parameter and result type. Unknown fields are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        serialize_by_alias=True,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,  # of the many types a session uses few, and the start waits for none
    )


class Position(WireModel):
    """As in LSP: counts from 0, in the negotiated encoding."""

    line: int = Field(ge=0)
    character: int = Field(ge=0)


class Range(WireModel):
    start: Position
    end: Position


class AcceptedResult(WireModel):
    accepted: bool = Field(description="false when it was answered or cancelled before")


class Empty(WireModel):
    """No fields."""
