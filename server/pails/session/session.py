"""One session: a conversation with its log, its queue of prompts and at most one run at a time."""

import asyncio
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pails.agent.loop import Turn, run_turn
from pails.context.prompt import render_prompt
from pails.core.errors import InvalidRequestError, LogError, PailsError
from pails.core.events import (
    TRANSIENT,
    ApprovalRequested,
    Effect,
    Envelope,
    Event,
    Mode,
    ModeChanged,
    ModelChanged,
    PromptQueued,
    QuestionAsked,
    RunState,
    RunStateChanged,
    StopReason,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserMessageAdded,
)
from pails.core.messages import UserMessage
from pails.core.ports import Action, ApprovalAnswer, Attachment, Model
from pails.session.ending import ENDED_FIRST, STOP_REASONS, closing_events, never_started
from pails.session.journal import Journal, load
from pails.session.kit import Kit
from pails.session.mentions import mentioned_files
from pails.session.person import SessionPerson
from pails.session.run import Signal, next_state
from pails.session.state import SessionState
from pails.telemetry import bind
from pails.tools.documents import Unreadable
from pails.tools.executor import Executor, Surroundings

log = logging.getLogger(__name__)

Listener = Callable[[Envelope], None]


@dataclass(frozen=True, slots=True)
class PromptReceipt:
    """What became of a prompt: `position` is its place in the queue, 0 when it started."""

    turn_id: str
    fate: Literal["started", "queued"]
    position: int = 0


@dataclass(frozen=True, slots=True)
class _Prompt:
    turn_id: str
    text: str
    attachments: Sequence[Attachment]


