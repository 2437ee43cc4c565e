"""One session: a conversation with its log, its queue of prompts and at most one run at a time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pails.core.errors import InvalidRequestError
from pails.core.events import (
    ApprovalRequested,
    Envelope,
    Event,
    Mode,
    ModeChanged,
    ModelChanged,
    PromptAccepted,
    PromptEdited,
    QuestionAsked,
    RunState,
)
from pails.core.ports import ApprovalAnswer, Attachment, Model
from pails.core.rewind import RewindReport, TurnPoint
from pails.session.changes.review import Review
from pails.session.ids import new_id
from pails.session.journal import Journal
from pails.session.kit import Kit
from pails.session.queue import TurnQueue
from pails.session.recorder import Listener, Recorder
from pails.session.rewinding.rewinder import SessionRewinder
from pails.session.rewinding.session_snapshots import SessionSnapshots
from pails.session.state import SessionState
from pails.session.turn import Prompt, TurnPlayer


@dataclass(frozen=True, slots=True)
class PromptReceipt:
    """What became of a prompt: `position` is its place in the queue, 0 when it started.

    One that was steered joins the running turn at its next round; where none comes it keeps its
    place and gets a turn of its own.
    """

    turn_id: str
    fate: Literal["started", "queued", "steered"]
    position: int = 0


class Session:
    """Owns one conversation. All its methods are called on the event loop."""

    def __init__(
        self, session_id: str, workspace: Path, journal: Journal, state: SessionState, kit: Kit
    ) -> None:
        self.id = session_id
        self.workspace = workspace
        self._kit = kit
        self._state = state
        self._model: Model | None = None
        self._recorder = Recorder(session_id, journal, state)
        self._snapshots = SessionSnapshots(session_id, self._recorder, kit.snapshots)
        self._rewinder = SessionRewinder(
            workspace,
            self._recorder,
            self._snapshots,
            documents=kit.documents,
            texts=kit.texts,
        )
        self._rewinding = asyncio.Lock()  # no turn may be added while the conversation goes back
        self._player = TurnPlayer(
            session_id,
            workspace,
            self._recorder,
            kit,
            model=self._current_model,
            snapshots=self._snapshots,
            rewinder=self._rewinder,
        )
        self._queue = TurnQueue(self._player)
        self.review = Review(session_id, self._recorder, kit.documents, kit.texts)

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
    def updated_at(self) -> float:
        """Seconds since 1970."""
        return self._recorder.updated_at

    @property
    def seq(self) -> int:
        return self._recorder.seq

    @property
    def run_state(self) -> RunState | None:
        return self._state.run_state

    @property
    def pending(self) -> tuple[ApprovalRequested | QuestionAsked, ...]:
        """What waits for a person."""
        return tuple(self._state.pending.values())

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns how to stop that."""
        return self._recorder.subscribe(listener)

    async def replay(self, after_seq: int) -> list[Envelope]:
        """The durable events after this number."""
        return await self._recorder.replay(after_seq)

    # -- what one can ask of it ----------------------------------------------------------------

    async def prompt(
        self,
        text: str,
        attachments: Sequence[Attachment] = (),
        from_turn_id: str | None = None,
        *,
        steer: bool = False,
    ) -> PromptReceipt:
        """Start a turn, or queue it behind the running one; does not wait for either.

        The first prompt of a session waits until its model is found. The prompt is in the log when
        this returns. With `from_turn_id` the talk goes on from that turn: those after it leave the
        conversation first, as by a rewind of the talk alone. With `steer` it joins the running turn
        before that turn's next round, if there is one.
        """
        _check_prompt(text)
        self._model = self._model or await self._kit.find_model(self._state.model)
        async with self._rewinding:
            self._check_open()
            if from_turn_id is not None:
                self.check_idle()
                await self._rewinder.fork(from_turn_id)
            prompt, place = Prompt(new_id("turn"), text, attachments), self._queue.next_place
            self._recorder.record(PromptAccepted(prompt.turn_id, text, place))
            self._queue.add(prompt)
            if steer and self._queue.steer(prompt.turn_id):
                return PromptReceipt(prompt.turn_id, "steered", place)
            return PromptReceipt(prompt.turn_id, "queued" if place else "started", place)

    def edit_prompt(self, turn_id: str, text: str) -> bool:
        """Give a waiting prompt another text; False when it waits no longer."""
        _check_prompt(text)
        if not self._queue.waits(turn_id):
            return False
        self._recorder.record(PromptEdited(turn_id, text))
        self._queue.edit(turn_id, text)
        return True

    def steer(self, turn_id: str) -> bool:
        """Let a waiting prompt join the running turn; False when it waits no longer, or alone."""
        return self._queue.steer(turn_id)

    async def turns(self) -> Sequence[TurnPoint]:
        """The turns so far, before which one can go back, oldest first."""
        return await self._rewinder.turns()

    async def rewind(
        self, to_turn_id: str, *, talk: bool, files: bool, preview: bool = False
    ) -> RewindReport:
        """Go back to before a turn, with the talk, the files, or both; or say what that would do.

        Only what the agent changed is changed back. Raises `InvalidRequestError` while a turn runs
        or waits, `NotFoundError`, and `SnapshotError` where files cannot go back.
        """
        if preview:
            return await self._rewinder.preview(to_turn_id, talk=talk, files=files)
        async with self._rewinding:
            self.check_idle()
            return await self._rewinder.rewind(to_turn_id, talk=talk, files=files)

    async def undo_rewind(self, rewind_id: str | None = None) -> RewindReport:
        """Take back a rewind, the last one when none is named; raises as `rewind`."""
        async with self._rewinding:
            self.check_idle()
            return await self._rewinder.undo(rewind_id)

    async def cancel(self, turn_id: str | None = None) -> bool:
        """Stop the running turn, or take a queued one off the queue; False when there is none."""
        return await self._queue.cancel(turn_id)

    async def set_mode(self, mode: Mode) -> None:
        """Applies from the next call on, also within the running turn."""
        self._check_open()
        if mode != self._state.mode:
            await self.emit(ModeChanged(mode))

    async def set_model(self, name: str) -> None:
        """Applies from the next round on. Raises `ConfigurationError` for an unusable model."""
        model = await self._kit.find_model(name)
        self._check_open()
        self._model = model
        await self.emit(ModelChanged(self._model.name))

    def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
        """False when it was answered or cancelled before."""
        return self._player.person.answer_approval(approval_id, answer)

    def answer_question(self, question_id: str, answer: str | None) -> bool:
        """False when it was answered or cancelled before."""
        return self._player.person.answer_question(question_id, answer)

    async def emit(self, event: Event) -> None:
        """Log the event, take it into the state, tell the followers."""
        await self._recorder.emit(event)

    async def close(self) -> None:
        """End the running turn as interrupted and let go of the log."""
        await self._queue.close()
        async with self._rewinding:
            await self._snapshots.close()
        self._recorder.close()

    def _check_open(self) -> None:
        if self._queue.is_closed:
            raise InvalidRequestError(
                "This session has just been closed, so nothing was done. Open it again."
            )

    def check_idle(self) -> None:
        """Raises `InvalidRequestError` while a turn runs or waits, and when it is closed."""
        self._check_open()
        if self._state.turn_id is not None or self._state.queued:
            raise InvalidRequestError(
                "A turn is running, or waits for its start. Let it end, or cancel it, and try "
                "again; nothing was changed."
            )

    def _current_model(self) -> Model:
        if self._model is None:
            raise AssertionError("a turn starts only when its model is found")
        return self._model


def _check_prompt(text: str) -> None:
    if not text.strip():  # strict providers refuse an empty message, and so all that follow it
        raise InvalidRequestError("The prompt is empty. Write what you want to have done.")
