"""A client in memory: what was sent to it, and answers that the test gives."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

from pails.lsp.client import Client

FULL = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        apply_edit=True,
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
    ),
    window=types.WindowClientCapabilities(
        work_done_progress=True,
        show_document=types.ShowDocumentClientCapabilities(support=True),
    ),
)


class FakeWire:
    """The process border of the client: messages go out here, answers come back."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.asked: list[tuple[str, Any]] = []
        self.withdrawn: list[str] = []
        self.answers: dict[str, Callable[[Any], Any]] = {}
        """By method; a method without an answer waits for ever."""

    def notify_json(self, method: str, params: bytes) -> None:
        self.notify(method, json.loads(params))

    def notify(self, method: str, params: Any = None) -> None:
        self.sent.append((method, params))

    async def ask(self, msg_id: str, method: str, params: Any) -> Any:
        self.asked.append((method, params))
        if method not in self.answers:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.withdrawn.append(method)
                raise
        answer = self.answers[method](params)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def of(self, method: str) -> list[Any]:
        return [params for name, params in [*self.sent, *self.asked] if name == method]


@pytest.fixture
def wire() -> FakeWire:
    return FakeWire()


@pytest.fixture
def make_client(wire: FakeWire) -> Callable[..., Client]:
    def make(
        capabilities: types.ClientCapabilities = FULL, options: Any = None, **params: Any
    ) -> Client:
        return Client(
            wire,
            types.InitializeParams(
                capabilities=capabilities, initialization_options=options, **params
            ),
        )

    return make


@pytest.fixture
def client(make_client: Callable[..., Client]) -> Client:
    return make_client()
