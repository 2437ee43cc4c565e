"""Encodings: what each kind of file is taken for, and that its bytes come back."""

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.host.encodings import BinaryFile, TextFile, decode, encode
from tests.support import zoo


@pytest.mark.parametrize("animal", zoo.TEXTS, ids=lambda animal: animal.name)
def test_text_is_decoded_and_its_bytes_come_back(animal):
    file = decode(animal.data)
    assert isinstance(file, TextFile)
    assert file.encoding == animal.encoding
    assert not file.text.startswith("\ufeff")
    assert encode(file) == animal.data


@pytest.mark.parametrize(("data", "kind"), zoo.BINARIES)
def test_binary_is_named(data, kind):
    assert decode(data) == BinaryFile(kind, len(data))


@given(st.binary(max_size=200))
def test_no_bytes_raise_and_what_is_exact_comes_back(data):
    file = decode(data)
    if isinstance(file, TextFile) and file.exact:
        assert encode(file) == data


@given(st.text(max_size=200).filter(lambda text: "\0" not in text and text[:1] != "\ufeff"))
def test_every_utf8_text_is_taken_for_utf8(text):
    assert decode(text.encode()) == TextFile(text)


def test_a_broken_byte_in_utf8_makes_the_text_readable_but_not_writable():
    file = decode(zoo.DAMAGED_UTF8)
    assert isinstance(file, TextFile)
    assert (file.encoding, file.exact) == ("utf-8", False)
    assert "bad \ufffd byte" in file.text


def test_a_mark_is_written_once():
    file = decode(zoo.BOM)
    assert isinstance(file, TextFile)
    assert encode(replace(file, text="x")) == b"\xef\xbb\xbfx"


def test_utf16_that_does_not_decode_is_binary():
    assert isinstance(decode(b"\xff\xfeh\x00i"), BinaryFile)


@pytest.mark.parametrize(
    "data",
    [
        b"b = 2\n\0\n",
        b"x = 1\n" * 6 + b"\0\n",
        b"x = 1\n" * 50 + b"\0\n",
        b"\0\n",
        b"a\0b\0",
        b"\0" * 64,
        b"a\0" * 40 + b"xy" * 60,
        b"one line of ascii text\n\n\0\n" * 4,
    ],
)
def test_a_few_nuls_make_no_utf16(data):
    assert isinstance(decode(data), BinaryFile)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "hi\n",
        "key = value\r\n",
        'name = "汉字"\n',
        "Straße größer\n" * 500,
        "こんにちは世界、これはテストです。\n",
        "这是一个没有标记的文件，全是中文。\n第二行也是。\n",
        "한국어 문서입니다. 두 번째 줄.\n",
        "Это файл без метки.\n",
    ],
)
def test_utf16_without_a_mark_is_text_where_it_convinces(text, encoding):
    assert decode(text.encode(encoding)) == TextFile(text, encoding)


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["key = value\r\n", "日本語😀\n"])
def test_utf32_without_a_mark_is_text(text, encoding):
    assert decode(text.encode(encoding)) == TextFile(text, encoding)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<50i", *range(50)),
        struct.pack("<50i", *range(1000, 1050)),
        struct.pack("<20d", *(n / 7 for n in range(20))),
        struct.pack("<20f", *(float(n) for n in range(20))),
        b"name\0other\0third\0" * 5,
    ],
)
def test_numbers_and_lists_with_nuls_are_binary(data):
    assert isinstance(decode(data), BinaryFile)
