import ast
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from pails.host.locks import locked
from pails.host.tree import status_of
from pails.snapshots.deadline import Deadline
from pails.snapshots.entries import (
    FILE,
    LINK,
    PROGRAM,
    Entry,
    LeftOut,
    Limits,
    Reason,
    Snapshot,
    SnapshotError,
    blob_id,
)
from pails.snapshots.look import Place, look_everywhere
from pails.snapshots.reading import Reader
from pails.snapshots.stat_cache import decode, lookup
from pails.snapshots.store import SnapshotStore

LIMITS = Limits(file_bytes=1000)


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def kept(store: SnapshotStore, snapshot: Snapshot) -> dict[str, bytes]:
    return {path: bytes_at(store, snapshot, path) for path in store.paths(snapshot)}


def bytes_at(store: SnapshotStore, snapshot: Snapshot, path: str) -> bytes:
    entry = store.entry(snapshot, path)
    assert entry is not None
    return store.read(entry)


# -- what is in a snapshot ----------------------------------------------------------------------


def test_files_links_modes_and_names_of_any_bytes_are_kept(
    store: SnapshotStore, workspace: Path
) -> None:
    odd = os.fsdecode(b"new\nline \xff")
    write(workspace, {"a.txt": b"\r\n\0\xff", "empty": "", f"dir/{odd}": "odd", ".GIT": "g"})
    write(workspace, {"run": "#!", "git~1": "g", ".hidden/x": "h"})
    (workspace / "run").chmod(0o755)
    (workspace / "link").symlink_to("./a//b")
    (workspace / "links").mkdir()
    (workspace / "links" / "only").symlink_to("/nowhere")
    (workspace / "to-folder").symlink_to("dir")
    os.mkfifo(workspace / "pipe")

    snapshot = store.take("s")

    assert kept(store, snapshot) == {
        **{"a.txt": b"\r\n\0\xff", "empty": b"", f"dir/{odd}": b"odd", ".GIT": b"g"},
        **{"run": b"#!", "git~1": b"g", ".hidden/x": b"h"},
        **{"link": b"./a//b", "links/only": b"/nowhere", "to-folder": b"dir"},
    }
    modes = {
        path: entry.mode
        for path in ("run", "a.txt", "link")
        if (entry := store.entry(snapshot, path))
    }
    assert modes == {"run": PROGRAM, "a.txt": FILE, "link": LINK}


def test_ignored_files_and_links_are_left_out_without_git_too(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {".gitignore": "*.log\n/out/\nlinked\n", ".ignore": "*.tmp\n", "a": "a"})
    write(workspace, {"x.log": "", "out/y": "", "z.tmp": "", "sub/out/kept": "", "in/x.log": ""})
    (workspace / "linked").symlink_to("a")
    (workspace / "out" / "link").symlink_to("a")
    write(workspace, {"sub/.gitignore": "!x.log\n", "sub/x.log": ""})

    assert set(kept(store, store.take("s"))) == {
        *(".gitignore", ".ignore", "a", "sub/out/kept", "sub/.gitignore", "sub/x.log"),
    }


def test_excludes_of_the_git_project_and_of_folders_above_in_it_count(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project, {".git/info/exclude": "private\n", ".gitignore": "*.log\n/inner/only-here\n"})
    write(project, {"inner/private": "", "inner/x.log": "", "inner/a": "", "inner/only-here": ""})
    (project / "inner" / "b.log").symlink_to("a")
    store = SnapshotStore.open(tmp_path / "store", project / "inner")

    assert store.paths(store.take("s")) == ("a",)
    write(project, {"inner/new.log": "", "inner/new": ""})
    assert store.paths(store.take("t", [Path("new.log"), Path("new")])) == ("a", "new")


def test_ignore_files_above_a_workspace_that_is_in_no_git_project_do_not_count(
    tmp_path: Path, workspace: Path, store: SnapshotStore
) -> None:
    """Many people keep their home folder in git and ignore everything there."""
    write(tmp_path, {".gitignore": "*\n"})
    write(workspace, {"a": ""})

    assert store.paths(store.take("s")) == ("a",)


def test_dependencies_and_build_output_are_left_out_without_ignore_files(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"node_modules/x.js": "", "p/.venv/y": "", "p/__pycache__/z": ""})
    write(workspace, {"Cargo.toml": "", "target/o": "", "docs/target/page.md": "", "build/x": ""})

    snapshot = store.take("s")

    assert set(store.paths(snapshot)) == {"Cargo.toml", "docs/target/page.md", "build/x"}
    assert snapshot.left_out == (LeftOut("target", Reason.BUILD),)


