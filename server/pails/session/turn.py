"""One turn of a session, from the prompt to the summary of what came of it."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pails.agent.loop import Turn, run_turn
from pails.context.prompt import render_prompt
from pails.core.errors import PailsError
from pails.core.events import (
    Effect,
    PromptJoined,
    RunState,
    RunStateChanged,
    StopReason,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import UserMessage
from pails.core.ports import Action, Attachment, Model, Rewinder
from pails.session.changes.news import Newsroom
from pails.session.ending import STOP_REASONS, closing_events, never_started
from pails.session.kit import Kit
from pails.session.mentions import mentioned_files
from pails.session.person import SessionPerson
from pails.session.recorder import Recorder
from pails.session.rewinding.session_snapshots import SessionSnapshots
from pails.session.run import Signal, next_state
from pails.session.store import title_of
from pails.telemetry import bind
from pails.tools.calls.executor import Executor
from pails.tools.calls.surroundings import Surroundings
from pails.tools.files.document import Unreadable, text_of
from pails.tools.files.unsaved import buffers_below

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person asks for, and the turn that answers it."""

    turn_id: str
    text: str
    attachments: Sequence[Attachment]


class Interjections(Protocol):
    """The waiting prompts that are to join the running turn; see `session.queue`."""

    def next(self) -> Prompt | None: ...

    def has(self, prompt: Prompt) -> bool:
        """Whether it still waits, with just this text."""
        ...

    def take(self, prompt: Prompt) -> None:
        """It waits no longer."""
        ...


