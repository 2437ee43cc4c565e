"""A reply, put together from the chunks of a stream. Pure: chunks in, deltas and a reply out."""

from collections.abc import Callable, Collection
from uuid import uuid4

from pails.core.messages import AssistantMessage, Usage
from pails.core.ports import Reply, ReplyDelta
from pails.core.text import join_surrogates
from pails.model.calls import CallAssembler
from pails.model.json_values import Json, as_dict, as_list

REASONING_FIELDS = ("reasoning_content", "reasoning")

_CUT = ("length", "max_tokens")


def new_call_id() -> str:
    """An id of nine letters and digits, which is what the strictest provider takes."""
    return uuid4().hex[:9]


class ReplyAssembler:
    """Collects the chunks of one attempt; an attempt that breaks is dropped as a whole.

    `used_ids` are the call ids of the whole conversation. `is_whole` becomes true with the finish
    reason; a reader sets it when the server says in another way that this was all.
    """

    def __init__(
        self, used_ids: Collection[str] = (), new_id: Callable[[], str] = new_call_id
    ) -> None:
        self.finish_reason = ""
        self.is_whole = False
        self._used_ids = used_ids
        self._new_id = new_id
        self._text = _TextAssembler()
        self._reasoning = _TextAssembler()
        self._reasoning_field = ""
        self._calls = CallAssembler()
        self._usage: Usage | None = None

    def add(self, chunk: Json) -> ReplyDelta | None:
        """What the chunk has to show, None when nothing."""
        self._usage = read_usage(chunk.get("usage")) or self._usage
        choice = _first_choice(chunk)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.finish_reason = reason
            self.is_whole = True
        # A server that does not stream sends the whole message where a delta would be.
        delta = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
        for fragment in as_list(delta.get("tool_calls")):
            self._calls.add(as_dict(fragment))
        text = self._text.add(_read_text(delta.get("content")))
        reasoning = self._reasoning.add(self._read_reasoning(delta))
        return ReplyDelta(text, reasoning) if text or reasoning else None

    def reply(self) -> Reply:
        """The whole reply, as far as it came. Its text is what the deltas said and a bit more:
        half a character that they still held back."""
        message = AssistantMessage(
            self._text.whole(),
            self._calls.finish(self._used_ids, self._new_id),
            self._reasoning.whole(),
            self._reasoning_field,
        )
        return Reply(message, self._usage, truncated=self.finish_reason.lower() in _CUT)

    def _read_reasoning(self, delta: Json) -> str:
        """Some servers send the same under both names; the first one seen counts."""
        for field in (self._reasoning_field,) if self._reasoning_field else REASONING_FIELDS:
            value = delta.get(field)
            if isinstance(value, str) and value:
                self._reasoning_field = field
                return value
        return ""


class _TextAssembler:
    """Text in pieces. Half a character at the end of a piece waits for its other half."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        """What may be shown now: always encodable."""
        piece = self._half + piece
        self._half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        piece = join_surrogates(piece.removesuffix(self._half))
        self._pieces.append(piece)
        return piece

    def whole(self) -> str:
        return "".join(self._pieces) + join_surrogates(self._half)


def read_usage(value: object) -> Usage | None:
    """The tokens of a call, however the server counts; None when it does not say.

    Providers differ on whether the input includes what came from the cache. Ours does, so a count
    that cannot include it, because it is smaller or goes by the other convention's name, is raised.
    """
    usage = as_dict(value)
    if not usage:
        return None
    details = as_dict(usage.get("prompt_tokens_details"))
    cached = _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens"))
    apart = 0 if cached else _count(usage.get("cache_read_input_tokens"))
    prompt = _count(usage.get("prompt_tokens"))
    total = prompt or _count(usage.get("input_tokens")) + apart
    cached = cached or apart
    if cached > total:
        total += cached
    output = _count(usage.get("completion_tokens")) or _count(usage.get("output_tokens"))
    return Usage(total, output, cached)


def _first_choice(chunk: Json) -> Json:
    """One reply is asked for, so only the first choice is read."""
    for choice in map(as_dict, as_list(chunk.get("choices"))):
        if choice.get("index") in (0, None):
            return choice
    return {}


def _read_text(content: object) -> str:
    """Content is a string, or a list of parts of which those of type text count."""
    if isinstance(content, str):
        return content
    texts = [as_dict(part).get("text") for part in as_list(content)]
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
