"""Names for things that a client refers to later: `turn-9f2c…`."""

import uuid


def new_id(kind: str) -> str:
    """A new id of this kind; no two are ever the same."""
    return f"{kind}-{uuid.uuid4().hex[:12]}"
