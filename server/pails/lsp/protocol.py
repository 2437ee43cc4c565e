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
    """The answer of a client that was told of an approval by an event."""

    session_id: str
    approval_id: str
    choice: Answer
    feedback: str = ""


class QuestionAnswerParams(WireModel):
    session_id: str
    question_id: str
    answer: str | None = None


class AcceptedResult(WireModel):
    accepted: bool = Field(description="false when it was answered or cancelled before")


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
    kind: Literal["approvalRequested"] = "approvalRequested"


class ApprovalRequestResult(WireModel):
    choice: Answer
    feedback: str = ""


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
    Method("pai/session/setMode", SessionSetModeParams, Empty, "From the next call on."),
    Method("pai/session/setModel", SessionSetModelParams, Empty, "From the next round on."),
    Method("pai/approval/answer", ApprovalAnswerParams, AcceptedResult, "Answer an approval."),
    Method("pai/question/answer", QuestionAnswerParams, AcceptedResult, "Answer a question."),
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
)
