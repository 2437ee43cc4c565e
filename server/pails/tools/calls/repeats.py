"""The breaker: notices a model that sends the same call again and gets the same result again.

Small models do that until something stops them. A hint in the result brings most of them back;
from those that it does not, the turn is taken away before it has cost many minutes.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from pails.core.errors import ModelStuckError
from pails.core.messages import ToolCall
from pails.core.ports import ToolResult

HINT_AT = 3
GIVE_UP_AT = 8
"""Late enough for a model that waits for something by asking again."""

_FAILED = (
    "[This same call has now failed {count} times in the same way, and it will again. Send "
    "different arguments that mend what the message says, or use another tool.]"
)
_REPEATED = (
    "[You have sent this same call {count} times and got this same result. Do not send it again. "
    "If the task is done, say so in words and call no tool. If it is not, use another tool.]"
)
_GIVEN_UP = (
    "The model sent the same call {count} times and got the same result each time, so the turn "
    "was ended. Changes that it made before are kept. Say more exactly what to do, attach the "
    "file, or choose a larger model."
)

_Step = tuple[str, str, str]


class Repeats:
    """Counts repeated steps of one turn. A step is a call with its result."""

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=2 * GIVE_UP_AT)  # the latest one first
        self._count = 0

    def hinted(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Take note of what a call came to; the result, with a hint when it is a repeated one."""
        self._steps.appendleft((call.name, call.arguments, result.text))
        self._count = in_a_row(tuple(self._steps))
        if self._count < HINT_AT:
            return result
        hint = (_FAILED if result.is_error else _REPEATED).format(count=self._count)
        return replace(result, text=f"{result.text}\n{hint}")

    def check(self) -> None:
        """Raise `ModelStuckError` when the hint has been of no use."""
        if self._count >= GIVE_UP_AT:
            raise ModelStuckError(_GIVEN_UP.format(count=self._count))


def in_a_row(steps: Sequence[_Step]) -> int:
    """How often the latest step, or the latest two in turn, came in a row. The latest is first."""
    return max(_blocks(steps, 1), _blocks(steps, 2))


def _blocks(steps: Sequence[_Step], length: int) -> int:
    """How many blocks of this length at the start are the same; 0 when there is not even one."""
    count = min(1, len(steps) // length)
    while count and steps[count * length : (count + 1) * length] == steps[:length]:
        count += 1
    return count
