"""Bytes to text and back again: which encoding a file has, and what is no text at all.

The rule that makes editing safe is `encode(decode(data)) == data` for every file decoded as exact:
what an edit does not touch keeps its bytes, whatever the encoding was taken for.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from charset_normalizer import from_bytes


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

_LEGACY = ["gb18030", "cp932", "euc_jp", "euc_kr", "big5", "cp1252", "cp1251", "latin_1"]
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_TWO_HIGH_BYTES = re.compile(rb"[\x80-\xff]{2}")
_COMMON_GB2312 = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])*")
_SAMPLE_BYTES = 256_000
_SAMPLE_CHARS = 4000
_FEWEST_UTF16_BYTES = 16


def decode(data: bytes) -> TextFile | BinaryFile:
    """The text of a file, or what it is instead. Never raises, whatever the bytes."""
    marked = _decode_marked(data)
    if marked is not None:
        return marked
    if b"\0" not in data:
        try:
            return TextFile(data.decode())
        except UnicodeDecodeError:
            pass
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
    text = None if kind else _decode_bare_utf16(data) or _decode_legacy(data)
    return text or BinaryFile(kind or "unknown type", len(data))


def encode(file: TextFile) -> bytes:
    """The file's bytes. Raises `UnicodeEncodeError` where its encoding lacks a character."""
    return file.bom + file.text.encode(file.encoding)


def _decode_marked(data: bytes) -> TextFile | BinaryFile | None:
    """Text that says its encoding by a byte order mark."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                return TextFile(text, encoding, mark)
    return None


def _decode_bare_utf16(data: bytes) -> TextFile | None:
    """UTF-16 without a mark, where it is evident: a text of mostly ASCII, in units of two bytes.

    A few NULs in one half of the units are in binaries and damaged texts too. What was taken for
    UTF-16 wrongly would be rewritten as such.
    """
    if len(data) % 2 or len(data) < _FEWEST_UTF16_BYTES or data.count(b"\0") * 4 < len(data):
        return None
    even, odd = b"\0" in data[::2], b"\0" in data[1::2]
    if even and odd:
        return None
    encoding = "utf-16-be" if even else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    strange = any(
        unicodedata.category(char) in {"Cc", "Cn", "Co"} and char not in "\t\n\r\f"
        for char in text[:_SAMPLE_CHARS]
    )
    return None if strange else TextFile(text, encoding)


def _decode_legacy(data: bytes) -> TextFile | None:
    """Text of the time before Unicode, or UTF-8 with some broken bytes."""
    if _CONTROLS.search(data):
        return None
    damaged = _decode_damaged_utf8(data)
    if damaged is not None:
        return damaged
    for encoding in _guesses(data):
        try:
            text = data.decode(encoding)
            if text.encode(encoding) == data:
                return TextFile(text, encoding)
        except UnicodeError:
            continue
    return None


def _decode_damaged_utf8(data: bytes) -> TextFile | None:
    """Clearly UTF-8, by many whole characters for each broken byte; readable, not writable."""
    text = data.decode(errors="replace")
    broken = text.count("\ufffd")
    whole = sum(not char.isascii() for char in text) - broken
    return TextFile(text, exact=False) if whole >= 4 * broken else None


def _guesses(data: bytes) -> list[str]:
    """Encodings to try, the likeliest first."""
    if not _TWO_HIGH_BYTES.search(data):
        # Accented letters stand alone; the characters of East Asian encodings hardly ever do.
        return ["cp1252", "latin_1"]
    sample = data if len(data) <= _SAMPLE_BYTES else data[: data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1]
    found = [match.encoding for match in from_bytes(sample, cp_isolation=_LEGACY)]
    if found[:1] == ["big5"] and _COMMON_GB2312.fullmatch(sample):
        # In short texts the detector cannot tell; only common simplified characters decide it.
        found.insert(0, "gb18030")
    return found
