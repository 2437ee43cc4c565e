from pathlib import Path

import pygit2
from hypothesis import given
from hypothesis import strategies as st

from pails.snapshots.entries import FILE, FOLDER, LINK, PROGRAM, Entry, blob_id, is_below, parents
from pails.snapshots.objects import Objects
from pails.snapshots.trees import Edits, compare, edited, entry_at, parse, set_edit, walk

names = st.binary(min_size=1, max_size=4).filter(
    lambda raw: not {*raw} & {0, 47} and raw not in (b".", b"..", b".git")
)
entries = st.builds(
    Entry, st.sampled_from([FILE, PROGRAM, LINK]), st.binary(max_size=9).map(blob_id)
)
paths = st.lists(names.map(lambda raw: raw.decode("utf-8", "surrogateescape")), max_size=3).map(
    "/".join
)


class Memory:
    """Trees in a dictionary."""

    def __init__(self) -> None:
        self.trees: dict[str, bytes] = {}

    def read(self, id: str) -> bytes:
        return self.trees[id]

    def write(self, data: bytes) -> str:
        id = blob_id(b"tree" + data)
        self.trees[id] = data
        return id


def build(memory: Memory, files: dict[str, Entry]) -> str:
    edits: Edits = {}
    for path, entry in files.items():
        set_edit(edits, path, entry)
    return edited(None, edits, memory.read, memory.write) or memory.write(b"")


trees = st.dictionaries(paths.filter(bool), entries, max_size=6).filter(
    lambda files: not any(a != b and is_below(a, b) for a in files for b in files)
)


@given(trees)
def test_a_tree_has_what_was_put_into_it(files: dict[str, Entry]) -> None:
    memory = Memory()
    tree = build(memory, files)

    assert dict(walk(tree, memory.read)) == files
    assert all(entry_at(tree, path, memory.read) == entry for path, entry in files.items())


@given(trees, trees)
def test_the_differences_lead_from_one_tree_to_the_other(
    old: dict[str, Entry], new: dict[str, Entry]
) -> None:
    memory = Memory()
    one, other = build(memory, old), build(memory, new)
    deltas = list(compare(one, other, memory.read))

    edits: Edits = {}
    for delta in sorted(deltas, key=lambda delta: delta.new is not None):
        set_edit(edits, delta.path, delta.new)
    assert (edited(one, edits, memory.read, memory.write) or memory.write(b"")) == other
    assert {delta.path for delta in deltas} == {
        path for path in old.keys() | new.keys() if old.get(path) != new.get(path)
    }


def test_trees_are_those_that_git_would_write(tmp_path: Path) -> None:
    """Among others: `a` as a folder stands behind `a.b`, as a file before it."""
    objects = Objects.create(tmp_path / "store")
    blob = objects.write_blob(b"")
    inner = objects.write_tree(b"100644 x\0" + bytes.fromhex(blob))
    repository = pygit2.Repository(str(tmp_path / "store"))
    builder = repository.TreeBuilder()
    for name, id, mode in [
        ("a", inner, FOLDER),
        ("a.b", blob, FILE),
        ("a0", blob, PROGRAM),
        ("é", blob, LINK),
    ]:
        builder.insert(name, id, mode)

    edits: Edits = {"é": Entry(LINK, blob), "a0": Entry(PROGRAM, blob), "a.b": Entry(FILE, blob)}
    edits["a"] = {"x": Entry(FILE, blob)}
    assert edited(None, edits, objects.read, objects.write_tree) == str(builder.write())


def test_a_folder_goes_with_its_last_file_and_a_file_gives_way_to_a_folder() -> None:
    memory = Memory()
    file = Entry(FILE, blob_id(b""))
    tree = build(memory, {"a/b/c": file, "d": file})

    smaller = edited(tree, {"a": {"b": {"c": None}}}, memory.read, memory.write)
    assert smaller and [*parse(memory.read(smaller))] == ["d"]
    changed = edited(tree, {"d": {"e": file}, "a": file}, memory.read, memory.write)
    assert changed and {path for path, _ in walk(changed, memory.read)} == {"a", "d/e"}
    assert edited(tree, {"a": None, "d": None}, memory.read, memory.write) is None


def test_parents_are_the_folders_above() -> None:
    assert parents("a/b/c") == ["a/b", "a"]
    assert parents("a") == []
    assert is_below("a/b", "a") and is_below("a", "a") and not is_below("ab", "a")
