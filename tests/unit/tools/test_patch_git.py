"""What git itself writes as a diff is applied to the tree that git has."""

import random
import subprocess
from pathlib import Path

import pytest

from pails.tools.files.documents import Documents
from pails.tools.patch import ApplyPatch
from tests.support.calls import call

NAMES = ("a.txt", "a/ä b.py", "b/x.py", "e", 'sp ace "q".txt', "d/deep/z")
LINES = ("one", "two", "", "--- h", "+ x", "  ind", "é😀", "a\tb", "@@ -1 +1 @@", "*** x")


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "core.autocrlf=false")
    command = ["git", *settings, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout.decode()


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def put(path: Path, chance: random.Random) -> None:
    lines = chance.choices(LINES, k=chance.randrange(9))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(("\n".join(lines) + chance.choice(["", "\n"])).encode())


def change(path: Path, chance: random.Random) -> None:
    match chance.choice(("write", "write", "delete", "move", "leave")):
        case "write":
            put(path, chance)
        case "delete":
            path.unlink(missing_ok=True)
        case "move" if path.exists():
            path.rename(path.with_name(f"moved {path.name}"))
        case _:
            pass


@pytest.mark.parametrize("seed", range(12))
async def test_a_diff_of_git_leads_to_the_tree_that_git_has(tmp_path, seed):
    chance = random.Random(seed)
    git(tmp_path, "init", "-q")
    for name in NAMES:
        if chance.random() < 0.8:
            put(tmp_path / name, chance)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "before", "--allow-empty")
    for name in NAMES:
        change(tmp_path / name, chance)
    git(tmp_path, "add", "-A")
    option = chance.choice(("-U3", "-U0", "--no-prefix"))
    diff, after = git(tmp_path, "diff", "--cached", "-M", option), tree(tmp_path)
    git(tmp_path, "reset", "-q", "--hard")
    result = await call(ApplyPatch(Documents()), tmp_path, patch=diff)
    assert not result.is_error, f"{result.text}\n{diff}"
    assert tree(tmp_path) == after, diff
