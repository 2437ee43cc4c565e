"""Everything that happens, as one closed union of events.

The session's log keeps them, the edges render them, telemetry traces them. This is their order;
`*` may repeat, `?` may be missing, `~` is transient (sent to clients, never logged).

    SessionCreated                          first record of every log
    SessionReopened*                        a process opened the log again
    ModeChanged*  ModelChanged*  Notice*    at any time, as
    SessionRenamed*
    HunksResolved*  SnapshotTaken*          at any time: reviews, and what the turns began from
    (RewindStarted? → Rewound)*             between turns; of files alone, by a tool, within one
    PromptAccepted*  PromptEdited*          at any time, in the log before its sender hears of it
    TurnEnded*                              at any time, for a prompt whose turn never started
    for each of the other prompts, one after the other
    TurnStarted
    ├─ RunStateChanged*                     each transition of the run's state table
    ├─ UserMessageAdded
    ├─ (PromptJoined → UserMessageAdded)*   between rounds: what the person said meanwhile
    ├─ RoundStarted*                        one model call; `max_rounds` at most
    │  ├─ ReasoningDelta~*  TextDelta~*
    │  ├─ ReplyDiscarded~*                  the stream broke: what was shown of it is void
    │  ├─ AssistantMessageAdded             authoritative, whatever the deltas said
    │  ├─ UsageReported?
    │  └─ for each call of the message      reads that follow each other may overlap
    │     ├─ ToolCallPrepared?              arguments are valid; what it would do
    │     ├─ ApprovalRequested? → ApprovalResolved
    │     ├─ ToolCallStarted?               logged before the side effect
    │     │  ├─ ToolOutputDelta~*
    │     │  ├─ QuestionAsked? → QuestionAnswered
    │     │  ├─ PlanUpdated?
    │     │  ├─ FileChanged*
    │     │  └─ SyntaxChecked*
    │     └─ ToolCallEnded                  exactly one for each call, whatever happened
    ├─ UserMessageAdded?                    at the limit: the request to wrap up …
    ├─ RoundStarted?                        … and one more model call, which has no tools
    └─ TurnEnded                            the summary: status, files, usage, seconds

A turn may be cut off at any place. Then whatever waits for a person is resolved and each call that
is open is ended, in this order, before TurnEnded.

A call without ToolCallStarted never ran. One with ToolCallStarted and without ToolCallEnded was
cut off: its outcome is unknown, and on reopening the log it is ended with just these words.

Paths in events are absolute. Lines and columns count from 1; columns count code points.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pails.core.messages import AssistantMessage, Usage, UserMessage


class Mode(StrEnum):
    """How much the agent may do unasked. There is no "allow everything"."""

    AUTO = "auto"  # edits in the workspace pass, commands ask
    PLAN = "plan"  # read-only
    ASK = "ask"  # every write and command asks


class Effect(StrEnum):
    """What a tool does to the world; decides concurrency and policy."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    INTERACT = "interact"  # talks to the person or keeps notes; touches nothing outside


class RunState(StrEnum):
    """How a run stands. The last four are ends."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # for an approval or an answer
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # the process died


class StopReason(StrEnum):
    """Why a turn ended."""

    DONE = "done"  # the model asked for no further tool
    MAX_ROUNDS = "maxRounds"  # the limit was reached and the model wrapped up
    CANCELLED = "cancelled"
    ERROR = "error"
    INTERRUPTED = "interrupted"


class ApprovalChoice(StrEnum):
    """How an approval was resolved. Not a person's answer: that the turn was cancelled."""

    ALLOW_ONCE = "allowOnce"
    ALLOW_SESSION = "allowSession"
    REJECT = "reject"
    UNANSWERED = "unanswered"  # nobody was there to be asked, or they only closed the question
    CANCELLED = "cancelled"  # the turn was cancelled


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in a file; line and column count from 1, columns in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One syntax error: where it starts and ends (exclusive), what is wrong, the source line."""

    start: SourcePosition
    end: SourcePosition
    message: str
    source_line: str


@dataclass(frozen=True, slots=True)
class ProposedHunk:
    """A part of a proposed write that a person may take or leave by itself.

    `old` and `new` are whole lines with their ends; `line` is where `old` begins, from 0.
    """

    id: str
    path: str
    line: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One line of the plan that the model keeps."""

    text: str
    status: Literal["pending", "active", "done"] = "pending"


