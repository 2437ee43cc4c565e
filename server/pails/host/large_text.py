"""A text file that is too large to be held: decoded in pieces, as they are asked for."""

import codecs
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pails.host.encodings import BinaryFile, TextFile, decode
from pails.host.files import open_regular

_PIECE_BYTES = 1_000_000
_FIRST_BYTES = 256_000


@dataclass(frozen=True, slots=True)
class TextPieces:
    """A text in pieces, without its byte order mark. `size` is in bytes.

    What cannot be decoded stands there as `\\xff`, so that no byte is lost to a reader.
    `line_end` is `\\n`, or `\\r` in a text whose beginning has no other.
    """

    encoding: str
    size: int
    line_end: str
    pieces: Iterator[str]


@contextmanager
def text_pieces(path: Path) -> Generator[TextPieces | BinaryFile]:
    """The text of a file of any size. Blocks; raises `OSError` as `open_regular` does."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_FIRST_BYTES)
        found = decode(first, is_cut=len(first) < size)
        if isinstance(found, BinaryFile):
            yield replace(found, size=size)
        else:
            line_end = "\r" if "\r" in found.text and "\n" not in found.text else "\n"
            pieces = _decoded(file, first.removeprefix(found.bom), found)
            yield TextPieces(found.encoding, size, line_end, pieces)


def _decoded(file: BinaryIO, first: bytes, found: TextFile) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(found.encoding)("backslashreplace")
    data = first
    while data:
        yield decoder.decode(data)
        data = file.read(_PIECE_BYTES)
    yield decoder.decode(b"", final=True)
