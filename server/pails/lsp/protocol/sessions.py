"""Sessions on the wire: new, list, open, prompt, cancel, mode, model, status and events."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from pails.core.events import Mode, RunState
from pails.lsp.protocol.base import Range, WireModel


class Attachment(WireModel):
    """Something a prompt refers to. Its text is read by the server, from the open buffer first."""

    kind: Literal["file", "selection", "diagnostics"]
    uri: str
    range: Range | None = None
    text: str | None = Field(None, description="for diagnostics: the messages, one a line")


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


class SessionForkParams(WireModel):
    session_id: str
    before_turn_id: str | None = Field(
        None, description="the copy ends before this turn; left out, it has all that have ended"
    )


class SessionRenameParams(WireModel):
    session_id: str
    title: str = Field(min_length=1)


class SessionDeleteParams(WireModel):
    session_id: str


class SessionRestoreParams(WireModel):
    session_id: str


class SessionExportParams(WireModel):
    session_id: str
    form: Literal["log", "markdown"] = Field(
        "log", description="the whole record, which can be imported, or the talk to read"
    )


class SessionExportResult(WireModel):
    name: str = Field(description="a name for the file")
    text: str


class SessionImportParams(WireModel):
    text: str = Field(description="an exported log")
    workspace: str | None = Field(
        None, description="absolute path; the first workspace folder when left out"
    )


class SessionPromptParams(WireModel):
    session_id: str
    text: str = Field(min_length=1)
    attachments: list[Attachment] = Field(default_factory=list[Attachment])
    from_turn_id: str | None = Field(
        None, description="the talk goes on from this turn: those after it leave it first"
    )
    steer: bool = Field(False, description="join the running turn at its next round, if one runs")


class SessionPromptResult(WireModel):
    turn_id: str
    fate: Literal["started", "queued", "steered"]
    position: int = Field(0, description="place in the queue, from 1; 0 when started")


class QueueUpdateParams(WireModel):
    """Changes a waiting prompt; `pai/session/cancel` takes one off the queue."""

    session_id: str
    turn_id: str
    text: str | None = Field(None, min_length=1, description="in place of the text it had")
    steer: bool = Field(False, description="join the running turn at its next round")


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


class ModelServer(WireModel):
    name: str = Field(description="where it was found, in words")
    base_url: str
    models: list[str]
    is_current: bool = Field(description="the one that sessions ask, and `setModel` chooses from")


class ModelsListResult(WireModel):
    servers: list[ModelServer]


class MentionSearchParams(WireModel):
    query: str
    workspace: str | None = Field(
        None, description="absolute path; the first workspace folder when left out"
    )
    limit: int = Field(20, ge=1, le=200)


class MentionedPlace(WireModel):
    kind: Literal["file", "folder"]
    name: str = Field(description="its path below the workspace")
    uri: str


class MentionSearchResult(WireModel):
    places: list[MentionedPlace] = Field(description="what fits best first")


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
