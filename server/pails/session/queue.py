"""The prompts of a session in order: one turn runs, the others wait behind it."""

import asyncio
import time
from collections import deque
from dataclasses import replace

from pails.core.events import StopReason
from pails.session.ending import ENDED_FIRST
from pails.session.run import Signal
from pails.session.turn import Prompt, TurnPlayer


class TurnQueue:
    """Has the player play what is added, one after the other. Used on the event loop only."""

    def __init__(self, player: TurnPlayer) -> None:
        self._player = player
        self._waiting: deque[Prompt] = deque()
        self._current: Prompt | None = None
        self._run: asyncio.Task[StopReason] | None = None
        self._worker: asyncio.Task[None] | None = None
        self._steering: set[str] = set()
        self._turn_over = asyncio.Event()
        self.is_closed = False

    @property
    def next_place(self) -> int:
        """The place that a new prompt gets; 0 when it need not wait."""
        if self._worker is None or self._worker.done():
            return 0
        between_turns = self._run is None or self._run.done()  # the first of the queue starts now
        return len(self._waiting) + (0 if between_turns else 1)

    def add(self, prompt: Prompt) -> None:
        """Have the prompt played, when its turn has come."""
        self._waiting.append(prompt)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name="turns")

    def waits(self, turn_id: str) -> bool:
        """Whether the prompt of this turn still stands in the queue."""
        return any(prompt.turn_id == turn_id for prompt in self._waiting)

    def edit(self, turn_id: str, text: str) -> None:
        """Give a waiting prompt another text."""
        for place, prompt in enumerate(self._waiting):
            if prompt.turn_id == turn_id:
                self._waiting[place] = replace(prompt, text=text)

    def steer(self, turn_id: str) -> bool:
        """Let a waiting prompt join the running turn before its next round.

        False when it waits no longer, or when nothing runs. One that finds no further round stays
        in its place and gets a turn of its own.
        """
        runs = self._run is not None and not self._run.done()
        if not (runs and self.waits(turn_id)):
            return False
        self._steering.add(turn_id)
        return True

    # -- turn.Interjections ----------------------------------------------------------------------

    def next(self) -> Prompt | None:
        return next((p for p in self._waiting if p.turn_id in self._steering), None)

    def has(self, prompt: Prompt) -> bool:
        return prompt in self._waiting

    def take(self, prompt: Prompt) -> None:
        self._waiting.remove(prompt)

    async def cancel(self, turn_id: str | None = None) -> bool:
        """Stop the running turn, or take a waiting one away; False when there is none.

        When this returns, the turn has ended for everybody.
        """
        if self._current and turn_id in (None, self._current.turn_id) and await self._cancel_run():
            return True
        for prompt in self._waiting:
            if turn_id in (None, prompt.turn_id):
                self._waiting.remove(prompt)
                self._player.drop(prompt, Signal.CANCEL)
                return True
        return False

    async def close(self) -> None:
        """End the running turn as interrupted, and those behind it as never begun."""
        self.is_closed = True
        waiting, self._waiting = self._waiting, deque()
        if self._worker and not self._worker.done():
            self._worker.cancel()
            await asyncio.wait({self._worker})
        for prompt in waiting:
            self._player.drop(prompt, Signal.INTERRUPT, ENDED_FIRST)

    async def _work(self) -> None:
        """A cancelled run does not end this."""
        while self._waiting:
            self._current = prompt = self._waiting.popleft()
            self._steering.clear()
            started = time.monotonic()
            self._run = asyncio.create_task(self._player.play(prompt, self))
            try:
                await asyncio.wait({self._run})
            finally:  # also when this worker is cancelled, because the session closes
                self._run.cancel()
                await asyncio.wait({self._run})
                stopped_by = Signal.INTERRUPT if self.is_closed else Signal.CANCEL
                try:
                    self._player.end(prompt, self._run, time.monotonic() - started, stopped_by)
                finally:  # whoever waits for the end must not wait for ever
                    self._turn_over.set()
            await self._player.settle()

    async def _cancel_run(self) -> bool:
        run = self._run
        if run is None or run.done():
            return False
        self._turn_over.clear()
        run.cancel()
        await self._turn_over.wait()
        return True
