"""Rewinds on the wire: the turns to go back before, and what going back does or would do."""

from pydantic import Field

from pails.core.rewind import How
from pails.lsp.protocol.base import WireModel


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
