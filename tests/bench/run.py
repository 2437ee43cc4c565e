"""What Pails costs around the model: start-up, gaps, bytes, memory, latency of a delta.

    make bench            (or: python -m tests.bench.run)

Each figure is a median of one run on this machine; what can be a ratio is one. The model is
scripted and answers at once, over real HTTP; the server is the real one over stdio.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.server import EMPTY, PAILS, started, tree_memory
from tests.support.scripted_model import Calls, Raw, Say, Script, ScriptedModel

STARTS = 15
ROUNDS = 50

Row = tuple[str, str, str]


def environment(root: Path, model: ScriptedModel) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "PAILS_BASE_URL": model.base_url,
        "PAILS_MODEL": model.model,
        "PAILS_MAX_ROUNDS": str(ROUNDS * 3),
    }


def median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000


async def startup(root: Path) -> list[Row]:
    """Spawn → answer of `initialize`, in turn with an empty server."""
    times: dict[str, list[float]] = {"pails": [], "empty": []}
    async with ScriptedModel([]) as model:
        for _ in range(STARTS + 1):
            for name, argv in (("pails", PAILS), ("empty", EMPTY)):
                async with started(argv, environment(root, model), root) as (_, seconds):
                    times[name].append(seconds)
    ours, floor = median_ms(times["pails"][1:]), median_ms(times["empty"][1:])
    ratios = [a / b for a, b in zip(times["pails"][1:], times["empty"][1:], strict=True)]
    ratio = statistics.median(ratios)
    return [
        ("spawn → initialize", f"{ratio:.2f} × an empty pygls server", "≤ 1.15 ×"),
        ("", f"{ours:.0f} ms, the empty one {floor:.0f} ms", ""),
    ]


async def idle_memory(root: Path) -> list[Row]:
    async with (
        ScriptedModel([]) as model,
        started(PAILS, environment(root, model), root) as (server, _),
    ):
        await server.rpc.request("pai/status", {})
        await asyncio.sleep(1.5)
        return [("memory, idle after initialize", f"{tree_memory(server.pid):.0f} MB", "≤ 90 MB")]


def lay(workspace: Path) -> None:
    for number in range(60):
        body = "".join(
            f"\n\ndef part_{k}(value):\n    return value * {k + 1} + LIMIT\n" for k in range(8)
        )
        path = workspace / f"pkg/mod_{number:02d}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'"""Module {number}."""\n\nLIMIT = {number}\n{body}')


def reads_and_edits() -> list[Script]:
    steps: list[Script] = []
    for number in range(ROUNDS // 2):
        path = f"pkg/mod_{number:02d}.py"
        edit = {"path": path, "old": f"LIMIT = {number}\n", "new": f"LIMIT = {number + 100}\n"}
        steps += [Calls(("read_file", {"path": path})), Calls(("edit_file", edit))]
    return [*steps, Say("All limits are raised.")]


def batches_of_reads() -> list[Script]:
    files = [f"pkg/mod_{number:02d}.py" for number in range(60)]
    groups = [files[start : start + 8] for start in range(0, 56, 8)]
    reads = [Calls(*(("read_file", {"path": path}) for path in group)) for group in groups]
    return [*reads, Say("All read.")]


def mixed_batches() -> list[Script]:
    steps: list[Script] = []
    for turn in range(10):
        reads = [("read_file", {"path": f"pkg/mod_{turn * 6 + k:02d}.py"}) for k in range(6)]
        greps = [("grep", {"pattern": f"LIMIT = {turn * 6 + k}$", "path": "pkg"}) for k in (0, 1)]
        steps.append(Calls(*reads, *greps))
    return [*steps, Say("All read.")]


def gaps(model: ScriptedModel, first: int) -> list[float]:
    """Seconds from the end of each reply to the next request of the same turn."""
    answered, received = model.answered_at[first:], model.received_at[first + 1 :]
    return [after - before for before, after in zip(answered, received, strict=False)]


async def harness_gap(root: Path) -> list[Row]:
    async with ScriptedModel([]) as model:
        workspace = root / "work"
        workspace.mkdir()
        lay(workspace)
        async with started(PAILS, environment(root, model), workspace) as (server, _):
            session = await server.new_session(workspace)
            peak = 0.0
            for warm in (True, False):
                lay(workspace)
                model.script = reads_and_edits()
                first = len(model.answered_at)
                session = await server.new_session(workspace)
                turn = asyncio.create_task(server.turn(session, "raise the limits"))
                while not turn.done():
                    peak = max(peak, tree_memory(server.pid)) if warm else peak
                    await asyncio.sleep(0.05 if warm else 1.0)
            steps = gaps(model, first)
            size = len(model.bodies[0])
            wide: list[list[float]] = []
            for script in (batches_of_reads(), mixed_batches()):
                lay(workspace)
                model.script = script
                first = len(model.answered_at)
                session = await server.new_session(workspace)
                await server.turn(session, "read them all")
                wide.append(gaps(model, first))
    reads, edits = steps[0::2], steps[1::2]
    return [
        ("first request, everything", f"{size / 1024:.1f} KB", "≤ 12 KB of prompt and schemas"),
        ("gap after a read", f"{median_ms(reads):.1f} ms", "≤ 5 ms"),
        ("gap after an edit with check and log", f"{median_ms(edits):.1f} ms", "≤ 12 ms"),
        ("gap after a batch of 8 reads", f"{median_ms(wide[0]):.1f} ms", "≤ 20 ms"),
        ("gap after a batch of 6 reads and 2 searches", f"{median_ms(wide[1]):.1f} ms", ""),
        (
            "last ten rounds against the first ten",
            f"{statistics.median(steps[-10:]) / statistics.median(steps[:10]):.2f} ×",
            "the same",
        ),
        ("memory, peak of a 50-step turn", f"{peak:.0f} MB", "≤ 130 MB"),
    ]


def stamped(count: int) -> Iterator[dict[str, Any]]:
    """Chunks whose text is the moment they are sent."""
    for _ in range(count):
        text = f"{time.monotonic():.6f} "
        yield {"choices": [{"index": 0, "delta": {"content": text}}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


async def delta_latency(root: Path) -> list[Row]:
    late: list[float] = []

    def heard(event: dict[str, Any]) -> None:
        if event["kind"] == "textDelta":
            late.append(time.monotonic() - float(event["text"].split()[0]))

    step = Raw(pause=0.03)
    step.chunks = stamped(60)  # type: ignore[assignment]
    async with (
        ScriptedModel([step]) as model,
        started(PAILS, environment(root, model), root) as (server, _),
    ):
        server.heard = heard
        await server.turn(await server.new_session(root), "talk")
    return [("model's chunk → client's delta", f"{median_ms(late):.1f} ms", "< 2 ms")]


async def main() -> None:
    rows: list[Row] = []
    for measure in (startup, idle_memory, harness_gap, delta_latency):
        with tempfile.TemporaryDirectory(prefix="pails-bench-") as folder:
            rows += await measure(Path(folder).resolve())
    print("| what | measured | wanted |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    asyncio.run(main())
