"""Tells the client that its code lenses are out of date, gathered and one request at a time."""

import asyncio
import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.lsp.client import Client

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.05
"""What happens within this time is told as one; a turn may write many files at once."""


class LensRefresher:
    """Sends `workspace/codeLens/refresh` to a client that knows it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def request(self) -> None:
        """The lenses have changed."""
        if not self._client.can_refresh_lenses:
            return
        self._wanted = True
        if self._task is None:
            self._task = asyncio.create_task(self._refresh(), name="refreshing lenses")

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _refresh(self) -> None:
        """A client that does not answer is not asked again before it has."""
        while self._wanted:
            await asyncio.sleep(GATHER_SECONDS)
            self._wanted = False
            try:
                await self._client.request(types.WORKSPACE_CODE_LENS_REFRESH)
            except JsonRpcException as error:
                log.info("the client did not refresh its lenses: %s", error)
        self._task = None
