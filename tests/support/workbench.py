"""Sessions with all their real parts and no client: what lies below the edges, tested in one go."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from pails.app import App
from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    Envelope,
    Event,
    QuestionAsked,
    ToolCallEnded,
    TurnEnded,
)
from pails.core.ports import ApprovalAnswer
from pails.entry import load_snapshots
from pails.session.session import Session
from tests.support.scripted_model import ScriptedModel

E = TypeVar("E")
Answer = Callable[[ApprovalRequested], ApprovalAnswer | None]


def allow(_: ApprovalRequested) -> ApprovalAnswer:
    """Allow whatever is asked, once."""
    return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)


class Desk:
    """One session, everything it said, and somebody who answers its approvals."""

    def __init__(self, session: Session, answer: Answer | None) -> None:
        self.session = session
        self.envelopes: list[Envelope] = []
        self._answer = answer
        self._news = asyncio.Condition()
        session.subscribe(self._hear)
        self._background: set[asyncio.Task[None]] = set()

    def _hear(self, envelope: Envelope) -> None:
        self.envelopes.append(envelope)
        event = envelope.event
        if isinstance(event, ApprovalRequested) and self._answer:
            answer = self._answer(event)
            if answer:
                loop = asyncio.get_running_loop()
                loop.call_soon(self.session.answer_approval, event.approval_id, answer)
        task = asyncio.ensure_future(self._tell())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    @property
    def events(self) -> list[Event]:
        return [envelope.event for envelope in self.envelopes]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[E], count: int = 1) -> E:
        """The `count`th event of this kind, when it has happened."""
        async with asyncio.timeout(20), self._news:
            await self._news.wait_for(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    async def run(self, text: str) -> TurnEnded:
        """Send a prompt and wait for the end of its turn."""
        ended = len(self.of(TurnEnded))
        await self.session.prompt(text)
        return await self.wait_for(TurnEnded, ended + 1)

    def results(self) -> dict[str, str]:
        """The result of each call, by its id."""
        return {event.call_id: event.text for event in self.of(ToolCallEnded)}

    def question(self) -> QuestionAsked:
        return self.of(QuestionAsked)[-1]


class Workbench:
    """An app on a workspace of its own, with a scripted model."""

    def __init__(self, app: App, workspace: Path, model: ScriptedModel) -> None:
        self.app = app
        self.workspace = workspace
        self.model = model

    async def desk(self, answer: Answer | None = allow, mode: str | None = None) -> Desk:
        session = await self.app.sessions.new(self.workspace, mode, None)  # type: ignore[arg-type]
        return Desk(session, answer)

    def put(self, name: str, text: str) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path


def environment(root: Path, model: ScriptedModel) -> dict[str, str]:
    """The environment of a person with this model and nothing else."""
    return {
        "PAILS_STATE_DIR": str(root / "state"),
        "PAILS_CONFIG_DIR": str(root / "config"),
        "PAILS_BASE_URL": model.base_url,
        "PAILS_MODEL": model.model,
        "PAILS_API_KEY": "test-key",
    }


@asynccontextmanager
async def workbench(root: Path, model: ScriptedModel) -> AsyncIterator[Workbench]:
    """A workbench below `root`; everything it started is gone afterwards."""
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    app = App(environment(root, model), {}, None, workspace, load_snapshots)
    try:
        yield Workbench(app, workspace.resolve(), model)
    finally:
        await app.close()
