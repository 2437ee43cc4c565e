import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pails.snapshots.entries import Limits
from pails.snapshots.restore import apply_plan
from pails.snapshots.rewind import RewindPlan, between, may_reveal, plan_rewind
from pails.snapshots.store import SnapshotStore

Change = Callable[[Path], None]


def write(root: Path, name: str, data: str | bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def plan(store: SnapshotStore, workspace: Path, agent: Change, person: Change) -> RewindPlan:
    before = store.take("t/before")
    agent(workspace)
    after = store.take("t/after")
    person(workspace)
    return plan_rewind(store, [between(store, before, after)], store.take("t/now"))


def nothing(_: Path) -> None:
    pass


def conflicts(plan: RewindPlan) -> dict[str, str]:
    return {item.path: item.reason for item in plan.conflicts}


def test_what_the_agent_did_is_taken_back(
    store: SnapshotStore, workspace: Path, content: Callable[[Path], object]
) -> None:
    write(workspace, "edited", "one\r\ntwo")
    write(workspace, "removed/deep/file", b"\0\xff")
    write(workspace, "script", "#!")
    (workspace / "script").chmod(0o755)
    (workspace / "link").symlink_to("edited")
    write(workspace, "becomes-folder", "f")
    write(workspace, "becomes-file/x", "x")
    write(workspace, "becomes-link", "l")
    old = content(workspace)

    def agent(root: Path) -> None:
        write(root, "edited", "one\r\n2")
        (root / "removed/deep/file").unlink()
        (root / "removed/deep").rmdir()
        (root / "removed").rmdir()
        (root / "script").chmod(0o644)
        (root / "link").unlink()
        write(root, "link", "no link")
        (root / "becomes-folder").unlink()
        write(root, "becomes-folder/new/file", "n")
        (root / "becomes-file/x").unlink()
        (root / "becomes-file").rmdir()
        write(root, "becomes-file", "f")
        (root / "becomes-link").unlink()
        (root / "becomes-link").symlink_to("/etc/passwd")
        write(root, "made/by/agent", "a")

    made = plan(store, workspace, agent, nothing)

    assert made.conflicts == ()
    assert apply_plan(made, workspace) == ()
    assert content(workspace) == old
    assert not (workspace / "made").exists()
    assert (workspace / "edited").read_bytes() == b"one\r\ntwo"
    before, after = store.get("t/before"), store.get("t/after")
    assert before and after
    again = plan_rewind(store, [between(store, before, after)], store.take("x"))
    assert (again.steps, again.conflicts) == ((), ())


def test_what_the_person_did_stays(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, "both", "one\ntwo\nthree\n")
    write(workspace, ".gitignore", "ignored\n")
    write(workspace, "ignored", "1")
    write(workspace, "mine", "1")

    def agent(root: Path) -> None:
        write(root, "both", "1\ntwo\nthree\n")
        write(root, "agents/file", "a")
        write(root, "ignored", "2")

    def person(root: Path) -> None:
        write(root, "both", "1\ntwo\nthree\nfour\n")
        write(root, "mine", "2")
        write(root, "agents/notes", "n")
        write(root, "new", "n")

    made = plan(store, workspace, agent, person)

    assert conflicts(made) == {}
    assert {step.path: step.how for step in made.steps} == {
        "both": "merged", "agents/file": "removed"
    }  # fmt: skip
    assert apply_plan(made, workspace) == ()
    assert (workspace / "both").read_text() == "one\ntwo\nthree\nfour\n"
    assert (workspace / "mine").read_text() == "2"
    assert (workspace / "ignored").read_text() == "2"
    assert (workspace / "agents" / "notes").read_text() == "n"
    assert not (workspace / "agents" / "file").exists()
    assert (workspace / "new").exists()


def test_what_both_did_is_a_conflict_and_left_alone(
    store: SnapshotStore, workspace: Path, content: Callable[[Path], object]
) -> None:
    for name in ("lines", "binary", "deleted", "remade", "link"):
        write(workspace, name, b"\0one\n" if name == "binary" else "one\n")

    def agent(root: Path) -> None:
        for name in ("lines", "deleted", "made", "link"):
            write(root, name, "agent\n")
        write(root, "binary", b"\0agent\n")
        (root / "remade").unlink()

    def person(root: Path) -> None:
        for name in ("lines", "made", "remade"):
            write(root, name, "person\n")
        write(root, "binary", b"\0person\n")
        (root / "deleted").unlink()
        (root / "link").unlink()
        (root / "link").symlink_to("lines")

    made = plan(store, workspace, agent, person)
    old = content(workspace)

    assert made.steps == ()
    found = conflicts(made)
    assert "same lines" in found["lines"] and "line 1" in found["lines"]
    assert "not text" in found["binary"]
    assert "you have removed it" in found["deleted"]
    assert "another one" in found["remade"]
    assert "you have changed it" in found["made"]
    assert "link" in found["link"]
    assert apply_plan(made, workspace) == ()
    assert content(workspace) == old


def test_what_the_person_took_back_already_needs_nothing(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, "a", "one\n")

    made = plan(
        store, workspace, lambda r: write(r, "a", "two\n"), lambda r: write(r, "a", "one\n")
    )

    assert (made.steps, made.conflicts) == ((), ())


def test_modes_are_merged_apart_from_content(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, "agents-mode", "one\n")
    write(workspace, "persons-mode", "one\n")

    def agent(root: Path) -> None:
        (root / "agents-mode").chmod(0o755)
        write(root, "persons-mode", "two\n")

    def person(root: Path) -> None:
        write(root, "agents-mode", "mine\n")
        (root / "persons-mode").chmod(0o755)

    assert apply_plan(plan(store, workspace, agent, person), workspace) == ()
    assert (workspace / "agents-mode").read_text() == "mine\n"
    assert not (workspace / "agents-mode").stat().st_mode & 0o111
    assert (workspace / "persons-mode").read_text() == "one\n"
    assert (workspace / "persons-mode").stat().st_mode & 0o111


def test_what_an_ignore_file_used_to_hide_is_not_the_agents(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, ".gitignore", ".env\n")
    write(workspace, "sub/.ignore", "")
    write(workspace, ".env", "KEY=1")

    def agent(root: Path) -> None:
        (root / ".gitignore").unlink()

    made = plan(store, workspace, agent, nothing)

    assert "hidden by an ignore file" in conflicts(made)[".env"]
    assert apply_plan(made, workspace) == ()
    assert (workspace / ".env").read_text() == "KEY=1"
    assert (workspace / ".gitignore").exists()


def test_a_project_that_the_agent_made_with_its_ignore_file_goes_again(
    store: SnapshotStore, workspace: Path
) -> None:
    def agent(root: Path) -> None:
        write(root, "app/.gitignore", "*.log\n")
        write(root, "app/main.py", "")

    assert apply_plan(plan(store, workspace, agent, nothing), workspace) == ()
    assert list(workspace.iterdir()) == []


def test_what_an_ignore_file_hides_now_is_as_it_is(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, "same", "1")
    write(workspace, "changed", "1")

    def agent(root: Path) -> None:
        write(root, ".gitignore", "same\nchanged\n")
        write(root, "changed", "2")

    failures = apply_plan(plan(store, workspace, agent, nothing), workspace)

    assert {failure.path for failure in failures} == {"changed"}
    assert (workspace / "same").read_text() == "1"
    assert (workspace / "changed").read_text() == "2"


@pytest.mark.parametrize(
    ("old", "new", "reveals"),
    [
        ([], [b"a"], False),
        ([b"a"], [b"x", b"a", b"y"], False),
        ([b"a"], [], True),
        ([b"a", b"b"], [b"b", b"a"], True),
        ([b"a"], [b"a", b"!b"], True),
        ([b"!a"], [b"!a"], False),
    ],
)
def test_changes_of_ignore_files_that_may_reveal(
    old: list[bytes], new: list[bytes], reveals: bool
) -> None:
    assert may_reveal(old, new) is reveals


@pytest.mark.parametrize("size", [(2000, 10), (10, 2000)])
def test_what_was_too_large_for_a_snapshot_is_left_alone(
    tmp_path: Path, workspace: Path, size: tuple[int, int]
) -> None:
    """It is not in one of the snapshots, but the agent neither made nor removed it."""
    store = SnapshotStore.open(tmp_path / "store", workspace, Limits(file_bytes=1000))
    write(workspace, "data", b"x" * size[0])

    made = plan(store, workspace, lambda root: write(root, "data", b"y" * size[1]), nothing)

    assert "too large" in conflicts(made)["data"]
    assert apply_plan(made, workspace) == ()
    assert (workspace / "data").stat().st_size == size[1]


def test_a_folder_that_became_a_repository_is_left_alone(
    store: SnapshotStore, workspace: Path
) -> None:
    write(workspace, "sub/code", "1")

    def agent(root: Path) -> None:
        write(root, "sub/.git/HEAD", "ref: refs/heads/main\n")
        write(root, "sub/code", "2")

    made = plan(store, workspace, agent, nothing)

    assert "a repository of its own" in conflicts(made)["sub/code"]
    assert apply_plan(made, workspace) == ()
    assert (workspace / "sub" / "code").read_text() == "2"


def test_what_stands_in_the_way_stays(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, "was-file", "f")
    write(workspace, "was-folder/x", "x")

    def agent(root: Path) -> None:
        (root / "was-file").unlink()
        write(root, "was-file/agents", "a")
        (root / "was-folder/x").unlink()
        (root / "was-folder").rmdir()

    def person(root: Path) -> None:
        write(root, "was-file/mine", "m")
        write(root, "was-folder", "m")

    made = plan(store, workspace, agent, person)

    assert set(conflicts(made)) == {"was-file", "was-folder/x"}
    assert apply_plan(made, workspace) == ()
    assert (workspace / "was-file" / "mine").exists()
    assert not (workspace / "was-file" / "agents").exists()
    assert (workspace / "was-folder").read_text() == "m"


# -- carrying out -------------------------------------------------------------------------------


def test_what_changed_since_the_preview_is_left_alone_and_others_go_on(
    store: SnapshotStore, workspace: Path
) -> None:
    for name in ("a", "b", "c", "d"):
        write(workspace, name, "1")

    def agent(root: Path) -> None:
        for name in ("a", "b", "c", "made"):
            write(root, name, "2")
        (root / "d").unlink()

    made = plan(store, workspace, agent, nothing)
    write(workspace, "a", "3")
    write(workspace, "made", "3")
    write(workspace, "d", "3")
    (workspace / "c").unlink()
    (workspace / "c").mkdir()

    failures = apply_plan(made, workspace)

    assert {failure.path for failure in failures} == {"a", "made", "d", "c"}
    assert (workspace / "a").read_text() == "3"
    assert (workspace / "made").read_text() == "3"
    assert (workspace / "b").read_text() == "1"


def test_links_are_never_followed_out_of_the_workspace(
    tmp_path: Path, store: SnapshotStore, workspace: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, "file", "2")
    write(outside, "made", "m")
    write(workspace, "folder/file", "1")
    write(workspace, "leaf", "1")

    def agent(root: Path) -> None:
        write(root, "folder/file", "2")
        write(root, "folder/made", "m")
        write(root, "leaf", "2")

    made = plan(store, workspace, agent, nothing)
    (workspace / "folder").rename(workspace / "moved")
    (workspace / "folder").symlink_to(outside)
    (workspace / "leaf").unlink()
    (workspace / "leaf").symlink_to(outside / "file")

    failures = apply_plan(made, workspace)

    assert {failure.path for failure in failures} == {"folder/file", "folder/made", "leaf"}
    assert (outside / "file").read_text() == "2"
    assert (outside / "made").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_written_is_reported(store: SnapshotStore, workspace: Path) -> None:
    write(workspace, "a", "1")
    write(workspace, "b", "1")

    def agent(root: Path) -> None:
        write(root, "a", "2")
        write(root, "b", "2")

    made = plan(store, workspace, agent, lambda root: (root / "a").chmod(0o444))

    assert [failure.path for failure in apply_plan(made, workspace)] == ["a"]
    assert (workspace / "b").read_text() == "1"


def test_taking_back_can_be_taken_back(
    store: SnapshotStore, workspace: Path, content: Callable[[Path], object]
) -> None:
    """The person changed another line, rewound the agent's, and wants all of it again."""
    write(workspace, "a", "one\ntwo\nthree\n")

    def agent(root: Path) -> None:
        write(root, "a", "1\ntwo\nthree\n")
        write(root, "b", "b")

    made = plan(store, workspace, agent, lambda root: write(root, "a", "1\ntwo\n3\n"))
    old = content(workspace)
    before = store.take("rewind/before")
    assert apply_plan(made, workspace) == ()
    after = store.take("rewind/after")
    assert (workspace / "a").read_text() == "one\ntwo\n3\n"

    assert apply_plan(plan_rewind(store, [between(store, before, after)], after), workspace) == ()
    assert content(workspace) == old
