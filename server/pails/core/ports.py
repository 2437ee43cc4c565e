"""The small protocols through which lower layers reach upwards; `app` joins them to real parts."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pails.core.events import (
    ApprovalChoice,
    Effect,
    Event,
    Problem,
)
from pails.core.messages import AssistantMessage, Message, ToolSpec, Usage

Emit = Callable[[Event], Awaitable[None]]
"""Says what happened. It returns when the event is in the log, so awaiting it is a barrier."""


# -- the model ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: everything the model is to see. `tools` empty means it may call none."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of a reply while it streams."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ReplyRestarted:
    """The stream broke and is tried again: what was streamed so far is void."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply, always the last item of a stream that ended well.

    `truncated`: the server cut the reply at its token limit, so no call in it may run.
    """

    message: AssistantMessage
    usage: Usage | None = None
    truncated: bool = False


class Model(Protocol):
    """Something that answers. Raises `ModelError` when no whole reply could be had."""

    @property
    def name(self) -> str: ...

    def stream(
        self, request: ModelRequest
    ) -> AsyncIterator[ReplyDelta | ReplyRestarted | Reply]: ...


# -- what a prompt brings along ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something a prompt refers to: a file, a part of it, or what a checker said about it.

    Lines count from 1, both ends included; `text` is None where the whole file is meant and has
    yet to be read.
    """

    kind: Literal["file", "selection", "diagnostics"]
    path: Path
    text: str | None = None
    first_line: int = 1
    last_line: int | None = None


# -- the editor ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open document as the editor last told it."""

    path: Path
    uri: str
    text: str
    version: int


@dataclass(frozen=True, slots=True)
class TextChange:
    """Replace `text[start:end]` (code points of the base text) by `replacement`."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What became of an edit. `reason` completes a sentence: "… because `reason`"."""

    status: Literal["applied", "refused", "unknown"]
    reason: str = ""


class Editor(Protocol):
    """The client's buffers. A server without a client has none of them open."""

    def buffer(self, path: Path) -> Buffer | None:
        """The open document at this path, or None."""
        ...

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        """Apply to that version of the document, as one step of its undo stack."""
        ...

    async def save(self, path: Path) -> bool:
        """Ask the client to save the open document; False when it cannot or did not."""
        ...

    def publish(self, path: Path, problems: Sequence[Problem]) -> None:
        """Show these syntax errors of an agent's write; an empty list clears them."""
        ...


# -- what a call would do, and whether it may ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """What a valid call would touch, before anything is read or done. The gate judges this.

    Paths are absolute but not yet resolved: resolving links is the gate's business.
    """

    tool: str
    effect: Effect
    title: str
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    argv: tuple[str, ...] = ()


Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` names the defence that decided, and why: `approval: mode auto asks before …`.

    `rule` is what "allow for this session" would store, exactly; empty when it can store nothing.
    """

    verdict: Verdict
    reason: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """A person's answer. `feedback` is told to the model when the call may not run: what the
    person said, or why nobody was asked."""

    choice: ApprovalChoice
    feedback: str = ""


class Person(Protocol):
    """The person at the client: asked through events, answering whenever they like."""

    async def approve(
        self, call_id: str, action: Action, decision: Decision, text: str, diff: str
    ) -> ApprovalAnswer: ...

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        """The answer, or None when nobody could or would answer."""
        ...


# -- results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a tool has written: its text before (None when it is new) and after.

    `unsaved` completes "in the editor's buffer alone, because …"; None when it is on the disk.
    """

    path: Path
    before: str | None
    after: str
    target: Literal["disk", "buffer"]
    unsaved: str | None = None

    @property
    def saved(self) -> bool:
        return self.unsaved is None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call: `text` for the model, `summary` (one line) for the person."""

    text: str
    is_error: bool = False
    summary: str = ""
    changes: tuple[Change, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class SyntaxReport:
    """What the check of one written file found. `language` is empty when none is known.

    `problems` are those that the write brought, `existing` counts those that were there before.
    `note` says why nothing was checked when `checked` is False, else what else should be known.
    """

    language: str
    problems: tuple[Problem, ...] = ()
    existing: int = 0
    note: str = ""
    checked: bool = True


class SyntaxChecker(Protocol):
    """Checks a written text against the one it replaced."""

    async def warm(self) -> None:
        """Start what a check needs, so that the first one need not wait. Never fails."""
        ...

    async def check(self, path: Path, before: str | None, after: str) -> SyntaxReport: ...
