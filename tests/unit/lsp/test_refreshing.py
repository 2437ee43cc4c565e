"""Lenses are refreshed: many changes at once, and only in a client that can."""

import asyncio
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.lsp.client import Client
from pails.lsp.refreshing import LensRefresher
from tests.unit.lsp.conftest import FakeWire

REFRESH = "workspace/codeLens/refresh"
ABLE = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
    )
)


class Answering:
    """Answers the requests to refresh, and says when each came."""

    def __init__(self, wire: FakeWire, answer: Any = None) -> None:
        self.came: asyncio.Queue[None] = asyncio.Queue()
        self._answer = answer
        wire.answers[REFRESH] = self._take

    def _take(self, _: Any) -> Any:
        self.came.put_nowait(None)
        return self._answer


async def test_what_changes_at_once_is_one_refresh(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    client, answering = make_client(ABLE), Answering(wire)
    refresher = LensRefresher(client)
    for _ in range(10):
        refresher.request()
    await answering.came.get()
    await asyncio.sleep(0)
    refresher.request()
    await answering.came.get()
    assert len(wire.of(REFRESH)) == 2
    refresher.close()


async def test_a_refusal_does_not_stop_the_next_one(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    answering = Answering(wire, JsonRpcException("not now"))
    refresher = LensRefresher(make_client(ABLE))
    for _ in range(2):
        refresher.request()
        await answering.came.get()
    refresher.close()


async def test_a_client_that_does_not_answer_is_asked_once(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    refresher = LensRefresher(make_client(ABLE))
    refresher.request()
    while not wire.of(REFRESH):
        await asyncio.sleep(0.01)
    refresher.request()
    refresher.request()
    await asyncio.sleep(0.15)
    assert len(wire.of(REFRESH)) == 1
    refresher.close()
    await asyncio.sleep(0)
    assert wire.withdrawn == [REFRESH]


async def test_a_client_that_knows_no_refresh_is_not_asked(client: Client, wire: FakeWire) -> None:
    refresher = LensRefresher(client)
    refresher.request()
    await asyncio.sleep(0.1)
    assert wire.asked == []
    refresher.close()
