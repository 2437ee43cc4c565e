"""Changes on the wire: hunks by file and turn, decisions about them, and who wrote a line."""

from typing import Any, Literal

from pydantic import Field

from pails.core.review import HunkState
from pails.lsp.protocol.base import WireModel


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
