"""The `pai/…` wire: methods and the types of their parameters and results.

Everything on the wire is camelCase. Events are the union of `core/events.py`, encoded by
`session/codec.py`; error codes are in `core/rpc.py`. `docs/protocol.md` is generated from
these modules and a test holds them together.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pails.core.events import ApprovalChoice, Mode, RunState
from pails.core.review import HunkState
from pails.core.rewind import How

Answer = Literal[
    ApprovalChoice.ALLOW_ONCE,
    ApprovalChoice.ALLOW_SESSION,
    ApprovalChoice.REJECT,
    ApprovalChoice.UNANSWERED,
]
"""What a client may say to an approval; that the turn was cancelled is ours to say."""


class WireModel(BaseModel):
    """The base of every parameter and result type. Unknown fields are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        serialize_by_alias=True,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,  # of the many types a session uses few, and the start waits for none
    )


class Position(WireModel):
    """As in LSP: counts from 0, in the negotiated encoding."""

    line: int = Field(ge=0)
    character: int = Field(ge=0)


class Range(WireModel):
    start: Position
    end: Position


class Attachment(WireModel):
    """Something a prompt refers to. Its text is read by the server, from the open buffer first."""

    kind: Literal["file", "selection", "diagnostics"]
    uri: str
    range: Range | None = None
    text: str | None = Field(None, description="for diagnostics: the messages, one a line")


# -- client → server ----------------------------------------------------------------------------


class SessionNewParams(WireModel):
    workspace: str | None = Field(
        None, description="absolute path; the first workspace folder when left out"
    )
    mode: Mode | None = None
    model: str | None = None


class SessionInfo(WireModel):
    session_id: str
    workspace: str
    title: str
    mode: Mode
    model: str
    seq: int
    updated_at: float = Field(description="seconds since 1970")
    state: RunState | None = Field(None, description="of the running turn, if one runs")


class SessionListParams(WireModel):
    workspace: str | None = None


class SessionSummary(WireModel):
    """A session in a list, which may be on disk only."""

    session_id: str
    workspace: str
    title: str
    updated_at: float = Field(description="seconds since 1970")


class SessionListResult(WireModel):
    sessions: list[SessionSummary]


class SessionOpenParams(WireModel):
    session_id: str
    workspace: str | None = None
    after_seq: int | None = Field(
        None,
        ge=0,
        description="events after this number are sent again, 0: all; null: only what comes now",
    )


class SessionPromptParams(WireModel):
    session_id: str
    text: str = Field(min_length=1)
    attachments: list[Attachment] = []
    from_turn_id: str | None = Field(
        None, description="the talk goes on from this turn: those after it leave it first"
    )


class SessionRewindParams(WireModel):
    """Back to before a turn, with the talk, the files, or both."""

    session_id: str
    to_turn_id: str
    talk: bool = True
    files: bool = True
    preview: bool = Field(False, description="only say what would happen")


class SessionUndoRewindParams(WireModel):
    session_id: str
    rewind_id: str | None = Field(None, description="the last one that is in effect when left out")


class RewoundFile(WireModel):
    """`restored`: as before; `merged`: the same with the person's later changes kept."""

    path: str = Field(description="absolute")
    how: How


class RewindConflict(WireModel):
    """A file that is left alone."""

    path: str = Field(description="absolute")
    reason: str


class RewindResult(WireModel):
    rewind_id: str | None = Field(description="for `pai/session/undoRewind`; null in a preview")
    to_turn_id: str
    turns: list[str] = Field(description="leave the conversation, or come back to it")
    files: list[RewoundFile]
    conflicts: list[RewindConflict]
    notes: list[str] = Field(description="what of the agent's work is not known, and so stays")


class SnapshotsListParams(WireModel):
    session_id: str


class TurnPoint(WireModel):
    """A turn before which one can go back."""

    turn_id: str
    title: str
    files: list[str] = Field(description="that its tools wrote, absolute")
    ran_commands: bool = Field(description="which may have changed more")
    snapshot_id: str | None = Field(description="the workspace before it, where it was kept")
    in_talk: bool = Field(description="false when a rewind took it out of the conversation")


class SnapshotsListResult(WireModel):
    turns: list[TurnPoint] = Field(description="oldest first")


class SessionPromptResult(WireModel):
    turn_id: str
    fate: Literal["started", "queued"]
    position: int = Field(0, description="place in the queue, from 1; 0 when started")


class SessionCancelParams(WireModel):
    session_id: str
    turn_id: str | None = Field(None, description="the running turn when left out")


class SessionCancelResult(WireModel):
    cancelled: bool = Field(description="false when nothing was running or queued under that id")