def test_large_files_are_left_out_with_a_notice(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, LIMITS)
    write(workspace, {"fits": b"x" * 1000, "large": b"x" * 1001})

    snapshot = store.take("s")

    assert store.paths(snapshot) == ("fits",)
    assert snapshot.left_out == (LeftOut("large", Reason.TOO_LARGE),)


def test_nested_repositories_are_left_out_with_a_notice_and_never_touched(
    store: SnapshotStore, workspace: Path
) -> None:
    """A folder `.git`, and a file of that name as submodules and worktrees have."""
    write(workspace, {".git/config": "mine", "sub/.git/config": "theirs", "sub/code": "x"})
    write(
        workspace, {"deep/module/.git": "gitdir: ../..", "deep/module/code": "x", "deep/own": "x"}
    )
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in workspace.rglob("*"))

    snapshot = store.take("s")

    assert store.paths(snapshot) == ("deep/own",)
    assert {*snapshot.left_out} == {
        LeftOut("sub", Reason.NESTED),
        LeftOut("deep/module", Reason.NESTED),
    }
    assert before == sorted((str(path), path.lstat().st_mtime_ns) for path in workspace.rglob("*"))


@pytest.mark.parametrize("name", [".git", ".git/config"])
def test_the_projects_own_git_data_is_in_no_snapshot(
    store: SnapshotStore, workspace: Path, name: str
) -> None:
    """A work tree has a file of that name in place of the folder."""
    write(workspace, {name: "first", "a": "1"})
    assert store.paths(store.take("first")) == ("a",)
    write(workspace, {name: "second", "a": "2"})
    assert store.paths(store.take("second", [Path(name), Path("a")])) == ("a",)


def test_a_store_inside_the_workspace_is_not_part_of_it(workspace: Path) -> None:
    write(workspace, {"a": ""})
    store = SnapshotStore.open(workspace / "state" / "store", workspace)

    assert store.paths(store.take("s")) == ("a",)
    assert store.paths(store.take("t", [workspace])) == ("a",)
    assert store.paths(store.take("u", [workspace / "state"])) == ("a",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_left_out_with_a_notice(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"secret": "x", "locked/file": "x", "a": ""})
    (workspace / "secret").chmod(0)
    (workspace / "locked").chmod(0)
    try:
        snapshot = store.take("s")
    finally:
        (workspace / "locked").chmod(0o700)

    assert store.paths(snapshot) == ("a",)
    assert {item.path for item in snapshot.left_out} == {"secret", "locked"}


# -- isolation ----------------------------------------------------------------------------------


