import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.hunks import diff_hunks
from pails.snapshots.merge import three_way

BASE = b"one\ntwo\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (
            b"one\ntwo\nthree\nfour\n5\n",
            b"1\ntwo\nthree\nfour\nfive\n",
            b"1\ntwo\nthree\nfour\n5\n",
        ),
        (b"0\n" + BASE, b"one\nthree\nfour\nfive\n", b"0\none\nthree\nfour\nfive\n"),
        (BASE + b"six\n", b"one\ntwo\n3\nfour\nfive\n", b"one\ntwo\n3\nfour\nfive\nsix\n"),
        (BASE, b"", b""),
        (b"", BASE, b""),
        (b"one\n2\nthree\nfour\nfive\n", b"one\n2\nthree\n4\nfive\n", b"one\n2\nthree\n4\nfive\n"),
        # next to each other
        (b"one\n2\nthree\nfour\nfive\n", b"one\ntwo\n3\nfour\nfive\n", b"one\n2\n3\nfour\nfive\n"),
    ],
)
def test_changes_of_different_lines_are_both_made(
    ours: bytes, theirs: bytes, merged: bytes
) -> None:
    result = three_way(BASE, ours, theirs)

    assert (result.data, result.conflicts) == (merged, ())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (b"one\n2\nthree\nfour\nfive\n", b"one\nzwei\nthree\nfour\nfive\n"),
        (b"one\n2\nthree\nfour\nfive\n", b"one\nthree\nfour\nfive\n"),
        (b"one\nthree\nfour\nfive\n", b"one\n2\nthree\nfour\nfive\n"),
        (b"one\ntwo\nx\nthree\nfour\nfive\n", b"one\ntwo\ny\nthree\nfour\nfive\n"),
    ],
)
def test_changes_of_the_same_lines_are_a_conflict_and_ours_stays(
    ours: bytes, theirs: bytes
) -> None:
    result = three_way(BASE, ours, theirs)

    assert result.data == ours
    assert len(result.conflicts) == 1


def test_what_is_no_conflict_is_made_beside_one() -> None:
    ours = b"one\n2\nthree\nfour\nfive\n"
    theirs = b"one\nzwei\nthree\nfour\n5\n"

    result = three_way(BASE, ours, theirs)

    assert result.data == b"one\n2\nthree\nfour\n5\n"
    assert [hunk.at.start for hunk in result.conflicts] == [1]


def test_every_line_keeps_its_end() -> None:
    base, ours = b"a\r\nb\nc\rd\r\ne", b"a\r\nb\nc\rD\r\ne"

    assert three_way(base, ours, b"A\r\nb\nc\rd\r\ne").data == b"A\r\nb\nc\rD\r\ne"


def test_a_last_line_without_an_end_does_not_run_into_the_next() -> None:
    """The agent added a final newline, the person a line behind it."""
    result = three_way(b"a\nb\n", b"a\nb\nmine\n", b"a\nb")

    assert result.data == b"a\nb\nmine\n"
    assert result.conflicts


def test_large_texts_are_compared_in_no_time() -> None:
    """Equal lines by the thousand: comparing every pair of them would take minutes."""
    base = b"x\n" * 50_000
    result = three_way(base, b"mine\n" + base, base + b"theirs\n")

    assert result.data == b"mine\n" + base + b"theirs\n"


texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d\r"]), max_size=8).map(
    b"".join
)


@given(texts, texts, texts)
def test_ours_is_never_lost(base: bytes, ours: bytes, theirs: bytes) -> None:
    """With no changes of theirs left, what comes out is ours, whatever the base."""
    result = three_way(base, ours, theirs)

    assert three_way(base, ours, base).data == ours
    wanted = diff_hunks(base.decode(), theirs.decode())
    assert result.data == ours or len(result.conflicts) < len(wanted)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_wide_encodings_are_merged_as_text(encoding: str) -> None:
    base, ours, theirs = (
        text.encode(encoding)
        for text in (
            "one\nčĊ\nthree of many words\n",
            "one\nčĊ\n3 of many words\n",
            "1\nčĊ\nthree of many words\n",
        )
    )

    result = three_way(base, ours, theirs)

    assert result is not None
    assert result.data == "1\nčĊ\n3 of many words\n".encode(encoding)


def test_what_is_no_text_is_not_merged() -> None:
    assert three_way(b"\0a", b"\0b", b"\0c") is None
    assert three_way(b"\0a", b"\0b", b"\0a") is not None
