"""Names of methods that must be known before anything heavy is loaded.

`protocol.py` has the types; a test holds the two together.
"""

PAI_METHODS = (
    "pai/session/new",
    "pai/session/list",
    "pai/session/open",
    "pai/session/prompt",
    "pai/session/cancel",
    "pai/session/setMode",
    "pai/session/setModel",
    "pai/approval/answer",
    "pai/question/answer",
    "pai/status",
)
"""What a client may ask for, answered once the rest of the server is loaded."""