def test_git_settings_attributes_filters_and_variables_change_nothing(
    tmp_path: Path, workspace: Path
) -> None:
    """The bytes are the same, no hook or filter runs, and nothing is written elsewhere."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    marker = tmp_path / "ran"
    script = f"#!/bin/sh\ntouch {marker}\ncat\n"
    write(home, {"hooks/pre-commit": script, "hooks/post-commit": script, "filter": script})
    for path in home.rglob("*"):
        path.chmod(0o755)
    config = (
        f"[core]\nautocrlf = true\nsafecrlf = true\nfsmonitor = {home}/filter\n"
        f"hooksPath = {home}/hooks\n"
        f"attributesFile = {home}/attributes\n[commit]\ngpgsign = true\n"
        f"[gpg]\nprogram = {home}/filter\n"
        f'[filter "mark"]\nclean = {home}/filter\nsmudge = {home}/filter\nrequired = true\n'
    )
    write(
        home, {".gitconfig": config, "attributes": "* filter=mark\n", ".config/git/config": config}
    )
    elsewhere.mkdir()
    files = {"lf": b"a\nb\n", "crlf": b"a\r\nb\r\n", "ident": b"$Id$\n"}
    attributes = b"* text=auto eol=crlf ident filter=mark working-tree-encoding=UTF-16\n"
    write(workspace, {**files, ".gitattributes": attributes})
    program = (
        "import sys; from pathlib import Path; from pails.snapshots.store import SnapshotStore\n"
        "s = SnapshotStore.open(Path(sys.argv[1]), Path(sys.argv[2])); n = s.take('s')\n"
        "print({p: s.read(s.entry(n, p)) for p in s.paths(n)})"
    )
    environment = {
        **os.environ,
        **{"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")},
        **{name: str(elsewhere) for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY")},
        **{
            "GIT_INDEX_FILE": str(elsewhere / "index"),
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        },
        **{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.autocrlf"},
        **{"GIT_CONFIG_VALUE_0": "true", "GIT_NAMESPACE": "other"},
    }
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store"), str(workspace)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert ast.literal_eval(run.stdout) == {**files, ".gitattributes": attributes}
    assert not marker.exists()
    assert list(elsewhere.iterdir()) == []


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["home", "above", "root", "link"])
def test_home_and_what_is_above_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    home = tmp_path / "people" / "me"
    home.mkdir(parents=True)
    (tmp_path / "way-home").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    workspace = {
        "home": home,
        "above": tmp_path / "people",
        "root": Path(tmp_path.anchor),
        "link": tmp_path / "way-home",
    }[which]

    with pytest.raises(SnapshotError, match="Open the folder of one project"):
        SnapshotStore.open(tmp_path / "store", workspace)
    assert not (tmp_path / "store").exists()


def test_a_workspace_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="is not a folder"):
        SnapshotStore.open(tmp_path / "store", tmp_path / "nothing")


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "../a", "a b", "-x", "a/.lock"])
def test_names_that_a_ref_cannot_have_are_refused(store: SnapshotStore, name: str) -> None:
    with pytest.raises(SnapshotError):
        store.take(name)
    assert store.get(name) is None


def test_a_name_cannot_be_a_part_of_another(store: SnapshotStore) -> None:
    store.take("s/1")

    with pytest.raises(SnapshotError):
        store.take("s/1/before")
    assert store.names() == ("s/1",)


# -- names --------------------------------------------------------------------------------------


def test_snapshots_are_found_again_and_forgotten(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, LIMITS)
    write(workspace, {"large": b"x" * 2000, os.fsdecode(b"la\xffrge"): b"x" * 2000})
    first = store.take("s/1/before")
    second = store.take("s/1/after")
    store.take("s1/1/after")

    again = SnapshotStore.open(tmp_path / "store", workspace)
    assert again.get("s/1/before") == first
    assert again.get("s/1") is None
    assert again.names("s") == ("s/1/after", "s/1/before")
    assert again.drop("s/1/before") == ("s/1/before",)
    assert again.get("s/1/before") is None
    assert store.get("s/1/after") == second
    assert again.names() == ("s/1/after", "s1/1/after")


def test_each_snapshot_has_the_one_before_as_its_parent(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    ids = [store.take("a").id, store.take("b").id]
    ids.append(SnapshotStore.open(tmp_path / "store", workspace).take("c").id)

    log = subprocess.run(
        ["git", f"--git-dir={tmp_path / 'store' / 'store-1'}", "log", "--format=%H %an", ids[-1]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert log.stdout.splitlines() == [f"{id} Pails" for id in reversed(ids)]


# -- only what changed --------------------------------------------------------------------------


def check_same_as_full(store: SnapshotStore, changed: Iterable[Path | str]) -> Snapshot:
    """Take the changed paths, then everything: the trees must be the same."""
    snapshot = store.take("changed", [Path(path) for path in changed])
    full = store.take("full")
    assert snapshot.tree == full.tree
    assert {*full.left_out} <= {*snapshot.left_out}
    return snapshot


def test_changed_paths_are_looked_at_and_others_are_not(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"a/b/one": "1", "a/two": "2", "three": "3"})
    first = store.take("first")
    write(workspace, {"a/b/one": "new", "three": "not looked at"})

    second = store.take("second", [workspace / "a" / "b" / "one"])

    assert kept(store, second) == {"a/b/one": b"new", "a/two": b"2", "three": b"3"}
    assert [delta.path for delta in store.changes(first, second)] == ["a/b/one"]
    assert store.changes(first, second)[0].kind == "changed"


def test_paths_that_were_made_removed_or_became_something_else(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"gone": "", "folder/x": "", "folder/y/z": "", "file": "", "program": ""})
    write(workspace, {"alone/x": "", "linked": "", "emptied": ""})
    store.take("first")
    for name in ("gone", "folder/x", "folder/y/z", "file", "alone/x", "linked", "emptied"):
        (workspace / name).unlink()
    for name in ("folder/y", "folder", "alone"):
        (workspace / name).rmdir()
    write(workspace, {"folder": "a file now", "file/inner/new": "", "new/deep/x": ""})
    (workspace / "program").chmod(0o700)
    (workspace / "linked").symlink_to("program")
    (workspace / "emptied").mkdir()

    changed = ["gone", "folder/x", "file", "new/deep/x", "program", "linked", "alone", "emptied"]
    snapshot = check_same_as_full(store, changed)

    assert set(store.paths(snapshot)) == {
        "folder",
        "file/inner/new",
        "new/deep/x",
        "program",
        "linked",
    }


def test_a_changed_path_that_is_ignored_large_or_outside(tmp_path: Path, workspace: Path) -> None:
    store = SnapshotStore.open(tmp_path / "store", workspace, LIMITS)
    write(workspace, {".gitignore": "*.log\n", "grows": "", "shrinks": b"x" * 2000})
    store.take("first")
    write(workspace, {"a.log": "", "grows": b"x" * 2000, "shrinks": "", "node_modules/x": ""})
    write(workspace, {"new-and-large": b"x" * 2000})

    changed = ["a.log", "grows", "shrinks", "../other", "node_modules/x", "new-and-large"]
    snapshot = check_same_as_full(store, changed)

    assert store.paths(snapshot) == (".gitignore", "shrinks")
    assert {*snapshot.left_out} == {
        LeftOut("a.log", Reason.IGNORED),
        LeftOut("grows", Reason.TOO_LARGE),
        LeftOut("new-and-large", Reason.TOO_LARGE),
        LeftOut("node_modules", Reason.BUILD),
        LeftOut("../other", Reason.OUTSIDE),
    }


def test_changed_rules_are_followed_at_once(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, {"a.log": "", "target/x": "", "sub/x": ""})
    assert set(store.paths(store.take("first"))) == {"a.log", "target/x", "sub/x"}

    write(workspace, {".gitignore": "*.log\n", "Cargo.toml": "", "sub/.git/HEAD": ""})
    snapshot = check_same_as_full(store, [".gitignore", "Cargo.toml", "sub/.git/HEAD"])
    assert set(store.paths(snapshot)) == {".gitignore", "Cargo.toml"}

    for name in (".gitignore", "Cargo.toml", "sub/.git/HEAD"):
        (workspace / name).unlink()
    (workspace / "sub" / ".git").rmdir()
    snapshot = check_same_as_full(store, [".gitignore", "Cargo.toml", "sub/.git/HEAD"])
    assert set(store.paths(snapshot)) == {"a.log", "target/x", "sub/x"}


def test_a_repository_that_is_none_any_more_belongs_to_the_workspace_as_a_whole(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"sub/.git": "gitdir: ..", "sub/a": "", "sub/b": ""})
    assert store.paths(store.take("first")) == ()
    (workspace / "sub" / ".git").unlink()

    assert {*store.paths(check_same_as_full(store, ["sub/a"]))} == {"sub/a", "sub/b"}


def test_paths_through_links_are_those_that_they_lead_to(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, {"secret": "s"})
    write(workspace, {"real/a": "1", "dir/b": ""})
    (workspace / "way").symlink_to("real")
    store.take("first")
    write(workspace, {"real/a": "2"})
    (workspace / "dir" / "b").unlink()
    (workspace / "dir").rmdir()
    (workspace / "dir").symlink_to(outside)

    snapshot = store.take("s", [workspace / "way" / "a", Path("dir"), workspace / "dir" / "secret"])

    assert kept(store, snapshot) == {"real/a": b"2", "way": b"real", "dir": os.fsencode(outside)}


def test_a_folder_with_very_much_in_it_is_looked_at_as_a_whole(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"a": ""})
    store.take("first")
    write(workspace, {f"many/{number}": "" for number in range(2100)})

    assert len(store.paths(check_same_as_full(store, ["many"]))) == 2101


# -- a full scan with the cache -----------------------------------------------------------------


def test_a_scan_reads_only_what_looks_different(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"old": "1"})
    make_old(workspace / "old")
    write(workspace, {"new": "1"})
    store.take("first")
    cache = next((tmp_path / "store").glob("store-*/stat-cache"))
    rows = decode(cache.read_bytes())
    assert [*rows] == ["old"], "the other may change within the same tick of the clock"

    status = status_of(str(workspace / "old"))
    assert status
    assert lookup(rows, "old", status) == blob_id(b"1")
    for other in (status._replace(size=2), status._replace(changed=1), status._replace(inode=1)):
        assert lookup(rows, "old", other) is None
    write(workspace, {"old": "2", "new": "2"})
    assert kept(store, store.take("second")) == {"old": b"2", "new": b"2"}


def test_what_the_cache_knows_is_not_read(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {"a": "1"})
    make_old(workspace / "a")
    store.take("first")
    folder = next((tmp_path / "store").glob("store-*"))
    place = Place(workspace, "", folder, Limits())
    stored: list[bytes] = []

    def put(data: bytes) -> str:
        stored.append(data)
        return blob_id(data)

    for cache, count in (({}, 1), (decode((folder / "stat-cache").read_bytes()), 0)):
        stored.clear()
        look = look_everywhere(place, Deadline(time.monotonic() + 60))
        assert Reader(place, look, put, cache).read(Deadline(time.monotonic() + 60)) == {
            "a": Entry(FILE, blob_id(b"1"))
        }
        assert len(stored) == count


def make_old(path: Path) -> None:
    """Wait until the clock has moved on; the system's own time of change cannot be set."""
    while time.time() - path.stat().st_ctime < 2.1:
        time.sleep(0.05)


