"""Whatever the file and whatever the edit: bytes that were not meant stay as they are."""

import codecs
import tempfile
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pails.host.encodings import TextFile, decode, encode
from pails.tools.edit_file import EditFile
from pails.tools.files.documents import Documents
from pails.tools.patch import ApplyPatch
from pails.tools.text.edit import EditError, apply_changes, changes_between, find_edit
from tests.support.calls import call

CHARS = "ab \t=\r\n\r\n\n中日é😀\u2028\x0c"
MARKS = {
    "utf-8": (b"", codecs.BOM_UTF8),
    "utf-16-le": (codecs.BOM_UTF16_LE,),
    "utf-16-be": (codecs.BOM_UTF16_BE,),
    "utf-32-le": (codecs.BOM_UTF32_LE,),
}
TEXTS = st.text(st.sampled_from(CHARS), max_size=60)


@st.composite
def file_bytes(draw: st.DrawFn) -> bytes:
    """Any bytes at all, or text with mixed line ends in an encoding with its mark."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=80))
    encoding = draw(st.sampled_from(sorted(MARKS)))
    return draw(st.sampled_from(MARKS[encoding])) + draw(TEXTS).encode(encoding)


@st.composite
def edits(draw: st.DrawFn) -> tuple[bytes, TextFile, int, int, str]:
    """A file, a span of its text that occurs once, and what it becomes."""
    data = draw(file_bytes())
    file = decode(data)
    assume(isinstance(file, TextFile) and file.exact and file.text)
    assert isinstance(file, TextFile)
    start = draw(st.integers(0, len(file.text) - 1))
    end = draw(st.integers(start + 1, len(file.text)))
    assume(not file.text[:start].endswith("\r"))  # the span begins or ends between two halves
    assume(not (file.text[:end].endswith("\r") and file.text[end:].startswith("\n")))
    return data, file, start, end, draw(st.text("xyz中", max_size=5))


@settings(max_examples=150)
@given(edits())
def test_bytes_outside_of_an_edit_are_kept(edit):
    data, file, start, end, new = edit
    old = file.text[start:end]
    plan = find_edit(file.text, old, new)
    assume(not isinstance(plan, EditError))
    assert not isinstance(plan, EditError)
    after = TextFile(apply_changes(file.text, plan.changes), file.encoding, file.bom)
    try:
        written, middle = encode(after), new.encode(file.encoding)
    except UnicodeEncodeError:
        return
    if plan.note:
        return
    before = file.bom + file.text[:start].encode(file.encoding)
    behind = file.text[end:].encode(file.encoding)
    assert before + old.encode(file.encoding) + behind == data
    assert written == before + middle + behind


@settings(max_examples=60, deadline=None)
@given(edits())
async def test_the_tools_write_just_these_bytes(edit):
    data, file, start, end, new = edit
    old = file.text[start:end]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name).resolve() / "a"
        path.write_bytes(data)
        result = await call(EditFile(Documents()), path.parent, path="a", old=old, new=new)
        if result.is_error:
            assert path.read_bytes() == data
        elif "Approximate" not in result.text and "line end" not in result.text:
            before = file.bom + file.text[:start].encode(file.encoding)
            behind = file.text[end:].encode(file.encoding)
            assert path.read_bytes() == before + new.encode(file.encoding) + behind


LINES = st.lists(st.sampled_from(["a", "b ", "\tc", "中", "", "😀"]), min_size=2, max_size=9)
ENDS = st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=9, max_size=9)


@settings(max_examples=60, deadline=None)
@given(LINES, ENDS, st.booleans())
async def test_a_patch_keeps_the_lines_around_it(lines, ends, has_end):
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    head, tail = f"HEAD{ends[0]}", "tail\r\n" if has_end else "tail"
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-HEAD\n+head\n*** End Patch"
    with tempfile.TemporaryDirectory() as name:
        path = Path(name).resolve() / "a"
        path.write_bytes((text + head + text + tail).encode("utf-8-sig"))
        result = await call(ApplyPatch(Documents()), path.parent, patch=patch)
        assert not result.is_error, result.text
        expected = text + head.replace("HEAD", "head") + text + tail
        assert path.read_bytes() == expected.encode("utf-8-sig")


@given(TEXTS, TEXTS)
def test_changes_lead_from_one_text_to_the_other(before, after):
    changes = changes_between(before, after)
    assert apply_changes(before, changes) == after
    assert all(before[: change.start].endswith(("\n", "\r")) for change in changes if change.start)
