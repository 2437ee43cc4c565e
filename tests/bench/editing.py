"""What it costs to edit one word in an open file of 20,000 lines, from the call to the check.

    python -m tests.bench.editing

The model is scripted and answers at once; the client keeps the document as an editor does, tells
each edit as a change of a range, and saves when asked to. Two runs: one for the time that an edit
takes, one in a server with a look-out for how long its event loop answers nothing meanwhile.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.run import environment
from tests.bench.server import PAILS, BenchServer, started
from tests.support.scripted_model import Calls, Say, Script, ScriptedModel

Json = dict[str, Any]
LINES = 20_000
EDITS = 20
PAUSE = 2.0
"""Seconds between the first turn and the second; a model alone takes as long to answer."""
CAPABILITIES: Json = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
WATCHED = [sys.executable, str(Path(__file__).with_name("watched_server.py"))]


def large_text() -> str:
    functions = (
        f"def function_{n}(value, other):\n    return value * {n:05d} + other * LIMIT\n"
        for n in range(LINES // 2)
    )
    return "".join(functions)


def edits(path: str) -> list[Script]:
    """A turn that reads the file, as models do first; then one word is changed at many places."""
    steps: list[Script] = [Calls(("read_file", {"path": path})), Say("Read.")]
    for number in range(EDITS):
        at = (number * 4813) % (LINES // 2)
        old, new = f"value * {at:05d} +", f"factor * {at:05d} +"
        steps.append(Calls(("edit_file", {"path": path, "old": old, "new": new})))
    return [*steps, Say("Done.")]


class Editor:
    """One document as an editor keeps it: as lines, so that it answers at once."""

    def __init__(self, server: BenchServer, path: Path, text: str) -> None:
        self._rpc = server.rpc
        self._path, self._uri = path, path.as_uri()
        self._lines = text.splitlines(keepends=True)
        self._version = 1
        item = {"uri": self._uri, "languageId": "python", "version": 1, "text": text}
        self._rpc.notify("textDocument/didOpen", {"textDocument": item})
        server.answers["workspace/applyEdit"] = self._apply
        server.answers["pai/editor/save"] = self._save

    def _apply(self, params: Json) -> Json:
        [part] = params["edit"]["documentChanges"]
        for edit in part["edits"]:
            start, end = edit["range"]["start"], edit["range"]["end"]
            assert start["line"] == end["line"]
            line = self._lines[start["line"]]
            line = line[: start["character"]] + edit["newText"] + line[end["character"] :]
            self._lines[start["line"]] = line
        self._version += 1
        changes = [{"range": e["range"], "text": e["newText"]} for e in part["edits"]]
        document = {"uri": self._uri, "version": self._version}
        self._rpc.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
        )
        return {"applied": True}

    def _save(self, _: Json) -> Json:
        self._path.write_text("".join(self._lines))
        self._rpc.notify("textDocument/didSave", {"textDocument": {"uri": self._uri}})
        return {"saved": True}


async def edit_all(root: Path, argv: list[str], lags: Path) -> list[tuple[float, float]]:
    """When each edit began and ended, in monotonic seconds."""
    workspace = root / "work"
    workspace.mkdir(exist_ok=True)
    path, text = workspace / "large.py", large_text()
    path.write_text(text)
    spans: list[tuple[float, float]] = []
    began: dict[str, float] = {}

    def heard(event: Json) -> None:
        if event["kind"] == "toolCallPrepared" and event["tool"] == "edit_file":
            began[event["callId"]] = time.monotonic()
        if event["kind"] == "toolCallEnded" and event["callId"] in began:
            assert not event["isError"] and "Syntax OK" in event["text"], event["text"]
            spans.append((began[event["callId"]], time.monotonic()))

    async with ScriptedModel(edits("large.py")) as model:
        environ = environment(root, model) | {"PAILS_BENCH_LAGS": str(lags)}
        options = {"save": True}
        async with started(argv, environ, workspace, CAPABILITIES, options) as (server, _):
            Editor(server, path, text)
            server.heard = heard
            session = await server.new_session(workspace)
            await server.turn(session, "Read it.")
            await asyncio.sleep(PAUSE)
            await server.turn(session, "Change them.")
    return spans


def longest_stalls(spans: list[tuple[float, float]], lags: Path) -> list[float]:
    """For each edit the most milliseconds in which the loop answered nothing."""
    asked = [tuple(map(float, line.split())) for line in lags.read_text().splitlines()]
    return [
        max((waited for at, waited in asked if start <= at <= end), default=0.0)
        for start, end in spans
    ]


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pails-bench-") as folder:
        root = Path(folder).resolve()
        spans = await edit_all(root, PAILS, root / "lags")
        took = [(end - start) * 1000 for start, end in spans]
        spans = await edit_all(root, WATCHED, root / "lags")
        stalls = longest_stalls(spans, root / "lags")
    print(f"{LINES:,} lines, {len(large_text()):,} bytes; {len(took)} edits")
    print(f"first edit                {took[0]:.1f} ms, the loop stood still {stalls[0]:.1f} ms")
    rest, still = took[1:], stalls[1:]
    print(f"the others, median        {statistics.median(rest):.1f} ms (wanted: < 50 ms)")
    print(f"  longest                 {max(rest):.1f} ms")
    print(f"the loop stood still      {statistics.median(still):.1f} ms (wanted: ≤ 5 ms)")
    print(f"  longest                 {max(still):.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