class TurnPlayer:
    """Plays the turns of one session, one at a time. `model` is asked anew for each round."""

    def __init__(
        self,
        session_id: str,
        workspace: Path,
        recorder: Recorder,
        kit: Kit,
        *,
        model: Callable[[], Model],
        snapshots: SessionSnapshots,
        rewinder: Rewinder,
    ) -> None:
        self._session_id = session_id
        self._workspace = workspace
        self._recorder = recorder
        self._state = recorder.state
        self._kit = kit
        self._model = model
        self._snapshots = snapshots
        self._newsroom = Newsroom(
            workspace, self._state.knowledge, kit.documents, kit.texts, self._may_read
        )
        self._warming: asyncio.Task[None] | None = None
        self.person = SessionPerson(self._current_turn, recorder.emit, self._signal)
        self._around = Surroundings(
            workspace=workspace,
            registry=kit.registry,
            gate=kit.gate,
            mode=lambda: self._state.mode,
            checker=kit.checker,
            editor=kit.editor,
            person=self.person,
            texts=kit.texts,
            emit=recorder.emit,
            parallel_reads=kit.parallel_reads,
            guard=snapshots,
            rewinder=rewinder,
        )

    async def play(self, prompt: Prompt, interjections: Interjections) -> StopReason:
        """The turn itself, from the prompt to the last reply."""
        with bind(trace_id=prompt.turn_id, session_id=self._session_id, agent="main"):
            await self._begin(prompt)
            executor = Executor(prompt.turn_id, self._around)
            turn = Turn(
                turn_id=prompt.turn_id,
                system=self._kit.system_prompt,
                tools=self._kit.registry.specs,
                history=lambda: self._state.messages,
                model=self._model,
                run_calls=executor.run_calls,
                hear=lambda: self._hear(prompt.turn_id, interjections),
                emit=self._recorder.emit,
                max_rounds=self._kit.max_rounds,
            )
            return await run_turn(turn)

    def end(
        self, prompt: Prompt, run: asyncio.Task[StopReason], seconds: float, stopped_by: Signal
    ) -> None:
        """Leave nothing open: every call answered, nobody asked any more, the turn summed up.

        `run` has ended; `stopped_by` says what it means where it was cancelled.
        """
        signal, reason, error = _verdict(run, stopped_by)
        self.person.forget()
        for event in closing_events(self._state, prompt.turn_id, signal):
            self._recorder.conclude(event)
        if self._state.turn_id == prompt.turn_id:
            self._recorder.conclude(self._summary(signal, reason, seconds, error))
            self._snapshots.end_turn()
        else:  # its start could not be logged, or it was too short
            self.drop(prompt, signal, error)

    def drop(self, prompt: Prompt, signal: Signal, error: str = "") -> None:
        """End a turn of which nothing has happened."""
        self._recorder.conclude(never_started(prompt.turn_id, signal, error))

    async def settle(self) -> None:
        """Wait until what happened is on the disk."""
        await self._recorder.settle()

    async def _begin(self, prompt: Prompt) -> None:
        """Log the start and what the model is told."""
        emit = self._recorder.emit
        title, model = title_of(prompt.text), self._model().name
        await emit(TurnStarted(prompt.turn_id, title, self._state.mode, model))
        self._signal(Signal.START)
        self._snapshots.begin_turn(prompt.turn_id)
        await emit(await self._message(prompt.turn_id, prompt))
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._kit.checker.warm(self._open_texts()))

    async def _hear(self, turn_id: str, interjections: Interjections) -> bool:
        """Add the prompts that are to join the turn; whether there were any.

        Until its message is ready a prompt waits, where nothing can lose it.
        """
        heard = False
        while prompt := interjections.next():
            message = await self._message(turn_id, prompt)
            if interjections.has(prompt):
                self._recorder.record(PromptJoined(turn_id, prompt.turn_id))
                interjections.take(prompt)
                self._recorder.record(message)
                heard = True
        return heard

    async def _message(self, turn_id: str, prompt: Prompt) -> UserMessageAdded:
        """What the person says, with what goes along and what has changed meanwhile."""
        attachments = await self._attachments(prompt)
        news = await self._newsroom.briefing()
        text = await render_prompt(
            prompt.text, attachments, self._workspace, self._attached_text, news.text
        )
        return UserMessageAdded(turn_id, UserMessage(text), news.seen)

    def _open_texts(self) -> dict[Path, str]:
        """What the person has open of the workspace."""
        buffers = buffers_below(self._kit.editor, self._workspace)
        return {buffer.path: text_of(buffer) for buffer in buffers}

    def _summary(self, signal: Signal, reason: StopReason, seconds: float, error: str) -> TurnEnded:
        state = self._state
        return TurnEnded(
            self._current_turn(),
            next_state(state.run_state or RunState.QUEUED, signal),
            reason,
            state.turn_rounds,
            state.turn_usage,
            round(seconds, 3),
            tuple(state.turn_files),
            error,
        )

    def _signal(self, signal: Signal) -> None:
        before = self._state.run_state or RunState.QUEUED
        after = next_state(before, signal)
        if after is not before:
            self._recorder.record(RunStateChanged(self._current_turn(), after))

    async def _attachments(self, prompt: Prompt) -> Sequence[Attachment]:
        """What the person attached, and the files that their words name."""
        given, workspace = prompt.attachments, self._workspace
        read = self._kit.documents.read_for_model
        named = await mentioned_files(prompt.text, given, workspace, self._may_read, read)
        return (*given, *named)

    def _may_read(self, path: Path) -> bool:
        """Whether the model may see this file though nobody is asked. Blocks."""
        reading = Action("read_file", Effect.READ, f"Read {path}", reads=(path,))
        mode, turn_id = self._state.mode, self._current_turn()
        return self._kit.gate.judge(reading, mode, self._workspace, turn_id).verdict == "allow"

    async def _attached_text(self, path: Path) -> str:
        """What stands in for an attached file; a sentence where there is no text to be had."""
        document = await self._kit.documents.read_for_model(path)
        if isinstance(document, Unreadable):
            return f"[{path.name} {document.message}]"
        return document.text

    def _current_turn(self) -> str:
        return self._state.turn_id or ""


def _verdict(run: asyncio.Task[StopReason], stopped_by: Signal) -> tuple[Signal, StopReason, str]:
    """How the run ended, and a sentence about it where it failed."""
    if run.cancelled():
        return stopped_by, STOP_REASONS[stopped_by], ""
    failure = run.exception()
    if failure is None:
        return Signal.COMPLETE, run.result(), ""
    if isinstance(failure, PailsError):
        return Signal.FAIL, StopReason.ERROR, str(failure)
    log.error("the turn failed", exc_info=failure)
    text = (
        f"Pails failed inside ({type(failure).__name__}: {failure}). The conversation and all "
        "changes made so far are kept; the log has the details."
    )
    return Signal.FAIL, StopReason.ERROR, text
