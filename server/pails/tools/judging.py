"""The gate's judgement of calls, in a thread because the gate looks where links lead."""

import asyncio
from collections.abc import Callable

from pails.core.ports import Action, Decision


class Judging:
    """Judges actions. Those that come up at the same moment, as reads do, share one thread."""

    def __init__(self, judge: Callable[[Action], Decision]) -> None:
        self._judge = judge
        self._actions: list[Action] = []
        self._round: asyncio.Task[list[Decision]] | None = None

    async def decide(self, action: Action) -> Decision:
        """Whether this may be done as things are now."""
        place = len(self._actions)
        self._actions.append(action)
        if self._round is None:
            self._round = asyncio.create_task(self._judge_all())
        # Whoever is cancelled must not cancel the judgement of the others.
        return (await asyncio.shield(self._round))[place]

    async def _judge_all(self) -> list[Decision]:
        """A task begins when all that are ready have run, so they are among `_actions`."""
        actions, self._actions, self._round = self._actions, [], None
        return await asyncio.to_thread(lambda: [self._judge(action) for action in actions])
