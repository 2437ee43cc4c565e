"""The one JSON form of events: camelCase, told apart by `kind`. The log and the wire share it."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_json

from pails.core.events import Envelope, Event
from pails.core.text import join_surrogates_within

_CAMEL = ConfigDict(alias_generator=to_camel, serialize_by_alias=True, validate_by_name=True)
_TaggedEvent = Annotated[Event, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Record:
    """A durable event as the log keeps it: its number (from 1) and time (seconds since 1970).

    Numbers end where clients that count in floating point do.
    """

    __pydantic_config__: ClassVar = _CAMEL

    seq: Annotated[int, Field(ge=1, le=2**53)]
    time: Annotated[float, Field(allow_inf_nan=False)]
    event: _TaggedEvent
    v: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class _Sent:
    """An `Envelope` with the names that the wire has."""

    __pydantic_config__: ClassVar = _CAMEL

    session_id: str
    seq: int
    event: _TaggedEvent


_SENT: TypeAdapter[_Sent] = TypeAdapter(_Sent)
_EVENT: TypeAdapter[Event] = TypeAdapter(_TaggedEvent, config=_CAMEL)
_RECORD: TypeAdapter[Record] = TypeAdapter(Record)

# Legal in JSON, but other readers of text files take them for line ends.
_LINE_SEPARATORS = {
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
    "\u0085".encode(): rb"\u0085",
}


def encode_event(event: Event) -> dict[str, Any]:
    """The event as plain JSON data."""
    return _EVENT.dump_python(event, mode="json")


def encode_envelope(envelope: Envelope) -> bytes:
    """The envelope as JSON text: the parameters of `pai/event`."""
    sent = _Sent(envelope.session_id, envelope.seq, envelope.event)
    try:
        return _SENT.dump_json(sent)
    except PydanticSerializationError:  # half a character, which becomes U+FFFD
        plain = join_surrogates_within(_SENT.dump_python(sent, mode="json"))
        return to_json(plain, inf_nan_mode="null")  # as `dump_json` does it


def decode_event(data: object) -> Event:
    """The event of plain JSON data, as clients get it; raises ValueError when it is none."""
    return _EVENT.validate_python(data)


def event_schema() -> dict[str, Any]:
    """JSON Schema of all events, for the documentation and the TypeScript types."""
    return _EVENT.json_schema(by_alias=True)


def encode_record(record: Record) -> bytes:
    """The record as one line, its `\\n` included."""
    line = _RECORD.dump_json(record)
    for raw, escaped in _LINE_SEPARATORS.items():
        line = line.replace(raw, escaped)
    return line + b"\n"


def decode_record(line: bytes) -> Record:
    """The record of one line; raises ValueError when it is none."""
    return _RECORD.validate_json(line)
