"""The small protocols through which lower layers reach upwards; `app` joins them to real parts."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pails.core.events import (
    ApprovalChoice,
    Effect,
    Event,
    Problem,
    ProposedHunk,
)
from pails.core.messages import AssistantMessage, Message, ToolSpec, Usage
from pails.core.rewind import RewindReport, TurnPoint

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
    """An open document as the editor last told it.

    `settled_at` is when it was opened or saved, in seconds since 1970; None when its text has
    changed since.
    """

    path: Path
    uri: str
    text: str
    version: int
    settled_at: float | None = field(default=None, compare=False)


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

    def open_buffers(self) -> Sequence[Buffer]:
        """All open documents that are files, by their real paths; the files may not exist yet."""
        ...

    @property
    def can_save(self) -> bool:
        """Whether the client can be asked to save."""
        ...

    async def apply(self, buffer: Buffer, changes: Sequence[TextChange], label: str) -> EditOutcome:
        """Apply to that version of the document, as one step of its undo stack."""
        ...

    async def relocate(self, path: Path, target: Path | None, label: str) -> EditOutcome | None:
        """Let the client move a file or folder, or delete it (no `target`), and its documents.

        None when it cannot; "applied" when the client says so: the disk tells whether it is true.
        """
        ...

    async def save(self, path: Path) -> bool:
        """Ask the client to save the open document; False when it cannot or did not."""
        ...

    def publish(self, path: Path, text: str | None, problems: Sequence[Problem]) -> None:
        """Show the syntax errors of `text`, which an agent wrote (None: the file is gone).

        An empty list clears them, and so do errors of a text that the document no longer has.
        """
        ...

    def changed_on_disk(self, paths: Sequence[Path]) -> None:
        """Tell the client that these open files have another text on the disk now."""
        ...


# -- the texts of changes --------------------------------------------------------------------------


class Texts(Protocol):
    """Keeps the texts that changes led from and to, for as long as they can be reviewed.

    Both methods block: call them in a thread.
    """

    def keep(self, text: str) -> str:
        """Keep a text; its id, the same for the same text. Raises `StorageError`."""
        ...

    def get(self, text_id: str) -> str:
        """The text of this id. Raises `StorageError` when it is not kept, or damaged."""
        ...


# -- what a call would do, and whether it may ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """What a valid call would touch, before anything is read or done. The gate judges this.

    Paths are absolute but not yet resolved: resolving links is the gate's business. What is `final`
    cannot be taken back wholly, so it asks where other writes pass.
    """

    tool: str
    effect: Effect
    title: str
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    argv: tuple[str, ...] = ()
    final: bool = False


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
    person said, or why nobody was asked.

    A call that may run can be changed: `hunk_ids` are the only hunks of its diff that it may write
    (None: all), `texts` are whole texts by absolute path that it writes in place of its own.
    """

    choice: ApprovalChoice
    feedback: str = ""
    hunk_ids: tuple[str, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


class Person(Protocol):
    """The person at the client: asked through events, answering whenever they like."""

    async def approve(
        self,
        call_id: str,
        action: Action,
        decision: Decision,
        text: str,
        diff: str,
        *,
        hunks: Sequence[ProposedHunk] = (),
    ) -> ApprovalAnswer:
        """The answer, whose hunks are among these and whose texts are for files of theirs."""
        ...

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        """The answer, or None when nobody could or would answer."""
        ...


class Rewinder(Protocol):
    """The turns of the session, and the way back. Raises `PailsError` where there is none."""

    async def turns(self) -> Sequence[TurnPoint]:
        """The turns so far, the running one included, oldest first."""
        ...

    async def preview_files(self, to_turn_id: str) -> RewindReport:
        """What would become of the files if all changes since before this turn were undone."""
        ...

    async def rewind_files(self, to_turn_id: str) -> RewindReport:
        """Undo them; the conversation stays."""
        ...


class CallGuard(Protocol):
    """Stands around each call that may change something, so that it can be taken back."""

    def around(self, call_id: str, effect: Effect) -> AbstractAsyncContextManager[None]: ...


# -- results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a tool has written: its text before (None when it is new) and after.

    `after` is None when the file is gone; a file that moved is gone at its old path, and at the new
    one `moved_from` names the old one. `unsaved` completes "in the editor's buffer alone, because
    …"; None when it is on the disk. `binary`: no text, or too large for one; where there is such a
    file, its text is "".
    """

    path: Path
    before: str | None
    after: str | None
    target: Literal["disk", "buffer"]
    unsaved: str | None = None
    moved_from: Path | None = None
    binary: bool = False

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

    async def warm(self, texts: Mapping[Path, str]) -> None:
        """Start what a check needs, so that the first one need not wait. Never fails.

        `texts` are those that may be edited next: large ones are read through now.
        """
        ...

    def begin(self, path: Path, before: str | None, after: str) -> None:
        """Start a check that will probably be asked for, and return at once."""
        ...

    async def check(self, path: Path, before: str | None, after: str) -> SyntaxReport: ...
