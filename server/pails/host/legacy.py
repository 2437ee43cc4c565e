"""Which encoding of the time before Unicode a text is in: a guess by the form of its bytes.

Statistics need long texts. Short ones, such as a file with one comment in Chinese, are told by
where the standards put what is written often: the common characters of GB 2312 lie in the rows B0
to D7, Korean syllables in B0 to C8, kana in rows of their own, Russian small letters from E0 on.
"""

import re

from charset_normalizer import from_bytes

_DETECTED = ["gb18030", "cp932", "euc_jp", "euc_kr", "big5", "cp1252", "cp1251", "latin_1"]
_LAST = ["gb18030", "cp932", "euc_kr", "big5"]
_SAMPLE_BYTES = 256_000

# A byte below 0x30 is a character by itself in every encoding of East Asia.
_ENDS_WHOLE = re.compile(rb".*[\x00-\x2f]", re.DOTALL)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_PAIR = re.compile(rb"([\x81-\xfe])[\x40-\xa0]|([\xa1-\xfe])([\xa1-\xfe])")
_KANA_IN_SHIFT_JIS = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]")
_LATIN = re.compile(  # a small letter or a quotation mark, or two or three letters within a word
    rb"(?<![\x80-\xff])(?:[\x80-\xa0\xab\xbb\xdf-\xff]|(?<=[A-Za-z])[\xdf-\xff]{2,3}"
    rb"|[\xdf-\xff]{2,3}(?=[A-Za-z]))(?![\x80-\xff])"
)
_SMALL_RUSSIAN = re.compile(rb"[\xb8\xe0-\xff]")
_MOST = 0.75
_COMMON = 0.85
"""What share of a text common characters have at least."""
_FEWEST_KOREAN = 3
"""Fewer syllables than this may as well be two Chinese characters of the first rows."""


def guesses(data: bytes) -> list[str]:
    """Encodings to try, the likeliest first. `data` is no UTF-8."""
    sample = data if len(data) <= _SAMPLE_BYTES else whole_characters(data[:_SAMPLE_BYTES])
    runs = _HIGH_RUN.findall(sample)
    high = b"".join(runs)
    kana = len(_KANA_IN_SHIFT_JIS.findall(sample))
    if kana > 1 and kana * 4 >= len(high):
        likely = ["cp932"]
    elif _is_latin(sample, runs):
        return ["cp1252", "latin_1"]
    else:
        likely = ["cp1251"] if _is_russian(runs, high) else _in_pairs(sample)
    detected = [match.encoding for match in from_bytes(sample, cp_isolation=_DETECTED)]
    return [*likely, *detected, *(["cp932"] if kana else []), *_LAST]


def whole_characters(data: bytes) -> bytes:
    """Data that is cut, up to its last whole character in any of these encodings."""
    found = _ENDS_WHOLE.match(data)
    return found[0] if found else data


def _is_latin(sample: bytes, runs: list[bytes]) -> bool:
    """Accented letters mostly stand alone; the characters of East Asian encodings hardly ever."""
    if all(len(run) == 1 for run in runs):
        return True
    latin = sum(len(run) for run in _LATIN.findall(sample))
    return latin * 2 >= sum(len(run) for run in runs)


def _is_russian(runs: list[bytes], high: bytes) -> bool:
    """Whole words without ASCII, of which most letters are small."""
    in_words = sum(len(run) for run in runs if len(run) > 2)
    small = len(_SMALL_RUSSIAN.findall(high))
    return min(in_words, small) >= _MOST * len(high)


def _in_pairs(sample: bytes) -> list[str]:
    """Chinese, Korean, and Japanese of Unix: two bytes a character, both above A0."""
    rows = [pair[1] for pair in _PAIR.findall(sample)]
    letters = [row for row in rows if not b"\xa1" <= row <= b"\xaf"]
    kana = sum(row in (b"\xa4", b"\xa5") for row in rows)
    if kana * 4 >= len(rows):
        return ["euc_jp"] if rows else []
    korean = sum(b"\xb0" <= row <= b"\xc8" for row in letters)
    if korean == len(letters) >= _FEWEST_KOREAN:
        return ["euc_kr"]
    chinese = sum(b"\xb0" <= row <= b"\xd7" for row in letters)
    return ["gb18030"] if letters and chinese >= _COMMON * len(letters) else []
