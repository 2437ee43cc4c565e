"""Numbers in sentences."""

from pails.core.numbers import counted, shown_size


def test_one_thing_is_no_plural() -> None:
    assert [counted(number, "file") for number in (0, 1, 2000)] == [
        "0 files",
        "1 file",
        "2,000 files",
    ]
    assert [counted(number, "match", "matches") for number in (1, 2)] == ["1 match", "2 matches"]


def test_sizes() -> None:
    assert [shown_size(n) for n in (0, 999, 1000, 2_500_000, 7 * 10**9)] == [
        "0 B", "999 B", "1.0 KB", "2.5 MB", "7.0 GB",
    ]  # fmt: skip