@dataclass(frozen=True, slots=True)
class SessionCreated:
    """`copied_from` is the session whose talk this one begins with, a file's name, or empty."""

    workspace: str
    mode: Mode
    model: str
    copied_from: str = ""
    kind: Literal["sessionCreated"] = "sessionCreated"


@dataclass(frozen=True, slots=True)
class SessionReopened:
    """`repaired` says what had to be mended, in words; empty when nothing had to."""

    repaired: tuple[str, ...] = ()
    kind: Literal["sessionReopened"] = "sessionReopened"


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    title: str
    kind: Literal["sessionRenamed"] = "sessionRenamed"


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: Mode
    kind: Literal["modeChanged"] = "modeChanged"


@dataclass(frozen=True, slots=True)
class ModelChanged:
    model: str
    kind: Literal["modelChanged"] = "modelChanged"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know that is not the model's word."""

    level: Literal["info", "warning", "error"]
    text: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """`position` is its place in the queue behind the running turn, 0 when it starts at once."""

    turn_id: str
    text: str
    position: int
    kind: Literal["promptAccepted"] = "promptAccepted"


@dataclass(frozen=True, slots=True)
class PromptEdited:
    """A prompt that still waits has another text now."""

    turn_id: str
    text: str
    kind: Literal["promptEdited"] = "promptEdited"


@dataclass(frozen=True, slots=True)
class PromptJoined:
    """A waiting prompt becomes a part of the running turn: `turn_id`, in place of one of its own.

    `joined_id` is the turn that it had been promised, which will never start.
    """

    turn_id: str
    joined_id: str
    kind: Literal["promptJoined"] = "promptJoined"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn_id: str
    title: str
    mode: Mode
    model: str
    kind: Literal["turnStarted"] = "turnStarted"


@dataclass(frozen=True, slots=True)
class RunStateChanged:
    turn_id: str
    state: RunState
    kind: Literal["runStateChanged"] = "runStateChanged"


@dataclass(frozen=True, slots=True)
class SeenText:
    """A file's kept text (None: it is gone) of which the model has been told."""

    path: str
    text_id: str | None


@dataclass(frozen=True, slots=True)
class UserMessageAdded:
    """`seen` are files that had changed behind the model's back, as the message tells it."""

    turn_id: str
    message: UserMessage
    seen: tuple[SeenText, ...] = ()
    kind: Literal["userMessageAdded"] = "userMessageAdded"


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """`number` counts from 1 within the turn; `wrap_up` marks the last call, which has no tools."""

    turn_id: str
    number: int
    wrap_up: bool = False
    kind: Literal["roundStarted"] = "roundStarted"


@dataclass(frozen=True, slots=True)
class TextDelta:
    turn_id: str
    text: str
    kind: Literal["textDelta"] = "textDelta"


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    turn_id: str
    text: str
    kind: Literal["reasoningDelta"] = "reasoningDelta"


@dataclass(frozen=True, slots=True)
class ReplyDiscarded:
    turn_id: str
    reason: str
    kind: Literal["replyDiscarded"] = "replyDiscarded"


@dataclass(frozen=True, slots=True)
class AssistantMessageAdded:
    turn_id: str
    message: AssistantMessage
    kind: Literal["assistantMessageAdded"] = "assistantMessageAdded"


@dataclass(frozen=True, slots=True)
class UsageReported:
    turn_id: str
    usage: Usage
    kind: Literal["usageReported"] = "usageReported"


