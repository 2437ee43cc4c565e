"""Tool calls, put together from the fragments in which servers stream them.

The protocol gives each call of a reply an index, its id and name in the first fragment, and pieces
of its arguments in all. Servers also share one index among calls, leave the index out or send it
late, repeat name and id in each fragment, use an id twice, or send arguments as an object. So a
fragment is first matched to a call, and then judged whether it rather begins a new one.
"""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from pails.core.messages import ToolCall
from pails.core.text import join_surrogates
from pails.model.encoding import is_json_object
from pails.model.json_values import Json, as_dict, parse


@dataclass(slots=True)
class _Call:
    """A call in the making. `index` is None until the server has said it."""

    index: int | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list[str])

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def is_complete(self) -> bool:
        """True when the arguments are an object already: nothing can follow but blanks."""
        last = next((part.rstrip() for part in reversed(self.parts) if part.strip()), "")
        return last.endswith("}") and is_json_object(self.arguments)


@dataclass(frozen=True, slots=True)
class _Fragment:
    index: int | None
    id: str
    name: str
    arguments: str


class CallAssembler:
    """Takes fragments in the order of their arrival; `finish` gives the calls in theirs."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def add(self, raw: Json) -> None:
        fragment = _read(raw)
        call = self._find(fragment)
        if call is None or _begins_new(call, fragment):
            call = _Call(fragment.index)
            self._calls.append(call)
        if call.index is None:
            call.index = fragment.index
        call.id = call.id or fragment.id
        call.name = call.name or fragment.name
        call.parts.append(fragment.arguments)

    def finish(self, used_ids: Collection[str], new_id: Callable[[], str]) -> tuple[ToolCall, ...]:
        """The calls, each with an id that occurs in neither `used_ids` nor another call.

        Ids are how results find their calls, in this request and in every later one.
        """
        taken = {*used_ids, ""}
        calls: list[ToolCall] = []
        for call in self._calls:
            id_ = join_surrogates(call.id)
            while id_ in taken:
                id_ = new_id()
            taken.add(id_)
            name = join_surrogates(call.name.strip())
            calls.append(ToolCall(id_, name, _normalise(call.arguments)))
        return tuple(calls)

    def _find(self, fragment: _Fragment) -> _Call | None:
        """The call that this fragment would continue; the latest where several would do."""
        latest_first = self._calls[::-1]
        if fragment.index is not None:
            candidates = [call for call in latest_first if call.index == fragment.index]
            if not candidates:
                return self._find_unnumbered(fragment)
        else:
            candidates = latest_first
        same_id = (call for call in candidates if fragment.id and call.id == fragment.id)
        return next(same_id, candidates[0] if candidates else None)

    def _find_unnumbered(self, fragment: _Fragment) -> _Call | None:
        """The call that the first fragment with a new index belongs to, if it began without one."""
        unnumbered = [call for call in self._calls if call.index is None]
        if fragment.id:
            return next((call for call in unnumbered if call.id == fragment.id), None)
        if fragment.name:
            return None
        at = fragment.index if fragment.index is not None else -1
        if at < len(self._calls) and self._calls[at].index is None:
            return self._calls[at]
        return unnumbered[-1] if unnumbered else None


def _begins_new(call: _Call, fragment: _Fragment) -> bool:
    if fragment.id and call.id and fragment.id != call.id:
        # Some servers give every fragment a new id, so an id alone continues what is incomplete.
        return bool(fragment.name) or call.is_complete()
    if fragment.name and call.name:
        # The same name again is either a habit of the server or a second call of the same tool.
        more = bool(fragment.arguments.strip())
        return fragment.name != call.name or (more and call.is_complete())
    return False


def _read(raw: Json) -> _Fragment:
    index, id_ = raw.get("index"), raw.get("id")
    function = as_dict(raw.get("function"))
    name, arguments = function.get("name"), function.get("arguments")
    if isinstance(arguments, dict | list):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return _Fragment(
        index if isinstance(index, int) and not isinstance(index, bool) else None,
        id_ if isinstance(id_, str) else "",
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, str) else "",
    )


def _normalise(arguments: str) -> str:
    """The arguments as the model wrote them; `{}` where it wrote none; always encodable."""
    if not arguments.strip():
        return "{}"
    encodable = _LONE_ESCAPES.sub(_mend_escape, join_surrogates(arguments))
    return encodable if is_json_object(encodable) else _mend_object(encodable)


def _mend_object(arguments: str) -> str:
    """An object that was encoded twice, or has bare line ends in its strings, as a proper one.

    Anything else stays as it is, and the model is told.
    """
    try:
        value = parse(arguments, strict=False)
    except ValueError:
        return arguments
    mended = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return mended if is_json_object(mended) else arguments


_LONE_ESCAPES = re.compile(
    r"\\\\"  # an escaped backslash: what follows it is no escape
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a proper pair
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"  # half a character
)


def _mend_escape(match: re.Match[str]) -> str:
    found = match.group()
    half = len(found) == len(r"\ud83d")
    return r"\ufffd" if half else found
