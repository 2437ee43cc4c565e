"""The arguments and results of the commands that code actions and lenses carry."""

from pydantic import Field

from pails.lsp.protocol.base import Range, WireModel


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
