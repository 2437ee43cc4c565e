"""Texts that are too large to be held: encoding, pieces, and what is no text."""

from pathlib import Path

import pytest

from pails.host.encodings import BinaryFile, TextFile, decode
from pails.host.large_text import TextPieces, text_pieces
from tests.support import zoo

# Beyond the part from which the encoding is told, cut at odd places of its characters.
LONG = "行 {n}: 日本語のテキスト, наконец, 😀\n"
CHINESE = "第{n}行：这是一个很长的文件，没有什么特别的内容。\n"
JAPANESE = "{n}行目: これは長いファイルです。特別な内容はありません。\n"


def long_text(line: str) -> str:
    return "".join(line.format(n=n) for n in range(20_000))


def whole(path: Path) -> tuple[str, str]:
    """The encoding and the text."""
    with text_pieces(path) as found:
        assert isinstance(found, TextPieces)
        return found.encoding, "".join(found.pieces)


@pytest.mark.parametrize("animal", zoo.TEXTS, ids=lambda animal: animal.name)
def test_small_texts_are_what_they_are_as_a_whole(tmp_path, animal):
    (tmp_path / "a").write_bytes(animal.data)
    file = decode(animal.data)
    assert isinstance(file, TextFile)
    assert whole(tmp_path / "a") == (animal.encoding, file.text)


@pytest.mark.parametrize(
    ("line", "encoding", "mark", "name"),
    [
        (LONG, "utf-8", b"", "utf-8"),
        (LONG.replace("\n", "、").replace(" ", "　"), "utf-8", b"", "utf-8"),
        (LONG, "utf-8", b"\xef\xbb\xbf", "utf-8"),
        (LONG, "utf-16-le", b"\xff\xfe", "utf-16-le"),
        ("😀" * 10, "utf-16-be", b"\xfe\xff", "utf-16-be"),
        ("x😀" * 10, "utf-16-le", b"\xff\xfe", "utf-16-le"),
        (LONG, "utf-32-le", b"\xff\xfe\0\0", "utf-32-le"),
        ("key {n} = value\n", "utf-16-le", b"", "utf-16-le"),
        (CHINESE, "gbk", b"", "gb18030"),
        (CHINESE.replace("\n", ", "), "gbk", b"", "gb18030"),
        (JAPANESE, "cp932", b"", "cp932"),
        ("ligne {n}, café\r\n", "latin-1", b"", "cp1252"),
    ],
)
def test_a_long_text_is_decoded_though_its_beginning_is_cut_anywhere(
    tmp_path, line, encoding, mark, name
):
    text = long_text(line)
    for shift in ("", "a"):
        (tmp_path / "a").write_bytes(mark + (shift + text).encode(encoding))
        assert whole(tmp_path / "a") == (name, shift + text)


def test_bytes_that_do_not_fit_are_shown_as_what_they_are(tmp_path):
    (tmp_path / "a").write_bytes(b"plain\n" * 100_000 + b"caf\xe9\n")
    assert whole(tmp_path / "a")[1].endswith("plain\ncaf\\xe9\n")


def test_binaries_are_named_with_their_whole_size(tmp_path):
    data = zoo.PNG + bytes(range(256)) * 2000
    (tmp_path / "a").write_bytes(data)
    with text_pieces(tmp_path / "a") as found:
        assert found == BinaryFile("PNG image", len(data))


@pytest.mark.parametrize(
    ("data", "line_end"), [(b"a\rb\rc", "\r"), (b"a\r\nb", "\n"), (b"a", "\n")]
)
def test_the_line_end_is_told_from_the_beginning(tmp_path, data, line_end):
    (tmp_path / "a").write_bytes(data)
    with text_pieces(tmp_path / "a") as found:
        assert isinstance(found, TextPieces)
        assert (found.line_end, found.size) == (line_end, len(data))


def test_what_is_no_file_cannot_be_opened(tmp_path):
    with pytest.raises(IsADirectoryError), text_pieces(tmp_path):
        pass
    with pytest.raises(FileNotFoundError), text_pieces(tmp_path / "none"):
        pass
