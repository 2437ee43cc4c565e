"""The tables of all `pai/…` methods and of the commands: names, types, and what each is for."""

from dataclasses import dataclass

from pails.lsp.protocol.asking import (
    ApprovalAnswerParams,
    ApprovalRequestParams,
    ApprovalRequestResult,
    ApprovalResolvedParams,
    EditorChangedOnDiskParams,
    EditorSaveParams,
    EditorSaveResult,
    QuestionAnswerParams,
    QuestionAskParams,
    QuestionAskResult,
)
from pails.lsp.protocol.base import AcceptedResult, Empty, WireModel
from pails.lsp.protocol.changes import (
    ChangesExportOriginParams,
    ChangesExportOriginResult,
    ChangesListParams,
    ChangesListResult,
    ChangesOriginParams,
    ChangesOriginResult,
    ChangesResolveParams,
    ChangesResolveResult,
    ChangesTextParams,
    ChangesTextResult,
)
from pails.lsp.protocol.commands import (
    CancelArguments,
    FileArguments,
    HunkArguments,
    PlaceArguments,
    RewindArguments,
    ShowArguments,
    TurnArguments,
    TurnInfo,
    UndoRewindArguments,
)
from pails.lsp.protocol.rewinding import (
    RewindResult,
    SessionRewindParams,
    SessionUndoRewindParams,
    SnapshotsListParams,
    SnapshotsListResult,
)
from pails.lsp.protocol.sessions import (
    EventParams,
    MentionSearchParams,
    MentionSearchResult,
    ModelsListResult,
    QueueUpdateParams,
    SessionCancelParams,
    SessionCancelResult,
    SessionDeleteParams,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionImportParams,
    SessionInfo,
    SessionListParams,
    SessionListResult,
    SessionNewParams,
    SessionOpenParams,
    SessionPromptParams,
    SessionPromptResult,
    SessionRenameParams,
    SessionRestoreParams,
    SessionSetModelParams,
    SessionSetModeParams,
    StatusResult,
)


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
        "pai/session/fork",
        SessionForkParams,
        SessionInfo,
        "A new session that begins with the talk of another, and with nothing of its changes.",
    ),
    Method("pai/session/rename", SessionRenameParams, Empty, "Call an open session so."),
    Method(
        "pai/session/delete",
        SessionDeleteParams,
        Empty,
        "Close a session and take it out of all lists. Two weeks long it can be restored.",
    ),
    Method("pai/session/restore", SessionRestoreParams, Empty, "Bring a deleted session back."),
    Method("pai/session/export", SessionExportParams, SessionExportResult, "A session as a text."),
    Method(
        "pai/session/import",
        SessionImportParams,
        SessionInfo,
        "A new session that begins with the talk of an exported one.",
    ),
    Method(
        "pai/session/prompt",
        SessionPromptParams,
        SessionPromptResult,
        "Ask for something. Returns at once; events tell the rest.",
    ),
    Method(
        "pai/queue/update",
        QueueUpdateParams,
        AcceptedResult,
        "Edit a waiting prompt, or let it join the running turn; not when it waits no longer.",
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
    Method("pai/models/list", Empty, ModelsListResult, "The servers found, and their models."),
    Method(
        "pai/mention/search",
        MentionSearchParams,
        MentionSearchResult,
        "Files and folders by a part of their path, for who types a mention.",
    ),
    Method("pai/status", Empty, StatusResult, "Version, model and configuration warnings."),
)


SERVER_TO_CLIENT = (
    Method("pai/event", EventParams, None, "Something happened in a session the client follows."),
    Method(
        "pai/approval/request",
        ApprovalRequestParams,
        ApprovalRequestResult,
        "A person must decide. Unanswered (null) is not refused: the run waits. What cannot be "
        "shown (an error) is asked as a plain message.",
    ),
    Method("pai/approval/resolved", ApprovalResolvedParams, None, "Decided or cancelled."),
    Method(
        "pai/question/ask",
        QuestionAskParams,
        QuestionAskResult,
        "The agent asks a person. An error as above.",
    ),
    Method("pai/editor/save", EditorSaveParams, EditorSaveResult, "Save this open document."),
    Method(
        "pai/editor/changedOnDisk",
        EditorChangedOnDiskParams,
        None,
        "Read these documents again, unless they have unsaved text.",
    ),
)