class SessionSetModeParams(WireModel):
    session_id: str
    mode: Mode


class SessionSetModelParams(WireModel):
    session_id: str
    model: str = Field(min_length=1)


class ApprovalAnswerParams(WireModel):
    """The answer of a client that was told of an approval by an event.

    A call that is allowed may be changed, see `ApprovalRequestResult`.
    """

    session_id: str
    approval_id: str
    choice: Answer
    feedback: str = ""
    hunk_ids: list[str] | None = None
    texts: dict[str, str] = {}


class QuestionAnswerParams(WireModel):
    session_id: str
    question_id: str
    answer: str | None = None


class AcceptedResult(WireModel):
    accepted: bool = Field(description="false when it was answered or cancelled before")


class HunkInfo(WireModel):
    """A hunk of what a turn changed. `old` and `new` are whole lines with their ends."""

    id: str
    state: HunkState
    old: str
    new: str
    old_line: int = Field(description="where it began before the turn, from 0")
    line: int = Field(description="where it is, or would be, in the text as it is now, from 0")
    feedback: str = Field(description="what the person said when they decided")


class FileChanges(WireModel):
    """What one turn did to one file. Paths are absolute."""

    path: str
    hunks: list[HunkInfo]
    created: bool
    deleted: bool
    moved_from: str | None
    note: str = Field(description="why there are no hunks to be shown, where that needs a word")


class TurnChanges(WireModel):
    turn_id: str
    title: str
    files: list[FileChanges]


class ChangesListParams(WireModel):
    session_id: str
    turn_id: str | None = Field(None, description="all turns with changes when left out")


class ChangesListResult(WireModel):
    turns: list[TurnChanges] = Field(description="oldest first")


class ChangesResolveParams(WireModel):
    """A decision about the hunks that are named, or all pending ones of a file, or of the turn.

    Rejecting takes these lines back, in the open document or on the disk; what changed around them
    since stays.
    """

    session_id: str
    turn_id: str
    decision: Literal["accept", "reject", "replace"]
    path: str | None = Field(None, description="absolute")
    hunk_ids: list[str] | None = None
    feedback: str = Field("", description="told to the model with the next prompt")
    text: str | None = Field(
        None, description="for `replace`: the lines in place of the one hunk that is named"
    )


class UnresolvedHunk(WireModel):
    """A hunk that stayed as it was."""

    hunk_id: str
    path: str
    reason: str = Field(description="a sentence for a person")


class ChangesResolveResult(WireModel):
    resolved: list[str] = Field(description="ids of hunks")
    unresolved: list[UnresolvedHunk]


class ChangesTextParams(WireModel):
    session_id: str
    turn_id: str
    path: str = Field(description="absolute")


class ChangesTextResult(WireModel):
    text: str | None = Field(description="before the turn; null where there was no file")


class ChangesOriginParams(WireModel):
    path: str = Field(description="absolute")
    session_id: str | None = Field(None, description="all open sessions when left out")


class OriginRun(WireModel):
    """Lines that the agent wrote: `first` to `last`, from 1, both included.

    `approved`: a person allowed the write, accepted the hunk, or neither.
    """

    first: int
    last: int
    session_id: str
    turn_id: str
    approved: Literal["asked", "accepted", "unreviewed"]


class ChangesOriginResult(WireModel):
    runs: list[OriginRun] = Field(description="in the text as it is now, from its top")


class ChangesExportOriginParams(WireModel):
    session_id: str


class ChangesExportOriginResult(WireModel):
    """The same for all files of a session, in a form that can be stored beside a commit."""

    origin: dict[str, Any]


class Empty(WireModel):
    """No fields."""


class ModelStatus(WireModel):
    name: str = ""
    base_url: str = ""
    ready: bool
    message: str = Field("", description="when not ready: what to do")


class StatusResult(WireModel):
    version: str
    model: ModelStatus
    sessions: int = Field(description="open in this process")
    warnings: list[str] = Field(description="bad settings, each with the default used instead")


# -- server → client ----------------------------------------------------------------------------


class ApprovalRequestParams(WireModel):
    """The event `approvalRequested` and its session.

    Sent to clients that say `approvals`; others get `window/showMessageRequest`.
    """

    session_id: str
    turn_id: str
    call_id: str
    approval_id: str
    tool: str
    title: str
    text: str
    rule: str
    reason: str
    diff: str = ""
    hunks: list[dict[str, Any]] = Field([], description="as in the event")
    kind: Literal["approvalRequested"] = "approvalRequested"


