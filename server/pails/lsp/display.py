"""Turns shown by plain LSP: progress with a cancel button, and a word at the end."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.errors import PailsError
from pails.core.events import (
    ApprovalRequested,
    AssistantMessageAdded,
    Envelope,
    Mode,
    QuestionAsked,
    RunState,
    StopReason,
    ToolCallPrepared,
    TurnEnded,
    TurnStarted,
)
from pails.core.text import first_line, shown_path
from pails.lsp import uris
from pails.lsp.client import Client
from pails.lsp.virtual import KeepText

log = logging.getLogger(__name__)

TOKEN_PREFIX = "pails/"
ANSWER_LINE_CHARACTERS = 200
HOW_TO_REVIEW = (
    "To review it, use the code lenses or code actions of the files: accept or reject each change, "
    "or all."
)


class TurnProgress:
    """`$/progress` of one turn. A client that refuses the token is not told anything."""

    def __init__(self, client: Client, turn_id: str, title: str) -> None:
        self._client = client
        self._token = f"{TOKEN_PREFIX}{turn_id}"
        self._values: asyncio.Queue[types.WorkDoneProgressReport | types.WorkDoneProgressEnd] = (
            asyncio.Queue()
        )
        self._task = asyncio.create_task(self._show(title), name=f"progress {turn_id}")

    def report(self, message: str) -> None:
        """What the turn does now."""
        self._values.put_nowait(types.WorkDoneProgressReport(message=message))

    def end(self, message: str) -> None:
        self._values.put_nowait(types.WorkDoneProgressEnd(message=message))

    def close(self) -> None:
        self._task.cancel()

    async def _show(self, title: str) -> None:
        try:
            await self._client.request(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE,
                types.WorkDoneProgressCreateParams(self._token),
            )
        except JsonRpcException as error:
            log.info("the client shows no progress: %s", error)
            return
        self._tell(types.WorkDoneProgressBegin("Pails", cancellable=True, message=title))
        while True:
            value = await self._values.get()
            self._tell(value)
            if isinstance(value, types.WorkDoneProgressEnd):
                return

    def _tell(self, value: object) -> None:
        self._client.notify(types.PROGRESS, types.ProgressParams(self._token, value))


@dataclass(slots=True)
class _ShownTurn:
    """A turn on the screen. `answer` is the last text of the model."""

    progress: TurnProgress | None
    mode: Mode
    answer: str = ""


class TurnDisplay:
    """Shows the turns of one session.

    `is_bare`: the client has no events, so that every turn is shown and its end is said in a
    message. Other clients see only the progress of the turns that a command started.
    """

    def __init__(self, client: Client, workspace: Path, keep: KeepText, *, is_bare: bool) -> None:
        self._client = client
        self._workspace = workspace
        self._keep = keep
        self._is_bare = is_bare
        self._commanded: set[str] = set()
        self._answer_titles: dict[str, str] = {}
        self._turns: dict[str, _ShownTurn] = {}
        self._has_told_of_review = False
        self._opening: set[asyncio.Task[None]] = set()

    def expect(self, turn_id: str, answer_title: str = "") -> None:
        """A command started this turn. With a title, its answer is shown as a document."""
        self._commanded.add(turn_id)
        if answer_title:
            self._answer_titles[turn_id] = answer_title

    def shows(self, token: int | str) -> str | None:
        """The id of the running turn with this progress token."""
        turn_id = str(token).removeprefix(TOKEN_PREFIX)
        return turn_id if turn_id in self._turns else None

    def push(self, envelope: Envelope) -> None:
        match envelope.event:
            case TurnStarted() as started:
                self._start(started)
            case ToolCallPrepared() as prepared:
                self._report(prepared.turn_id, prepared.title)
            case ApprovalRequested() as wanted:
                self._report(wanted.turn_id, f"Waiting for you: {wanted.title}")
            case QuestionAsked() as asked:
                self._report(asked.turn_id, "Waiting for your answer")
            case AssistantMessageAdded() as added if added.turn_id in self._turns:
                self._turns[added.turn_id].answer = added.message.text
            case TurnEnded() as ended:
                self._end(ended)
            case _:
                pass

    def close(self) -> None:
        for turn in self._turns.values():
            if turn.progress is not None:
                turn.progress.close()
        for task in self._opening:
            task.cancel()

    def _start(self, started: TurnStarted) -> None:
        if not self._is_bare and started.turn_id not in self._commanded:
            return
        can = self._client.can_show_progress
        progress = TurnProgress(self._client, started.turn_id, started.title) if can else None
        self._turns[started.turn_id] = _ShownTurn(progress, started.mode)

    def _report(self, turn_id: str, message: str) -> None:
        turn = self._turns.get(turn_id)
        if turn is not None and turn.progress is not None:
            turn.progress.report(message)

    def _end(self, ended: TurnEnded) -> None:
        self._commanded.discard(ended.turn_id)
        title = self._answer_titles.pop(ended.turn_id, "")
        turn = self._turns.pop(ended.turn_id, None)
        if turn is None:
            return
        summary = turn_summary(ended, self._workspace)
        if turn.progress is not None:
            turn.progress.end(summary)
        if not self._is_bare:
            return
        if title and turn.answer and ended.state is RunState.COMPLETED:
            task = asyncio.create_task(self._show_answer(title, turn.answer))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        else:
            failed = ended.state not in (RunState.COMPLETED, RunState.CANCELLED)
            level = types.MessageType.Error if failed else types.MessageType.Info
            line = first_line(turn.answer, ANSWER_LINE_CHARACTERS)
            parts = (f"Pails: {summary}", line, self._how_to_review(turn, ended))
            self._client.show(level, "\n".join(part for part in parts if part))

    def _how_to_review(self, turn: _ShownTurn, ended: TurnEnded) -> str:
        """Said once in a session, when there is something to review that nobody has allowed."""
        if not ended.files or turn.mode is Mode.ASK or self._has_told_of_review:
            return ""
        self._has_told_of_review = True
        return HOW_TO_REVIEW

    async def _show_answer(self, title: str, answer: str) -> None:
        """The whole answer in a document, or else in a message."""
        if not (self._client.can_show_documents and await self._open_document(title, answer)):
            self._client.show(types.MessageType.Info, answer)

    async def _open_document(self, title: str, answer: str) -> bool:
        try:
            path = await self._keep("answer.md", f"# {title}\n\n{answer}\n")
        except PailsError as error:
            log.warning("the answer is shown as a message instead of a document: %s", error)
            return False
        return await self._client.show_document(uris.from_path(path), take_focus=False)


def turn_summary(ended: TurnEnded, workspace: Path) -> str:
    """One line or two for a person: how it ended, and which files are changed."""
    changed = _changed(ended.files, workspace)
    match ended.state, ended.reason:
        case RunState.COMPLETED, StopReason.MAX_ROUNDS:
            return f"stopped at the limit of {ended.rounds} rounds. {changed}"
        case RunState.COMPLETED, _:
            return f"done. {changed}"
        case RunState.CANCELLED, _:
            return f"cancelled. {changed}"
        case _:
            return f"{ended.error or 'the turn was cut off.'} {changed}"


def _changed(files: Sequence[str], workspace: Path) -> str:
    if not files:
        return "No file was edited."
    names = [shown_path(Path(file), workspace) for file in files]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"Edited: {', '.join(names[:5])}{more}."