@pytest.mark.parametrize("damage", [b"", b"nonsense", None, "half", "flip"])
def test_a_damaged_cache_does_no_harm(
    tmp_path: Path, store: SnapshotStore, workspace: Path, damage: bytes | str | None
) -> None:
    write(workspace, {"a": "1", "b": "2"})
    tree = store.take("first").tree
    cache = next((tmp_path / "store").glob("store-*/stat-cache"))
    data = cache.read_bytes()
    if damage is None:
        cache.unlink()
    elif damage == "half":
        cache.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        cache.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    else:
        assert isinstance(damage, bytes)
        cache.write_bytes(damage)

    assert store.take("second").tree == tree


# -- time, threads and processes ----------------------------------------------------------------


def test_after_the_deadline_nothing_is_half_done(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, {"a": "1", "b": "1"})
    store.take("first")
    write(workspace, {"a": "2", "b": "2"})

    with pytest.raises(SnapshotError, match="in time"):
        store.take("late", [workspace / "a"], deadline=time.monotonic())

    assert store.get("late") is None
    snapshot = store.take("next", [workspace / "a"])
    assert kept(store, snapshot) == {"a": b"2", "b": b"2"}, "everything is looked at"


def test_somebody_else_who_writes_is_waited_for_until_the_deadline(
    tmp_path: Path, store: SnapshotStore
) -> None:
    with (
        locked(tmp_path / "store" / "lock", time.monotonic()),
        pytest.raises(SnapshotError, match="in time"),
    ):
        store.take("s", deadline=time.monotonic() + 0.2)
    assert store.take("s").tree


