"""Texts kept by their contents."""

import os
import resource
import signal
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails.core.errors import StorageError
from pails.host.texts import TextStore


@pytest.fixture
def store(tmp_path: Path) -> TextStore:
    return TextStore(tmp_path / "deep" / "texts")


@given(text=st.text(st.characters(codec=None)))
def test_a_text_comes_back_as_it_was(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = TextStore(tmp_path_factory.getbasetemp() / "texts")
    assert store.get(store.keep(text)) == text


def test_the_same_text_is_kept_once_and_for_this_person_alone(
    store: TextStore, tmp_path: Path
) -> None:
    assert store.keep("one\n") == store.keep("one\n") != store.keep("two\n")
    files = list((tmp_path / "deep" / "texts").iterdir())
    assert len(files) == 2
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)


def test_two_may_keep_the_same_at_once(store: TextStore) -> None:
    text = "x" * 200_000
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(store.keep, [text] * 32))
    assert [store.get(text_id) for text_id in ids] == [text]


def test_what_is_not_kept_or_damaged_says_so(store: TextStore, tmp_path: Path) -> None:
    text_id = store.keep("one\n")
    [file] = (tmp_path / "deep" / "texts").iterdir()
    file.write_bytes(b"no zlib")
    with pytest.raises(StorageError, match="cannot be read"):
        store.get(text_id)
    file.write_bytes(zlib.compress(b"other"))
    with pytest.raises(StorageError, match="damaged"):
        store.get(text_id)
    file.unlink()
    with pytest.raises(StorageError, match="no longer"):
        store.get(text_id)
    with pytest.raises(StorageError, match="not kept"):
        store.get("../../etc/passwd")


def test_a_damaged_text_is_kept_anew(store: TextStore, tmp_path: Path) -> None:
    text_id = store.keep("one\n")
    [file] = (tmp_path / "deep" / "texts").iterdir()
    file.write_bytes(b"")
    assert store.keep("one\n") == text_id
    assert store.get(text_id) == "one\n"


def test_half_a_write_leaves_nothing_behind(store: TextStore, tmp_path: Path) -> None:
    store.keep("one\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StorageError, match="not written"):
            store.keep("".join(map(str, range(5000))))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert len(os.listdir(tmp_path / "deep" / "texts")) == 1


def test_a_name_that_cannot_be_given_is_said_and_leaves_nothing(
    store: TextStore, tmp_path: Path
) -> None:
    text_id = store.keep("one\n")
    folder = tmp_path / "deep" / "texts"
    [file] = folder.iterdir()
    file.unlink()
    (file / "taken").mkdir(parents=True)
    with pytest.raises(StorageError, match="not kept"):
        store.keep("one\n")
    assert os.listdir(folder) == [f"{text_id}.z"]
