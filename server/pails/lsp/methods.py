"""Names of methods that must be known before anything heavy is loaded.

`protocol/methods.py` has the types; a test holds the two together.
"""

PAI_METHODS = (
    "pai/session/new",
    "pai/session/list",
    "pai/session/open",
    "pai/session/fork",
    "pai/session/rename",
    "pai/session/delete",
    "pai/session/restore",
    "pai/session/export",
    "pai/session/import",
    "pai/session/prompt",
    "pai/queue/update",
    "pai/session/cancel",
    "pai/session/rewind",
    "pai/session/undoRewind",
    "pai/snapshots/list",
    "pai/session/setMode",
    "pai/session/setModel",
    "pai/approval/answer",
    "pai/question/answer",
    "pai/changes/list",
    "pai/changes/resolve",
    "pai/changes/text",
    "pai/changes/origin",
    "pai/changes/exportOrigin",
    "pai/models/list",
    "pai/mention/search",
    "pai/status",
)
"""What a client may ask for, answered once the rest of the server is loaded."""

ACCEPT_HUNK = "pails.acceptHunk"
REJECT_HUNK = "pails.rejectHunk"
ACCEPT_FILE = "pails.acceptFile"
REJECT_FILE = "pails.rejectFile"
ACCEPT_TURN = "pails.acceptTurn"
REJECT_TURN = "pails.rejectTurn"
SHOW_CHANGES = "pails.showChanges"
SHOW_BEFORE = "pails.showBefore"

REVIEW_COMMANDS = (
    ACCEPT_HUNK,
    REJECT_HUNK,
    ACCEPT_FILE,
    REJECT_FILE,
    ACCEPT_TURN,
    REJECT_TURN,
    SHOW_CHANGES,
    SHOW_BEFORE,
)
"""Commands that decide about the agent's changes, or show them; see `review.py`."""

REWIND = "pails.rewind"
UNDO_REWIND = "pails.undoRewind"

REWIND_COMMANDS = (REWIND, UNDO_REWIND)
"""Commands that go back to before a turn; see `rewind.py`."""

CONTENT_SCHEMES = ("pails-before", "pails-changes")
"""Documents that exist here alone and are shown by their URI; see `virtual.py`."""
