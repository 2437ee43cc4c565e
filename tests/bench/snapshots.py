"""What a snapshot costs on 50,000 files of which one has changed, and what git takes for the same.

    python -m tests.bench.snapshots

Git keeps a shadow repository beside the workspace: `git add -A && git write-tree`, as programs do
that call it. Both are measured in turn; figures are medians of one run on this machine.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pails.snapshots.store import SnapshotStore

FILES = 50_000
IN_FOLDER = 100
ROUNDS = 15
OLD = 60
"""Files are made to be that many seconds old, as those of a real project are."""


def make_workspace(root: Path) -> list[Path]:
    files: list[Path] = []
    long_ago = time.time() - OLD
    for number in range(FILES):
        folder = root / f"part{number // 5000}" / f"module{number // IN_FOLDER % 50}"
        if number % IN_FOLDER == 0:
            folder.mkdir(parents=True)
        path = folder / f"file{number % IN_FOLDER}.py"
        path.write_text(f"def function_{number}():\n    return {number}\n" * 20)
        os.utime(path, (long_ago, long_ago))
        files.append(path)
    return files


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


class ShadowGit:
    def __init__(self, folder: Path, workspace: Path) -> None:
        self._workspace = workspace
        self._environment = {
            **{"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"},
            **{"GIT_DIR": str(folder / "git"), "GIT_WORK_TREE": str(workspace)},
        }
        self._run("init", "--quiet")

    def take(self) -> None:
        self._run("add", "-A")
        self._run("write-tree")

    def _run(self, *arguments: str) -> None:
        subprocess.run(
            ["git", *arguments],
            cwd=self._workspace,
            env=self._environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def row(what: str, figure: str) -> None:
    print(f"{what:<44}{figure}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = make_workspace(root / "workspace")
        (root / "shadow").mkdir()
        git = ShadowGit(root / "shadow", root / "workspace")
        store = SnapshotStore.open(root / "store", root / "workspace")
        row("first snapshot", f"{seconds(lambda: store.take('first')):.2f} s")
        row("  git", f"{seconds(git.take):.2f} s")
        time.sleep(2.5)  # files that changed just now are read again
        store.take("settled")
        measure_scans(store)
        measure_changes(store, git, files)


def measure_scans(store: SnapshotStore) -> None:
    scans = [seconds(lambda: store.take("scan")) for _ in range(5)]
    row("everything looked at, nothing changed", f"{statistics.median(scans) * 1000:.0f} ms")


def measure_changes(store: SnapshotStore, git: ShadowGit, files: list[Path]) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS):
        path = files[turn * 977]
        path.write_text(f"changed = {turn}\n")
        ours.append(seconds(partial(store.take, f"turn-{turn}", [path])))
        theirs.append(seconds(git.take))
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    row("one file changed, the path is known", f"{statistics.median(ours) * 1000:.2f} ms")
    row("  git add -A && git write-tree", f"{statistics.median(theirs) * 1000:.0f} ms")
    row("  git takes", f"{ratio:.0f} × as long (wanted: at least 40 ×)")


if __name__ == "__main__":
    main()
