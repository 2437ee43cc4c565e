"""What the model is told: the frozen system prompt, and a person's prompt with what it attaches."""

import json
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import Path

from pails.context.truncation import truncate
from pails.core.ports import Attachment
from pails.core.text import shown_path

MAX_ATTACHED_CHARS = 30_000
"""What an attachment may take of the context; the model reads the rest where it needs it."""

ReadText = Callable[[Path], Awaitable[str]]
"""Reads a file the person attached: its text, or a sentence on why it cannot be read."""


def system_prompt(workspace: Path, platform: str) -> str:
    """The system prompt of a session. It depends on nothing that changes while the session lives.

    A date or a session id in here would break the prefix that model servers cache.
    """
    template = resources.files("pails.context").joinpath("system_prompt.md")
    text = template.read_text(encoding="utf-8").strip()
    return text.replace("{workspace}", str(workspace)).replace("{platform}", platform)


async def render_prompt(
    text: str,
    attachments: Sequence[Attachment],
    workspace: Path,
    read: ReadText,
    news: str = "",
) -> str:
    """The block of `news`, each attachment in a block of its own, and then the person's words.

    What is asked stands last: behind their own words small models go on with the block instead.
    """
    blocks = [news] if news else []
    for attachment in attachments:
        whole = attachment.text if attachment.text is not None else await read(attachment.path)
        body = truncate(whole, MAX_ATTACHED_CHARS, "read the rest with read_file")
        blocks.append(_block(attachment, body, workspace))
    return "\n\n".join((*blocks, text))


def _block(attachment: Attachment, body: str, workspace: Path) -> str:
    first, last = attachment.first_line, attachment.last_line
    lines = "" if last is None else f' lines="{first}-{last}"'
    end = "" if body.endswith("\n") else "\n"
    # In the quotes of JSON: no name, whatever is in it, ends the attribute.
    path = json.dumps(shown_path(attachment.path, workspace), ensure_ascii=False)
    return f"<{attachment.kind} path={path}{lines}>\n{body}{end}</{attachment.kind}>"
