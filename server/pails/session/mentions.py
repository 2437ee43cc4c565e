"""Files that a prompt names by their path: small ones go along, as if they had been attached.

The model would have to read them first anyway. A large one saves a round; a small one does well
with a file before its eyes and badly where it has to fetch it.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from pails.core.ports import Attachment
from pails.host import files
from pails.tools.files.document import Document, Unreadable

MAX_FILES = 3
MAX_CHARS = 6_000
MAX_BYTES = 4 * MAX_CHARS + 4
"""More than this are more characters in any encoding: 4 bytes for each and for a mark in front."""
_MAX_LOOKED_AT = 20

_QUOTED = re.compile(r"`([^`\n]+)`")
# ASCII alone, for in some languages a name stands between letters without a blank.
_PATH = re.compile(r"[\w.-][\w./-]*", re.ASCII)
_AROUND = "`'\"“”‘’.,:;!?()[]{}<>@，。、：；！？（）【】「」《》"

Read = Callable[[Path], Awaitable[Document | Unreadable]]


async def mentioned_files(
    text: str,
    attached: Sequence[Attachment],
    workspace: Path,
    may_read: Callable[[Path], bool],
    read: Read,
) -> tuple[Attachment, ...]:
    """The files that `text` names and that are not attached yet, in its order.

    Left out is what does not exist, is long, no text, or may not be read unasked (`may_read`,
    which may block).
    """

    def may_go_along(path: Path) -> bool:
        return may_read(path) and files.size(path) <= MAX_BYTES

    known = {attachment.path for attachment in attached}
    found: list[Attachment] = []
    for name in path_names(text)[:_MAX_LOOKED_AT]:
        path = workspace / name
        if path in known or not await asyncio.to_thread(may_go_along, path):
            continue
        known.add(path)
        document = await read(path)
        if isinstance(document, Document) and 0 < len(document.text) <= MAX_CHARS:
            found.append(Attachment("file", path, document.text))
        if len(found) == MAX_FILES:
            break
    return tuple(found)


def path_names(text: str) -> list[str]:
    """What may be relative paths of files in a text; most of it will be none.

    Names with blanks are found between backquotes.
    """
    words = (word.strip(_AROUND) for word in text.split())
    runs = (run.rstrip(".-") for run in _PATH.findall(text))
    names = dict.fromkeys((*_QUOTED.findall(text), *runs, *words))
    return [name for name in names if re.search(r"[./]", name) and not re.search(r"^/|\0", name)]