class Session:
    """Owns one conversation. All its methods are called on the event loop."""

    def __init__(
        self, session_id: str, workspace: Path, journal: Journal, state: SessionState, kit: Kit
    ) -> None:
        self.id = session_id
        self.workspace = workspace
        self.updated_at = time.time()
        self._journal = journal
        self._state = state
        self._kit = kit
        self._model: Model | None = None
        self._listeners: list[Listener] = []
        self._queue: deque[_Prompt] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._run: asyncio.Task[StopReason] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._turn_over = asyncio.Event()
        self._closing = False
        self._person = SessionPerson(self._current_turn, self.emit, self._signal)
        self._around = Surroundings(
            workspace=workspace,
            registry=kit.registry,
            gate=kit.gate,
            mode=lambda: self.mode,
            checker=kit.checker,
            editor=kit.editor,
            person=self._person,
            emit=self.emit,
            parallel_reads=kit.parallel_reads,
        )

    # -- what it is ----------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self._state.title

    @property
    def mode(self) -> Mode:
        return self._state.mode

    @property
    def model_name(self) -> str:
        """The model that answers; until one has been found, the one that was asked for."""
        return self._model.name if self._model else self._state.model

    @property
    def seq(self) -> int:
        return self._journal.last_seq

    @property
    def run_state(self) -> RunState | None:
        return self._state.run_state

    @property
    def pending(self) -> tuple[ApprovalRequested | QuestionAsked, ...]:
        """What waits for a person."""
        return tuple(self._state.pending.values())

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def replay(self, after_seq: int) -> list[Envelope]:
        """The durable events after this number."""
        owed = self._journal.owed
        loaded = await asyncio.to_thread(load, self._journal.path)
        unwritten = (record for record in owed if record.seq > loaded.records[-1].seq)
        return [
            Envelope(self.id, record.seq, record.event)
            for record in (*loaded.records, *unwritten)
            if record.seq > after_seq
        ]

    # -- what one can ask of it ----------------------------------------------------------------

    async def prompt(self, text: str, attachments: Sequence[Attachment] = ()) -> PromptReceipt:
        """Start a turn, or queue it behind the running one. Returns at once."""
        if not text.strip():  # strict providers refuse an empty message, and so all that follow it
            raise InvalidRequestError("The prompt is empty. Write what you want to have done.")
        self._model = self._model or await self._kit.find_model(self._state.model)
        if self._closing:
            raise InvalidRequestError("This session has just been closed. Open it again.")
        prompt, place = _Prompt(_new_id("turn"), text, attachments), self._next_place()
        if place:
            self.record(PromptQueued(prompt.turn_id, text, place))
        self._queue.append(prompt)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name=f"session {self.id}")
        return PromptReceipt(prompt.turn_id, "queued" if place else "started", place)

    async def cancel(self, turn_id: str | None = None) -> bool:
        """Stop the running turn, or take a queued one off the queue; False when there is none."""
        if turn_id in (None, self._state.turn_id) and await self._cancel_run():
            return True
        for prompt in self._queue:
            if turn_id in (None, prompt.turn_id):
                self._queue.remove(prompt)
                self._conclude(never_started(prompt.turn_id, Signal.CANCEL))
                return True
        return False

    async def set_mode(self, mode: Mode) -> None:
        """Applies from the next call on, also within the running turn."""
        if mode != self._state.mode:
            await self.emit(ModeChanged(mode))

    async def set_model(self, name: str) -> None:
        """Applies from the next round on. Raises `ConfigurationError` for an unusable model."""
        self._model = await self._kit.find_model(name)
        await self.emit(ModelChanged(self._model.name))

    def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
        """False when it was answered or cancelled before."""
        return self._person.answer_approval(approval_id, answer)

    def answer_question(self, question_id: str, answer: str | None) -> bool:
        """False when it was answered or cancelled before."""
        return self._person.answer_question(question_id, answer)

    async def close(self) -> None:
        """End the running turn as interrupted and let go of the log."""
        self._closing = True
        queued, self._queue = self._queue, deque()
        if self._worker and not self._worker.done():
            self._worker.cancel()
            await asyncio.wait({self._worker})
        for prompt in queued:
            self._conclude(never_started(prompt.turn_id, Signal.INTERRUPT, ENDED_FIRST))
        self._journal.close()

    # -- events --------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        """Log the event, take it into the state, tell the listeners; in this order."""
        if not isinstance(event, TRANSIENT):
            self._journal.append(event)
        self._take(event)

    async def emit(self, event: Event) -> None:
        """`record`, and wait for the disk before anything outside may change."""
        self.record(event)
        if isinstance(event, ToolCallStarted) and event.effect in (Effect.WRITE, Effect.EXECUTE):
            await self._journal.sync()

    def _take(self, event: Event) -> None:
        self._state.apply(event)
        self.updated_at = time.time()
        envelope = Envelope(self.id, self._journal.last_seq, event)
        for listener in tuple(self._listeners):
            listener(envelope)

    def _conclude(self, event: Event) -> None:
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

    # -- runs ----------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Run the queued prompts one after the other. A cancelled run does not end this."""
        while self._queue:
            prompt = self._queue.popleft()
            started = time.monotonic()
            self._run = asyncio.create_task(self._play(prompt))
            try:
                await asyncio.wait({self._run})
            finally:  # also when this worker is cancelled, because the session closes
                self._run.cancel()
                await asyncio.wait({self._run})
                self._end_turn(prompt, self._run, time.monotonic() - started)
            try:
                await self._journal.sync()
            except LogError as error:  # the queue goes on: each turn says what it could not do
                log.error("%s", error)

    async def _play(self, prompt: _Prompt) -> StopReason:
        """The turn itself, from the prompt to the last reply."""
        turn_id, kit = prompt.turn_id, self._kit
        model = self._current_model().name
        started = TurnStarted(turn_id, _title(prompt.text), self.mode, model)
        with bind(trace_id=turn_id, session_id=self.id, agent="main"):
            await self.emit(started)
            self._signal(Signal.START)
            text = await render_prompt(
                prompt.text, await self._attachments(prompt), self.workspace, self._attached_text
            )
            await self.emit(UserMessageAdded(turn_id, UserMessage(text)))
            self._warming = self._warming or asyncio.create_task(kit.checker.warm())
            executor = Executor(turn_id, self._around)
            turn = Turn(
                turn_id=turn_id,
                system=kit.system_prompt,
                tools=kit.registry.specs,
                history=lambda: self._state.messages,
                model=self._current_model,
                run_calls=executor.run_calls,
                emit=self.emit,
                max_rounds=kit.max_rounds,
            )
            return await run_turn(turn)

    def _end_turn(self, prompt: _Prompt, run: asyncio.Task[StopReason], seconds: float) -> None:
        """Leave nothing open: every call answered, nobody asked any more, the turn summed up."""
        state = self._state
        signal, reason, error = self._verdict(run)
        self._person.forget()
        for event in closing_events(state, prompt.turn_id, signal):
            self._conclude(event)
        if state.turn_id != prompt.turn_id:  # its start could not be logged, or it was too short
            ended = never_started(prompt.turn_id, signal, error)
        else:
            ended = TurnEnded(
                prompt.turn_id,
                next_state(state.run_state or RunState.QUEUED, signal),
                reason,
                state.turn_rounds,
                state.turn_usage,
                round(seconds, 3),
                tuple(state.turn_files),
                error,
            )
        self._conclude(ended)
        self._turn_over.set()

    def _verdict(self, run: asyncio.Task[StopReason]) -> tuple[Signal, StopReason, str]:
        """How the run ended, and a sentence about it where it failed."""
        if run.cancelled():
            signal = Signal.INTERRUPT if self._closing else Signal.CANCEL
            return signal, STOP_REASONS[signal], ""
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

    def _next_place(self) -> int:
        """The place that a new prompt gets in the queue; 0 when it need not wait."""
        if self._worker is None or self._worker.done():
            return 0
        between_turns = self._run is None or self._run.done()  # the first of the queue starts now
        return len(self._queue) + (0 if between_turns else 1)

    async def _cancel_run(self) -> bool:
        run = self._run
        if run is None or run.done():
            return False
        self._turn_over.clear()
        run.cancel()
        await self._turn_over.wait()
        return True

    def _signal(self, signal: Signal) -> None:
        before = self._state.run_state or RunState.QUEUED
        after = next_state(before, signal)
        if after is not before:
            self.record(RunStateChanged(self._current_turn(), after))

    async def _attachments(self, prompt: _Prompt) -> Sequence[Attachment]:
        """What the person attached, and the files that their words name."""

        def may_read(path: Path) -> bool:
            reading = Action("read_file", Effect.READ, f"Read {path}", reads=(path,))
            decision = self._kit.gate.judge(reading, self.mode, self.workspace, prompt.turn_id)
            return decision.verdict == "allow"

        given = prompt.attachments
        read = self._kit.documents.read
        return (*given, *await mentioned_files(prompt.text, given, self.workspace, may_read, read))

    async def _attached_text(self, path: Path) -> str:
        """What stands in for an attached file; a sentence where there is no text to be had."""
        document = await self._kit.documents.read(path)
        if isinstance(document, Unreadable):
            return f"[{path.name} {document.message}]"
        return document.text

    def _current_turn(self) -> str:
        return self._state.turn_id or ""

    def _current_model(self) -> Model:
        if self._model is None:
            raise AssertionError("a turn starts only when its model is found")
        return self._model


def _title(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 80 else f"{line[:79]}…"


def _new_id(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex[:12]}"