def test_two_stores_of_one_workspace_do_not_disturb_each_other(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    other = SnapshotStore.open(tmp_path / "store", workspace)
    write(workspace, {f"{number}": f"{number}" for number in range(50)})
    failures: list[Exception] = []

    def work(name: str, used: SnapshotStore) -> None:
        try:
            for number in range(20):
                used.take(f"{name}/{number}", [workspace / str(number)])
        except SnapshotError as error:
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=(name, used))
        for name, used in (("a", store), ("b", other), ("c", store))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(store.names()) == 60
    found = [other.get(name) for name in other.names()]
    assert len({snapshot.tree for snapshot in found if snapshot}) == 1


def test_the_store_is_private(tmp_path: Path, store: SnapshotStore) -> None:
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700


def test_a_snapshot_can_be_kept_with_other_entries(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, {"a": "1", "b/c": "2", ".gitignore": "*.log\n"})
    base = store.take("base")
    made = {blob_id(b"unsaved"): b"unsaved", blob_id(b""): b""}
    entries = {
        "a": Entry(FILE, blob_id(b"unsaved")),
        "b/c": None,
        "x.log": Entry(FILE, blob_id(b"")),
    }

    kept_so = store.amend("amended", base, entries, made)

    assert kept(store, kept_so) == {"a": b"unsaved", "x.log": b"", ".gitignore": b"*.log\n"}
    assert store.get("amended") == kept_so
    assert kept(store, store.take("next", [])) == kept(store, base)


def test_what_runs_ends_when_the_store_is_stopped(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, {f"{number}": f"{number}" for number in range(2000)})
    failures: list[SnapshotError] = []

    def take() -> None:
        try:
            while True:
                store.take("s")
        except SnapshotError as error:
            failures.append(error)

    thread = threading.Thread(target=take)
    thread.start()
    store.stop()
    thread.join(20)

    assert len(failures) == 1
    with pytest.raises(SnapshotError):
        store.take("after")
    assert SnapshotStore.open(tmp_path / "store", workspace).take("s").tree
