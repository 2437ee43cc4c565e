"""Events on their way to a client: in order, each once, deltas gathered."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from pails.core.events import TRANSIENT, Envelope, Event, ReasoningDelta, TextDelta, ToolOutputDelta

INTERVAL_SECONDS = 0.016
"""At most one burst of deltas a session in this time: a frame of a 60 Hz display."""


class EventFeed:
    """The events of one session for one client.

    Deltas that arrive within an interval become one. Nothing overtakes anything: a durable event
    sends what was gathered before it. While a replay is being read, live events wait.
    """

    def __init__(
        self, send: Callable[[Envelope], None], interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        self._send = send
        self._interval_seconds = interval_seconds
        self._gathered: list[Envelope] = []
        self._timer: asyncio.TimerHandle | None = None
        self._held: list[Envelope] | None = None

    def push(self, envelope: Envelope) -> None:
        """Send the event, now or with its neighbours."""
        if self._held is not None:
            self._held.append(envelope)
        elif isinstance(envelope.event, TextDelta | ReasoningDelta | ToolOutputDelta):
            self._gather(envelope)
        else:
            self._flush()
            self._send(envelope)

    def hold(self) -> None:
        """Keep live events back until `resume`."""
        self._held = []

    def resume(self, replayed: Iterable[Envelope], after_seq: int) -> None:
        """Send the replayed events, then those live ones that are not among them.

        A transient event from before the last replayed one is void: what it said is in there.
        """
        held, self._held = self._held or [], None
        last = after_seq
        for envelope in replayed:
            self._send(envelope)
            last = envelope.seq
        for envelope in held:
            after = last - 1 if isinstance(envelope.event, TRANSIENT) else last
            if envelope.seq > after:
                self.push(envelope)

    def close(self) -> None:
        """Send what is left; nothing comes after."""
        self._flush()
        if self._timer is not None:
            self._timer.cancel()

    def _gather(self, envelope: Envelope) -> None:
        """The first delta goes at once, the next ones when the interval is over."""
        last = self._gathered[-1] if self._gathered else None
        merged = None if last is None else _joined(last.event, envelope.event)
        if merged is None:
            self._gathered.append(envelope)
        else:
            self._gathered[-1] = replace(envelope, event=merged)
        if self._timer is None:
            self._burst()

    def _burst(self) -> None:
        """Send what was gathered; rest when there was nothing."""
        self._timer = None
        if self._gathered:
            self._flush()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._interval_seconds, self._burst)

    def _flush(self) -> None:
        gathered, self._gathered = self._gathered, []
        for envelope in gathered:
            self._send(envelope)


def _joined(first: Event, second: Event) -> Event | None:
    """Two neighbouring deltas as one; None when they do not belong together."""
    match first, second:
        case TextDelta(), TextDelta() if first.turn_id == second.turn_id:
            return replace(first, text=first.text + second.text)
        case ReasoningDelta(), ReasoningDelta() if first.turn_id == second.turn_id:
            return replace(first, text=first.text + second.text)
        case ToolOutputDelta(), ToolOutputDelta() if first.call_id == second.call_id:
            return replace(first, text=first.text + second.text)
        case _:
            return None
