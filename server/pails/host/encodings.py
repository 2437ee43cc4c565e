"""Bytes to text and back again: which encoding a file has, and what is no text at all.

The rule that makes editing safe is `encode(decode(data)) == data` for every file decoded as exact:
what an edit does not touch keeps its bytes, whatever the encoding was taken for.
"""

import codecs
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass

from pails.host.legacy import guesses, whole_characters


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text, without its byte order mark and with its line ends as they are.

    `encoding` is a codec name of Python. `exact` is False where some bytes could not be decoded
    and show as U+FFFD: such a text may be read but not written back.
    """

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    exact: bool = True


@dataclass(frozen=True, slots=True)
class BinaryFile:
    """A file that is no text. `kind` completes "this is …", such as "PNG image"."""

    kind: str
    size: int


# The longer marks first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x7fELF", "ELF program"),
    (b"\x1f\x8b", "gzip archive"),
    (b"SQLite format 3\x00", "SQLite database"),
)

_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE_CHARS = 4000
_FEWEST_BARE_BYTES = 16
_FEWEST_ASCII_BYTES = 6
_BARE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_WHOLE_TO_BROKEN_UTF8 = 4
_WHOLE_TO_BROKEN_LEGACY = 20
"""More, because random bytes are characters of these encodings more often than of UTF-8."""
_NO_ASCII_TEXT = re.compile(rb"[\x01-\x08\x0e-\x1f\x7f-\xff]")
_LIVING_SCRIPTS = re.compile(
    "[\t\n\r\f -~\u00a0-\u024f\u0370-\u052f\u05d0-\u06ff\u0900-\u0d7f\u0e00-\u0e7f\u2010-\u203f"
    "\u20a0-\u20bf\u2190-\u21ff\u2500-\u257f\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef"
    "\U0001f300-\U0001faff]*"
)


def decode(data: bytes, *, is_cut: bool = False) -> TextFile | BinaryFile:
    """The text of a file, or what it is instead. Never raises, whatever the bytes.

    Data that is cut is the beginning of a file: a character that it ends within is left out.
    """
    marked = _decode_marked(data, is_cut=is_cut)
    if marked is not None:
        return marked
    if b"\0" not in data:
        try:
            return TextFile(_unicode(data, "utf-8", is_cut=is_cut))
        except UnicodeDecodeError:
            pass
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
    if not kind:
        whole = whole_characters(data) if is_cut else data
        text = _decode_bare(data, is_cut=is_cut) or _decode_legacy(whole)
        if text is not None:
            return text
    return BinaryFile(kind or "unknown type", len(data))


def encode(file: TextFile) -> bytes:
    """The file's bytes. Raises `UnicodeEncodeError` where its encoding lacks a character."""
    return file.bom + file.text.encode(file.encoding)


def _unicode(data: bytes, encoding: str, *, is_cut: bool) -> str:
    if not is_cut:
        return data.decode(encoding)
    return codecs.getincrementaldecoder(encoding)().decode(data)


def _decode_marked(data: bytes, *, is_cut: bool) -> TextFile | None:
    """Text that says its encoding by a byte order mark."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                text = _unicode(data[len(mark) :], encoding, is_cut=is_cut)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                return TextFile(text, encoding, mark)
    return None


def _decode_bare(data: bytes, *, is_cut: bool) -> TextFile | None:
    """UTF-32 and UTF-16 without a mark, where they are evident.

    What was taken for them wrongly would be rewritten as such, and a few NULs are in binaries and
    damaged texts too.
    """
    if b"\0" not in data:
        return None
    for encoding in _BARE:
        with suppress(UnicodeDecodeError):
            text = _unicode(data, encoding, is_cut=is_cut)
            if _convinces(text[:_SAMPLE_CHARS], data, encoding):
                return TextFile(text, encoding)
    return None


def _convinces(text: str, data: bytes, encoding: str) -> bool:
    """Whether data that is UTF-32 or UTF-16 by its form is a text in it.

    Besides UTF-32 only numbers have its form, and no blanks. In UTF-16 either most is ASCII, or all
    is in scripts that are written today and has bytes that no ASCII text has.
    """
    is_ascii = text.isascii() and encoding.startswith("utf-16")
    if len(data) < (_FEWEST_ASCII_BYTES if is_ascii else _FEWEST_BARE_BYTES):
        return False
    if any(unicodedata.category(c) in {"Cc", "Cn", "Co"} and c not in "\t\n\r\f" for c in text):
        return False
    if encoding.startswith("utf-32"):
        return " " in text or "\n" in text
    if data.count(b"\0") * 4 >= len(data):
        return not (b"\0" in data[::2] and b"\0" in data[1::2])
    no_ascii = len(_NO_ASCII_TEXT.findall(data))
    return no_ascii * 10 >= len(data) and _LIVING_SCRIPTS.fullmatch(text) is not None


def _decode_legacy(data: bytes) -> TextFile | None:
    """Text of the time before Unicode, or UTF-8 with some broken bytes."""
    if _CONTROLS.search(data):
        return None
    damaged = _decode_damaged(data, "utf-8", _WHOLE_TO_BROKEN_UTF8)
    if damaged is not None:
        return damaged
    likely = guesses(data)
    for encoding in likely:
        try:
            text = data.decode(encoding)
            if text.encode(encoding) == data:
                return TextFile(text, encoding)
        except UnicodeError:
            continue
    return _decode_damaged(data, likely[0], _WHOLE_TO_BROKEN_LEGACY)


def _decode_damaged(data: bytes, encoding: str, whole_to_broken: int) -> TextFile | None:
    """Clearly of this encoding, by many whole characters for each broken one; not writable."""
    text = data.decode(encoding, errors="replace")
    broken = text.count("\ufffd")
    whole = sum(not char.isascii() for char in text) - broken
    return TextFile(text, encoding, exact=False) if whole >= whole_to_broken * broken else None
