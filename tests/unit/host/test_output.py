"""What a command printed, made readable, and the file that keeps all of it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.host.output import LONG_LINE, LineReader, decode, strip_controls
from pails.host.spill import SpillFile


def read(*chunks: bytes) -> str:
    reader = LineReader()
    return "".join(reader.feed(chunk) for chunk in chunks) + reader.finish()


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mx\x1b[K\x1b[2J\x1b[?25l", "x"),
        ("\x1b]8;;http://a/b\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b(Bplain\x1b=\x1b7", "plain"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x1b]no end", "no end"),
        ("a\x1b", "a"),
        ("bell\x07 \x0f\x7f", "bell "),
        ("a\0b\0", "a␀b␀"),
        ("|\b/\b-\bdone", "done"),
        ("N\bNA\bAM\bME\bE", "NAME"),
        ("0%\r50%\r100%\n", "0%\n100%\n"),
        ("0%\r50%\r100%\r", "0%\n100%"),
        ("\r\r1%\r   \r2%\r   \r\nnext", "1%\n2%\nnext"),
        ("\x1b[2K\x1b[1Gone\x1b[2K\x1b[1Gtwo\x1b[2K\x1b[1Gthree\n", "one\nthree\n"),
        ("same\rsame\n", "same\n"),
        ("dos\r\nlines\r\r\n", "dos\nlines\n"),
        ("tab\tkept \x0c\n", "tab\tkept \x0c\n"),
    ],
)
def test_what_a_terminal_would_show(printed, shown):
    assert strip_controls(printed) == shown
    assert read(printed.encode()) == shown
    assert read(*[bytes([byte]) for byte in printed.encode()]) == shown


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"ok\n" + "中文\n".encode("gbk") + "名前😀\n".encode(), "ok\n中文\n名前😀\n"),
        (b"caf\xe9\n", "caf\\xe9\n"),  # no encoding of ours: shown as the bytes it is
        (b"\xff\xfe\n", "\\xff\\xfe\n"),
        ("\u2028 \x85 \ufeff\n".encode(), "\u2028 \x85 \ufeff\n"),
    ],
)
def test_only_a_line_that_is_not_utf8_is_read_otherwise(data, text, monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "UTF-8")
    assert decode(data) == text


def test_the_locale_comes_before_gbk(monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "cp1252")
    assert decode("café ÄÖ\n".encode("cp1252")) == "café ÄÖ\n"


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_valid_text_is_never_altered_wherever_it_is_cut(text, cuts):
    data = text.encode()
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[a:b] for a, b in pairwise(borders)]
    assert read(*chunks) == text


@pytest.mark.parametrize("unit", ["x", "汉", "😀", "é ", "a\u0301"])
def test_a_line_without_end_is_passed_on_whole_and_in_bounded_pieces(unit):
    line = unit * (3 * LONG_LINE // len(unit.encode()))
    reader = LineReader()
    pieces = [reader.feed(line.encode()[n : n + 1000]) for n in range(0, len(line.encode()), 1000)]
    assert max(map(len, pieces)) <= LONG_LINE + 1000
    assert "".join(pieces) + reader.finish() == line


def test_a_gbk_line_without_end_is_read_in_pieces():
    line = "中文 输出, " * 20_000
    data = line.encode("gbk")
    assert read(*[data[n : n + 4096] for n in range(0, len(data), 4096)]) == line


def test_colours_in_a_line_without_end_are_not_cut_apart():
    data = b"\x1b[31mred\x1b[0m" * 30_000
    assert read(*[data[n : n + 777] for n in range(0, len(data), 777)]) == "red" * 30_000


def test_hours_of_progress_are_two_lines():
    data = b"".join(b"\r%6d of 100000" % n for n in range(100_001)) + b"\n"
    chunks = [data[n : n + 5000] for n in range(0, len(data), 5000)]
    assert read(*chunks) == "     0 of 100000\n100000 of 100000\n"


def test_the_file_ends_at_its_quota_with_a_whole_character(tmp_path):
    spill = SpillFile(tmp_path / "out", quota=100_000)
    for _ in range(50):
        spill.write("汉" * 1000)
    assert spill.close(keep=True) == tmp_path / "out"
    assert (tmp_path / "out").read_text("utf-8") == "汉" * 33_333
    assert not spill.complete


def test_an_unwanted_file_goes(tmp_path):
    spill = SpillFile(tmp_path / "out")
    spill.write("x" * 1_000_000)
    assert (tmp_path / "out").exists()
    assert spill.close(keep=False) is None
    assert not (tmp_path / "out").exists()


def test_an_existing_file_is_never_overwritten(tmp_path):
    (tmp_path / "out").write_text("mine")
    spill = SpillFile(tmp_path / "out")
    spill.write("x" * 1_000_000)
    assert spill.close(keep=True) is None
    assert spill.failure
    assert (tmp_path / "out").read_text() == "mine"


def test_a_long_run_of_carriage_returns_is_read_in_linear_time() -> None:
    assert read(b"\r" * 300_000) == ""
    assert read(b"a" + b"\r" * 300_000 + b"\nb\n") == "a\nb\n"
