"""What the server asks on the wire, and its answers: approvals, questions, documents to save."""

from typing import Any, Literal

from pydantic import Field

from pails.core.events import ApprovalChoice
from pails.lsp.protocol.base import WireModel

Answer = Literal[
    ApprovalChoice.ALLOW_ONCE,
    ApprovalChoice.ALLOW_SESSION,
    ApprovalChoice.REJECT,
    ApprovalChoice.UNANSWERED,
]
"""What a client may say to an approval; that the turn was cancelled is ours to say."""


class ApprovalAnswerParams(WireModel):
    """The answer of a client that was told of an approval by an event.

    A call that is allowed may be changed, see `ApprovalRequestResult`.
    """

    session_id: str
    approval_id: str
    choice: Answer
    feedback: str = ""
    hunk_ids: list[str] | None = None
    texts: dict[str, str] = Field(default_factory=dict[str, str])


class QuestionAnswerParams(WireModel):
    session_id: str
    question_id: str
    answer: str | None = None


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
    options: list[str] = Field(default_factory=list[str])


class QuestionAskResult(WireModel):
    answer: str | None = None


class EditorSaveParams(WireModel):
    uri: str


class EditorSaveResult(WireModel):
    saved: bool


class EditorChangedOnDiskParams(WireModel):
    """Open documents that a command changed on the disk, while the editor shows the old text."""

    uris: list[str]
