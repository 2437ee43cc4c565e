"""The gate's judgement of calls, in a thread because the gate looks where links lead."""

import asyncio
from collections.abc import Callable

from pails.core.ports import Action, Decision


class Judging:
    """Judges actions. Those that come up at the same moment, as reads do, share one thread."""

    def __init__(self, judge: Callable[[Action], Decision]) -> None:
        self._judge = judge
        self._actions: list[Action] = []
        self._round: asyncio.Task[list[Decision | Exception]] | None = None

    async def decide(self, action: Action) -> Decision:
        """Whether this may be done as things are now. Raises what the judge raised for it."""
        place = len(self._actions)
        self._actions.append(action)
        if self._round is None:
            self._round = asyncio.create_task(self._judge_all())
        # Whoever is cancelled must not cancel the judgement of the others.
        decision = (await asyncio.shield(self._round))[place]
        if isinstance(decision, Exception):
            raise decision
        return decision

    async def _judge_all(self) -> list[Decision | Exception]:
        """The decisions of one round, in order."""
        # A task begins when all that are ready have run: they have joined, and a new round begins.
        actions, self._actions, self._round = self._actions, [], None
        return await asyncio.to_thread(lambda: [self._judged(action) for action in actions])

    def _judged(self, action: Action) -> Decision | Exception:
        try:
            return self._judge(action)
        except Exception as error:  # noqa: BLE001 - part of a tool's border: of that call alone
            return error
