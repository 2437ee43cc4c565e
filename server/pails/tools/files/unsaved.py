"""What the person has typed and not saved: found, and made visible to a search."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pails.core.ports import Buffer, Editor
from pails.core.tasks import uninterrupted
from pails.host import files
from pails.host.encodings import TextFile, decode
from pails.host.paths import is_within, normalized
from pails.host.shadow import Shadow
from pails.tools.files.document import text_of


def buffers_below(editor: Editor | None, folder: Path) -> list[Buffer]:
    """The open documents of files in a folder, or of the file that it is. Does not block."""
    place = normalized(folder)
    return [b for b in editor.open_buffers() if is_within(b.path, place)] if editor else []


def text_on_disk(path: Path) -> str | None:
    """The file's text; None where there is no file, or no text in it. Blocks."""
    try:
        content = decode(files.read_bytes(path))
    except OSError:
        return None
    return content.text if isinstance(content, TextFile) else None


def differing(buffers: Iterable[Buffer]) -> list[Buffer]:
    """Those that have another text than their files, or text without one. Blocks."""
    return [buffer for buffer in buffers if (text_on_disk(buffer.path) or "") != text_of(buffer)]


class UnsavedTexts:
    """The texts of those open documents that differ from the disk, as files, for one search.

    They are laid out when first asked for. Whoever asks closes it in the end.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = buffers
        self._laying: asyncio.Task[Shadow | None] | None = None

    def __bool__(self) -> bool:
        """Whether there may be any."""
        return bool(self._buffers)

    async def shadow(self) -> Shadow | None:
        """Where they are; None when there are none. Raises `OSError`."""
        if self._laying is None:
            self._laying = asyncio.create_task(asyncio.to_thread(_laid_out, self._buffers))
        return await asyncio.shield(self._laying)

    async def close(self) -> None:
        """Remove them."""
        if self._laying is not None:
            await uninterrupted(_removed(self._laying))


def _laid_out(buffers: Sequence[Buffer]) -> Shadow | None:
    texts = {buffer.path: text_of(buffer) for buffer in differing(buffers)}
    return Shadow(texts) if texts else None


async def _removed(laying: asyncio.Task[Shadow | None]) -> None:
    with suppress(OSError):  # it was raised where they were asked for
        if shadow := await laying:
            await asyncio.to_thread(shadow.remove)
