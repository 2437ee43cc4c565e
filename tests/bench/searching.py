"""What `grep` takes in a tree of 50,000 files, beside ripgrep itself.

    python -m tests.bench.searching

Both search in turn for the same: for what is in one file, in some, in none. Ripgrep is called as a
person calls it, `rg --line-number PATTERN`: it searches with all threads and prints in no order.
Figures are medians of one run on this machine, the ratio that of the pairs.
"""

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from pails.host.search import find_ripgrep
from pails.tools.grep import Grep
from tests.bench.snapshots import FILES, make_workspace
from tests.support.calls import call

ROUNDS = 15
PATTERNS = {
    "in one file": r"function_31415\(",
    "in fifty files": r"function_\d\d777\(",
    "nowhere": "not_to_be_found",
}


async def seconds(action: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await action()
    return time.perf_counter() - started


async def measure(workspace: Path, what: str, pattern: str) -> None:
    grep = Grep()

    async def ours() -> None:
        assert not (await call(grep, workspace, pattern=pattern)).is_error

    async def ripgrep() -> None:
        command = [find_ripgrep(), "--line-number", "-e", pattern, "./"]
        await asyncio.to_thread(subprocess.run, command, cwd=workspace, capture_output=True)

    await ours()
    pairs = [(await seconds(ours), await seconds(ripgrep)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in pairs)
    mine, its = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
    print(f"{what:<16}{mine:6.0f} ms, ripgrep {its:6.0f} ms: {ratio:.2f} × (wanted: ≤ 1.2 ×)")


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pails-bench-") as folder:
        workspace = Path(folder).resolve() / "workspace"
        make_workspace(workspace)
        print(f"{FILES:,} files")
        for what, pattern in PATTERNS.items():
            await measure(workspace, what, pattern)


if __name__ == "__main__":
    asyncio.run(main())