@dataclass(frozen=True, slots=True)
class ToolCallPrepared:
    """`title` is one line for a person, such as `Edit calc.py` or `Run pytest -q`."""

    turn_id: str
    call_id: str
    tool: str
    title: str
    effect: Effect
    kind: Literal["toolCallPrepared"] = "toolCallPrepared"


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person. `text` is the whole of what would be done, never a part.

    `rule` is what "allow for this session" would store, exactly; `reason` names the defence
    that made it ask, and why; `diff` is a unified diff where files would change, and `hunks` are
    its parts where the call can do with some of them.
    """

    turn_id: str
    call_id: str
    approval_id: str
    tool: str
    title: str
    text: str
    rule: str
    reason: str
    diff: str = ""
    hunks: tuple[ProposedHunk, ...] = ()
    kind: Literal["approvalRequested"] = "approvalRequested"


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """`hunk_ids` are the only hunks that were allowed (None: all), and `typed` are the paths of the
    files for which the person has written the text themselves.
    """

    turn_id: str
    approval_id: str
    choice: ApprovalChoice
    feedback: str = ""
    hunk_ids: tuple[str, ...] | None = None
    typed: tuple[str, ...] = ()
    kind: Literal["approvalResolved"] = "approvalResolved"


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    turn_id: str
    call_id: str
    effect: Effect
    kind: Literal["toolCallStarted"] = "toolCallStarted"


@dataclass(frozen=True, slots=True)
class ToolOutputDelta:
    turn_id: str
    call_id: str
    text: str
    kind: Literal["toolOutputDelta"] = "toolOutputDelta"


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """`options` may be empty: then any text answers."""

    turn_id: str
    question_id: str
    text: str
    options: tuple[str, ...] = ()
    kind: Literal["questionAsked"] = "questionAsked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """`answer` is None when nobody could or would answer."""

    turn_id: str
    question_id: str
    answer: str | None
    kind: Literal["questionAnswered"] = "questionAnswered"


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    turn_id: str
    steps: tuple[PlanStep, ...]
    kind: Literal["planUpdated"] = "planUpdated"


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A write that has happened. `saved` is False when it went into an unsaved buffer.

    `before_id` and `after_id` are ids of kept texts (see `ports.Texts`): None where there was, or
    is, no file, and "" where the text could not be kept. `moved_from` is the path that a moved file
    had before; empty for all others. `proposed_id` is what the agent had wanted to write where the
    person has allowed a text of their own instead, else "".
    """

    turn_id: str
    call_id: str
    path: str
    diff: str
    added: int
    removed: int
    target: Literal["disk", "buffer"]
    saved: bool
    created: bool = False
    deleted: bool = False
    moved_from: str = ""
    before_id: str | None = ""
    after_id: str | None = ""
    proposed_id: str | None = ""
    kind: Literal["fileChanged"] = "fileChanged"


