"""What `read_file` and `list_dir` answer: any size, any kind of file, any mistaken path."""

import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pails.host.files import MAX_READ_BYTES
from pails.tools.edit_file import EditFile
from pails.tools.files.documents import Documents
from pails.tools.list_dir import ListDir
from pails.tools.read_file import ReadFile
from tests.support.calls import call


async def read(folder, **arguments):
    return await call(ReadFile(Documents()), folder, **arguments)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file larger than any that is held, with Chinese lines and one very long line at the end."""
    path = tmp_path_factory.mktemp("large") / "large.log"
    rest = "x" * 50
    path.write_text(
        "".join(f"第 {n} 行 {rest}\n" for n in range(1, 900_001)) + "x" * 100_000 + "END"
    )
    assert path.stat().st_size > MAX_READ_BYTES
    yield path
    path.unlink()


async def test_every_part_of_a_file_of_any_size_is_reached(large):
    folder = large.parent
    first = await read(folder, path="large.log")
    assert not first.is_error
    assert re.match(
        r"\[too large to be edited; lines 1-\d+ of a file of \d\d\.\d MB; next: offset=(\d+)\]\n"
        r"1\t第 1 行",
        first.text,
    )
    middle = await read(folder, path="large.log", offset=600_000, limit=1)
    assert "\n600000\t第 600000 行 x" in middle.text
    last = await read(folder, path="large.log", offset=900_000)
    assert last.text.endswith("… [100,003 characters; next: offset=900001 column=2001]")
    end = await read(folder, path="large.log", offset=900_001, column=100_001)
    assert end.text.endswith(
        "[too large to be edited; line 900001, columns 100001-100003 of 100,003]\n900001\tEND"
    )
    beyond = await read(folder, path="large.log", offset=900_002)
    assert beyond.is_error
    assert "no line 900002: 900,001 lines, a file of" in beyond.text


async def test_a_file_that_is_too_large_is_not_edited_and_stays(large):
    before = large.stat()
    result = await call(EditFile(Documents()), large.parent, path=large.name, old="END", new="X")
    assert result.is_error
    assert "more than 50,000,000. Nothing was written." in result.text
    assert large.stat().st_mtime_ns == before.st_mtime_ns


async def test_a_large_binary_is_named_as_such(tmp_path):
    with (tmp_path / "a.iso").open("wb") as file:
        file.truncate(MAX_READ_BYTES + 1)
    result = await read(tmp_path, path="a.iso")
    assert result.is_error
    assert result.text == "a.iso is binary: 50,000,001 bytes, unknown type."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "gb18030", "cp932", "latin-1"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(text=st.text(st.sampled_from("aé \n\r中日\t=あ"), max_size=60))
async def test_an_edit_keeps_encoding_and_mark_of_any_text(tmp_path, encoding, text):
    data = f"{text}\nneedle = 1\n".encode(encoding, "replace")
    (tmp_path / "a").write_bytes(data)
    result = await call(EditFile(Documents()), tmp_path, path="a", old="needle", new="thread")
    assert not result.is_error, result.text
    old, new = "needle".encode(encoding)[-6:], "thread".encode(encoding)[-6:]
    if encoding in ("utf-16", "utf-32"):
        old, new = ("needle".encode(f"{encoding}-le"), "thread".encode(f"{encoding}-le"))
    assert (tmp_path / "a").read_bytes() == data.replace(old, new)


async def test_a_wrong_folder_is_answered_with_the_like_of_it(tmp_path):
    (tmp_path / "server" / "pails").mkdir(parents=True)
    (tmp_path / "server" / "pails" / "app.py").touch()
    for tool in (ReadFile(Documents()), ListDir()):
        result = await call(tool, tmp_path, path="servr/pails/app.py")
        assert result.is_error
        assert result.text == (
            "servr/pails/app.py does not exist, nor does its folder. Similar: server."
        )
    result = await read(tmp_path, path="server/pial/x/app.py")
    assert result.text.endswith("nor does its folder. Similar: server/pails.")
    result = await read(tmp_path, path="quite/other.py")
    assert result.text == (
        "quite/other.py does not exist, nor does its folder; the workspace has nothing similar. "
        "See list_dir or glob."
    )


async def test_a_special_file_is_said_to_be_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = await read(tmp_path, path="pipe")
    assert (result.is_error, result.text) == (True, "pipe cannot be read: is not a regular file.")
