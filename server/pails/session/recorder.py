"""Where everything that happens in a session goes: into its log, its state, to its followers."""

import asyncio
import logging
import time
from collections.abc import Callable

from pails.core.errors import LogError
from pails.core.events import (
    TRANSIENT,
    Effect,
    Envelope,
    Event,
    RewindStarted,
    ToolCallStarted,
)
from pails.session.journal import Journal, load
from pails.session.state import SessionState

log = logging.getLogger(__name__)

Listener = Callable[[Envelope], None]


class Recorder:
    """Keeps the three in step. `updated_at` is in seconds since 1970."""

    def __init__(self, session_id: str, journal: Journal, state: SessionState) -> None:
        self.state = state
        self.updated_at = time.time()
        self._session_id = session_id
        self._journal = journal
        self._listeners: list[Listener] = []

    @property
    def seq(self) -> int:
        """The number of the newest durable event."""
        return self._journal.last_seq

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def replay(self, after_seq: int) -> list[Envelope]:
        """The durable events after this number."""
        if after_seq >= self.seq:
            return []
        owed = self._journal.owed
        loaded = await asyncio.to_thread(load, self._journal.path)
        unwritten = (record for record in owed if record.seq > loaded.records[-1].seq)
        return [
            Envelope(self._session_id, record.seq, record.event)
            for record in (*loaded.records, *unwritten)
            if record.seq > after_seq
        ]

    def record(self, event: Event) -> None:
        """Log the event, take it into the state, tell the listeners; in this order.

        Raises `LogError`: then nothing counts.
        """
        if not isinstance(event, TRANSIENT):
            self._journal.append(event)
        self._take(event)

    async def emit(self, event: Event) -> None:
        """`record`, and wait for the disk before anything outside may change."""
        self.record(event)
        if _comes_before_changes(event):
            await self._journal.sync()

    def conclude(self, event: Event) -> None:
        """`record` that cannot fail: with a full disk the turn must still end for everybody.

        The event is written when there is space again. Should the process end before, the log
        lacks it, and reopening it closes the turn as interrupted.
        """
        try:
            self.record(event)
        except LogError as error:
            log.error("not logged yet: %s", error)
            self._journal.owe(event)
            self._take(event)

    async def settle(self) -> None:
        """Wait for the disk; what it does not take is no reason to stop."""
        try:
            await self._journal.sync()
        except LogError as error:
            log.error("%s", error)

    def close(self) -> None:
        """Let go of the log. One in which nothing was ever asked is not kept."""
        if self.state.is_blank:
            self._journal.discard()
        else:
            self._journal.close()

    def _take(self, event: Event) -> None:
        self.state.apply(event)
        self.updated_at = time.time()
        envelope = Envelope(self._session_id, self._journal.last_seq, event)
        for listener in tuple(self._listeners):
            listener(envelope)


def _comes_before_changes(event: Event) -> bool:
    if isinstance(event, ToolCallStarted):
        return event.effect in (Effect.WRITE, Effect.EXECUTE)
    return isinstance(event, RewindStarted)