@dataclass(frozen=True, slots=True)
class HunksResolved:
    """A person has decided about hunks of one file a turn changed; see `session/changes/review`.

    `before_id` and `after_id` are the kept texts of the file around what was done: both None when
    nothing had to be, as for an acceptance. `feedback` is what the person said to it. `moved_to`
    is the path that the file has again where the turn had moved it; empty for all others.
    """

    turn_id: str
    path: str
    hunk_ids: tuple[str, ...]
    decision: Literal["accepted", "rejected", "replaced"]
    feedback: str = ""
    before_id: str | None = None
    after_id: str | None = None
    moved_to: str = ""
    kind: Literal["hunksResolved"] = "hunksResolved"

    @property
    def changed(self) -> bool:
        """Whether the file is another one now."""
        return bool(self.moved_to) or (self.before_id, self.after_id) != (None, None)


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The workspace as it was before or after a turn, kept under this id in the snapshot store.

    With a `call_id` it is that of a command within the turn: what lies between these two snapshots
    is what the command changed.
    """

    turn_id: str
    moment: Literal["before", "after"]
    snapshot_id: str
    call_id: str = ""
    kind: Literal["snapshotTaken"] = "snapshotTaken"


@dataclass(frozen=True, slots=True)
class RewindStarted:
    """Files are about to go back. Logged before the first of them changes.

    `snapshot_id` has what stands at their paths, `after_id` what will. A log that goes on without
    the `Rewound` of this `rewind_id` was cut off in between: on reopening it gets one that names no
    file, by which what had happened can be taken back.
    """

    rewind_id: str
    to_turn_id: str
    snapshot_id: str
    after_id: str
    kind: Literal["rewindStarted"] = "rewindStarted"


@dataclass(frozen=True, slots=True)
class Rewound:
    """The session went back to before a turn, or took that back.

    `to_turn_id` is the turn that, with all after it, is undone. `talk`: the conversation goes back
    too. `files` were changed, `conflicts` were left as they are. `snapshot_id` is the workspace
    before the rewind and `after_id` that behind it, both with the texts of open documents; empty
    where no file was to change. `undoes` is the id of the rewind that this one takes back, else "".
    """

    rewind_id: str
    to_turn_id: str
    talk: bool
    files: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    snapshot_id: str = ""
    after_id: str = ""
    undoes: str = ""
    kind: Literal["rewound"] = "rewound"


@dataclass(frozen=True, slots=True)
class SyntaxChecked:
    """`problems` are only those that this write brought; `existing` counts the older ones."""

    turn_id: str
    call_id: str
    path: str
    language: str
    problems: tuple[Problem, ...]
    existing: int = 0
    kind: Literal["syntaxChecked"] = "syntaxChecked"


@dataclass(frozen=True, slots=True)
class ToolCallEnded:
    """The result. `text` is what the model reads; `summary` is one line for a person."""

    turn_id: str
    call_id: str
    text: str
    is_error: bool = False
    summary: str = ""
    seconds: float = 0.0
    kind: Literal["toolCallEnded"] = "toolCallEnded"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The summary of a turn. `error` is a sentence when `reason` is error.

    `files` are those that tools wrote; what commands changed is not among them. `rounds` does not
    count the one that wraps up.
    """

    turn_id: str
    state: RunState
    reason: StopReason
    rounds: int
    usage: Usage
    seconds: float
    files: tuple[str, ...] = ()
    error: str = ""
    kind: Literal["turnEnded"] = "turnEnded"


Event = (
    SessionCreated
    | SessionReopened
    | SessionRenamed
    | ModeChanged
    | ModelChanged
    | Notice
    | PromptAccepted
    | PromptEdited
    | PromptJoined
    | TurnStarted
    | RunStateChanged
    | UserMessageAdded
    | RoundStarted
    | TextDelta
    | ReasoningDelta
    | ReplyDiscarded
    | AssistantMessageAdded
    | UsageReported
    | ToolCallPrepared
    | ApprovalRequested
    | ApprovalResolved
    | ToolCallStarted
    | ToolOutputDelta
    | QuestionAsked
    | QuestionAnswered
    | PlanUpdated
    | FileChanged
    | HunksResolved
    | SnapshotTaken
    | RewindStarted
    | Rewound
    | SyntaxChecked
    | ToolCallEnded
    | TurnEnded
)

TRANSIENT = (TextDelta, ReasoningDelta, ReplyDiscarded, ToolOutputDelta)
"""Shown while it happens, never logged.

The words of a reply come again in its `AssistantMessageAdded`, unless they were discarded; the
output of a call in its `ToolCallEnded`, as far as the model reads it.
"""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event on its way to a reader.

    `seq` numbers the durable events of a session from 1. A transient event carries the number of
    the durable event before it, so "everything after seq" is always well defined.
    """

    session_id: str
    seq: int
    event: Event