class ApprovalRequestResult(WireModel):
    """What the person said. A call that is allowed may be changed by `hunk_ids` or `texts`."""

    choice: Answer
    feedback: str = Field("", description="told to the model")
    hunk_ids: list[str] | None = Field(
        None, description="the only ones of `hunks` that are written; null: all of them"
    )
    texts: dict[str, str] = Field(
        {}, description="by absolute path: whole texts that are written in place of the call's own"
    )


class ApprovalResolvedParams(WireModel):
    """The prompt is stale: take it off the screen."""

    session_id: str
    approval_id: str
    choice: ApprovalChoice


class QuestionAskParams(WireModel):
    """`turn_id` and `question_id` are null when a command asks before it starts a turn."""

    session_id: str
    turn_id: str | None = None
    question_id: str | None = None
    text: str
    options: list[str] = []


class QuestionAskResult(WireModel):
    answer: str | None = None


class EditorSaveParams(WireModel):
    uri: str


class EditorSaveResult(WireModel):
    saved: bool


class EditorChangedOnDiskParams(WireModel):
    """Open documents that a command changed on the disk, while the editor shows the old text."""

    uris: list[str]


class PlaceArguments(WireModel):
    """What a command is about. A range that is empty means its whole line."""

    uri: str = Field(description="of an open document")
    range: Range
    text: str = Field(
        "",
        description="`pails.ask`: the question; `pails.fixDiagnostic`: the diagnostic's message",
    )


class CancelArguments(WireModel):
    session_id: str | None = Field(
        None, description="left out, all sessions in which commands work"
    )
    turn_id: str | None = Field(None, description="the running turn when left out")


class HunkArguments(WireModel):
    """A hunk, as the code lenses and code actions name it."""

    session_id: str
    turn_id: str
    hunk_id: str
    feedback: str = Field("", description="why; told to the model with the next prompt")
    ask_why: bool = Field(False, description="ask the person for it, by `pai/question/ask`")


class FileArguments(WireModel):
    """The changes that wait in a file, of all sessions that the client follows."""

    uri: str = Field(description="of an open document")
    feedback: str = Field("", description="why; told to the model with the next prompt")


class TurnArguments(WireModel):
    """The changes of a turn that wait, in all its files."""

    session_id: str | None = None
    turn_id: str | None = Field(None, description="the newest turn with changes when left out")
    feedback: str = Field("", description="why; told to the model with the next prompt")


class ShowArguments(WireModel):
    """What to show of a file with changes that wait."""

    uri: str = Field(description="of an open document")


class RewindArguments(WireModel):
    session_id: str | None = Field(None, description="left out, the one that was active last")
    turn_id: str | None = Field(None, description="left out, the last turn of the conversation")


class UndoRewindArguments(WireModel):
    session_id: str | None = Field(None, description="left out, the one that was active last")
    rewind_id: str | None = Field(None, description="left out, the last one that is in effect")


class TurnInfo(WireModel):
    """The turn that a command started or queued."""

    session_id: str
    turn_id: str


class EventParams(WireModel):
    session_id: str
    seq: int
    event: dict[str, Any] = Field(description="one of the events below, told apart by `kind`")


class PaiCapabilities(WireModel):
    """`initializationOptions.pai`. A client that says nothing gets everything by plain LSP."""

    model_config = ConfigDict(extra="ignore")

    events: bool = Field(False, description="send `pai/event`")
    approvals: bool = Field(False, description="answers `pai/approval/request`")
    questions: bool = Field(False, description="answers `pai/question/ask`")
    save: bool = Field(False, description="answers `pai/editor/save`")
    reload: bool = Field(False, description="understands `pai/editor/changedOnDisk`")
    settings: Any = Field(None, description="an object of settings; see configuration.md")


@dataclass(frozen=True, slots=True)
class Method:
    """A method or a command. `result` is None for a notification."""

    name: str
    params: type[WireModel]
    result: type[WireModel] | None
    about: str


