"""The session log: what is written comes back, whatever a crash left behind."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.errors import StorageError
from pails.core.events import (
    Event,
    FileChanged,
    Mode,
    Notice,
    Problem,
    SessionCreated,
    SourcePosition,
    SyntaxChecked,
    UserMessageAdded,
)
from pails.core.messages import UserMessage
from pails.session.codec import Record, decode_record, encode_record
from pails.session.journal import Journal, load

EVENTS: list[Event] = [
    SessionCreated("/w", Mode.ASK, "m"),
    UserMessageAdded("t1", UserMessage("日本語 \u2028 \u0085 \x0c 😀\r\n\x1e")),
    FileChanged("t1", "c1", "/w/a", "-x\n+y\n", 1, 1, "disk", saved=True),
    SyntaxChecked(
        "t1", "c1", "/w/a", "python",
        (Problem(SourcePosition(1, 2), SourcePosition(1, 3), "missing \")\"", "f(1"),), 2,
    ),
]  # fmt: skip


def write(path: Path, events: list[Event]) -> None:
    journal = Journal(path)
    for event in events:
        journal.append(event)
    journal.close()


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "s.jsonl"
    write(path, EVENTS)
    loaded = load(path)
    assert [record.event for record in loaded.records] == EVENTS
    assert [record.seq for record in loaded.records] == [1, 2, 3, 4]
    assert loaded.repaired == ()
    assert path.stat().st_mode & 0o777 == 0o600


@given(st.text())
def test_a_record_is_one_line_for_every_reader(text: str) -> None:
    event = Notice("info", text.encode("utf-8", "replace").decode())
    line = encode_record(Record(1, 0.0, event))
    assert line.decode().count("\n") == 1
    assert not {"\u2028", "\u2029", "\u0085"} & set(line.decode())
    assert decode_record(line).event == event


def test_a_tail_torn_at_any_byte_costs_that_record_only(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    write(whole, EVENTS)
    data = whole.read_bytes()
    last = data[:-1].rfind(b"\n") + 1
    for cut in range(last + 1, len(data)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(data[:cut])
        journal, loaded = Journal.reopen(path)
        assert [record.event for record in loaded.records] == EVENTS[:-1]
        assert str(cut - last) in loaded.repaired[0]
        journal.append(Notice("info", "after the repair"))
        assert journal.last_seq == 4
        journal.close()
        assert load(path).records[-1].event == Notice("info", "after the repair")


def test_a_bad_record_in_the_middle_is_skipped_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, EVENTS)
    lines = path.read_bytes().split(b"\n")
    lines[1] = b'{"seq":2,"time":1.0,"event":{"kind":"whoKnows"},"v":1}'
    lines[2] = b"\x00\xff garbage"
    path.write_bytes(b"\n".join(lines))
    loaded = load(path)
    assert [record.seq for record in loaded.records] == [1, 4]
    assert "2 unreadable" in loaded.repaired[0]
    assert b"garbage" in path.read_bytes()


@pytest.mark.parametrize(
    ("seq", "time"),
    [("9" * 23, "1.0"), ("0", "1.0"), ("-1", "1.0"), ("2", "1.0"), ("3", "1e999"), ("3", "NaN")],
)
def test_a_record_with_an_impossible_number_or_time_is_skipped(
    tmp_path: Path, seq: str, time: str
) -> None:
    path = tmp_path / "s.jsonl"
    write(path, EVENTS)
    lines = path.read_bytes().split(b"\n")
    event = '{"kind":"notice","level":"info","text":"x"}'
    lines[2] = f'{{"seq":{seq},"time":{time},"event":{event},"v":1}}'.encode()
    path.write_bytes(b"\n".join(lines))
    journal, loaded = Journal.reopen(path)
    journal.append(Notice("info", "next"))
    journal.close()
    assert [record.seq for record in loaded.records] == [1, 2, 4]
    assert "1 unreadable" in loaded.repaired[0]
    assert load(path).records[-1].seq == 5


def test_a_log_without_a_readable_record_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"not ours\n")
    with pytest.raises(StorageError, match="left as it is"):
        load(path)
    assert path.read_bytes() == b"not ours\n"


@pytest.mark.parametrize("data", [b"not ours\n", b"not even a line", b""])
def test_a_log_that_cannot_be_reopened_is_left_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    with pytest.raises(StorageError, match="left as it is"):
        Journal.reopen(path)
    assert path.read_bytes() == data


def test_reading_a_log_in_use_cuts_nothing_off(tmp_path: Path) -> None:
    """Its last line may be half written just then, by the journal that owns it."""
    path = tmp_path / "s.jsonl"
    write(path, EVENTS)
    data = path.read_bytes()
    path.write_bytes(data[:-3])
    assert [record.seq for record in load(path).records] == [1, 2, 3]
    assert path.read_bytes() == data[:-3]


def test_what_could_not_be_written_is_written_in_front_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, EVENTS[:1])
    journal, _ = Journal.reopen(path)
    for event in EVENTS[1:3]:
        journal.owe(event)
    assert [record.seq for record in journal.owed] == [2, 3]
    assert [record.seq for record in load(path).records] == [1]
    journal.append(EVENTS[3])
    assert journal.last_seq == 4
    journal.close()
    assert [(r.seq, r.event) for r in load(path).records] == list(enumerate(EVENTS, 1))
    assert journal.owed == ()


def test_a_full_disk_is_an_error_and_leaves_no_half_record() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    journal = Journal(full)
    with pytest.raises(StorageError, match="No space left on device"):
        journal.append(EVENTS[0])
    assert journal.last_seq == 0
    journal.close()