COMMANDS = (
    Method("pails.explain", PlaceArguments, TurnInfo, "Say what the code does."),
    Method("pails.fix", PlaceArguments, TurnInfo, "Mend what is wrong in it."),
    Method("pails.improve", PlaceArguments, TurnInfo, "Improve it; it behaves as before."),
    Method("pails.document", PlaceArguments, TurnInfo, "Write its doc comments."),
    Method("pails.tests", PlaceArguments, TurnInfo, "Write tests for it."),
    Method(
        "pails.ask",
        PlaceArguments,
        TurnInfo,
        "Answer a question about it. Without `text` the client is asked for one, if it says "
        "`questions`; the result is null when there is no question.",
    ),
    Method("pails.fixDiagnostic", PlaceArguments, TurnInfo, "Mend what a diagnostic says."),
    Method("pails.cancel", CancelArguments, SessionCancelResult, "Stop or unqueue a turn."),
    Method("pails.acceptHunk", HunkArguments, ChangesResolveResult, "Keep one change."),
    Method("pails.rejectHunk", HunkArguments, ChangesResolveResult, "Take one change back."),
    Method("pails.acceptFile", FileArguments, ChangesResolveResult, "Keep all in a file."),
    Method("pails.rejectFile", FileArguments, ChangesResolveResult, "Take back all in a file."),
    Method("pails.acceptTurn", TurnArguments, ChangesResolveResult, "Keep all of a turn."),
    Method("pails.rejectTurn", TurnArguments, ChangesResolveResult, "Take back all of a turn."),
    Method("pails.showChanges", ShowArguments, Empty, "Show a file's waiting changes as a diff."),
    Method("pails.showBefore", ShowArguments, Empty, "Show the file's text before them."),
    Method(
        "pails.rewind",
        RewindArguments,
        RewindResult,
        "Back to before a turn, once the person has seen what that changes and has chosen to; the "
        "result is null when they have not.",
    ),
    Method("pails.undoRewind", UndoRewindArguments, RewindResult, "Take a rewind back."),
)

CLIENT_TO_SERVER = (
    Method("pai/session/new", SessionNewParams, SessionInfo, "Start a session in a workspace."),
    Method("pai/session/list", SessionListParams, SessionListResult, "Sessions, newest first."),
    Method(
        "pai/session/open",
        SessionOpenParams,
        SessionInfo,
        "Follow a session; events after `afterSeq` and pending approvals are sent again.",
    ),
    Method(
        "pai/session/prompt",
        SessionPromptParams,
        SessionPromptResult,
        "Ask for something. Returns at once; events tell the rest.",
    ),
    Method(
        "pai/session/cancel", SessionCancelParams, SessionCancelResult, "Stop or unqueue a turn."
    ),
    Method(
        "pai/session/rewind",
        SessionRewindParams,
        RewindResult,
        "Take back what the agent did since before a turn; what the person did stays. Not while "
        "a turn runs.",
    ),
    Method(
        "pai/session/undoRewind",
        SessionUndoRewindParams,
        RewindResult,
        "Take back a rewind, in the same way.",
    ),
    Method(
        "pai/snapshots/list",
        SnapshotsListParams,
        SnapshotsListResult,
        "The turns of a session before which one can go back.",
    ),
    Method("pai/session/setMode", SessionSetModeParams, Empty, "From the next call on."),
    Method("pai/session/setModel", SessionSetModelParams, Empty, "From the next round on."),
    Method("pai/approval/answer", ApprovalAnswerParams, AcceptedResult, "Answer an approval."),
    Method("pai/question/answer", QuestionAnswerParams, AcceptedResult, "Answer a question."),
    Method(
        "pai/changes/list",
        ChangesListParams,
        ChangesListResult,
        "What the turns of a session changed, by file and hunk, and what became of it.",
    ),
    Method(
        "pai/changes/resolve",
        ChangesResolveParams,
        ChangesResolveResult,
        "Accept, reject or replace changes. What cannot be done stays pending, and is said.",
    ),
    Method("pai/changes/text", ChangesTextParams, ChangesTextResult, "A file before a turn."),
    Method(
        "pai/changes/origin",
        ChangesOriginParams,
        ChangesOriginResult,
        "Which lines of a file the agent wrote, in which turn, and who approved them.",
    ),
    Method(
        "pai/changes/exportOrigin",
        ChangesExportOriginParams,
        ChangesExportOriginResult,
        "The lines of the agent in all files, as JSON to be kept, such as in a git note.",
    ),
    Method("pai/status", Empty, StatusResult, "Version, model and configuration warnings."),
)

SERVER_TO_CLIENT = (
    Method("pai/event", EventParams, None, "Something happened in a session the client follows."),
    Method(
        "pai/approval/request",
        ApprovalRequestParams,
        ApprovalRequestResult,
        "A person must decide. Unanswered is not refused: the run waits.",
    ),
    Method("pai/approval/resolved", ApprovalResolvedParams, None, "Decided or cancelled."),
    Method("pai/question/ask", QuestionAskParams, QuestionAskResult, "The agent asks a person."),
    Method("pai/editor/save", EditorSaveParams, EditorSaveResult, "Save this open document."),
    Method(
        "pai/editor/changedOnDisk",
        EditorChangedOnDiskParams,
        None,
        "Read these documents again, unless they have unsaved text.",
    ),
)
