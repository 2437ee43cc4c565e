"""A server under measurement: started, initialized, followed, and its memory read from /proc."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pails.cli.client import MethodNotFound, RpcClient
from pails.host.client_process import start_server

Json = dict[str, Any]
PAILS = [sys.executable, "-m", "pails"]
EMPTY = [sys.executable, str(Path(__file__).with_name("empty_server.py"))]


class BenchServer:
    """A client of one server. `heard` is called with each event as it arrives."""

    def __init__(self, rpc: RpcClient, pid: int) -> None:
        self.rpc = rpc
        self.pid = pid
        self.ended: asyncio.Queue[Json] = asyncio.Queue()
        self.heard: Callable[[Json], None] = lambda event: None
        self.answers: dict[str, Callable[[Json], Json]] = {}
        """What the client says to other requests, by method."""

    def on_notification(self, method: str, params: Json) -> None:
        if method != "pai/event":
            return
        self.heard(params["event"])
        if params["event"]["kind"] == "turnEnded":
            self.ended.put_nowait(params["event"])

    async def on_request(self, method: str, params: Json) -> Json | None:
        if method == "pai/approval/request":
            return {"choice": "allowOnce"}
        if method in self.answers:
            return self.answers[method](params)
        raise MethodNotFound(method)

    async def new_session(self, workspace: Path) -> str:
        info = await self.rpc.request("pai/session/new", {"workspace": str(workspace)})
        return info["sessionId"]

    async def turn(self, session_id: str, text: str) -> Json:
        await self.rpc.request("pai/session/prompt", {"sessionId": session_id, "text": text})
        return await self.ended.get()


@asynccontextmanager
async def started(
    argv: list[str],
    environ: Mapping[str, str],
    folder: Path,
    capabilities: Json | None = None,
    options: Json | None = None,
) -> AsyncIterator[tuple[BenchServer, float]]:
    """A running server, and the seconds from its spawn to the answer of `initialize`."""
    begun = time.perf_counter()
    process = await start_server(argv, environ, folder)
    server = BenchServer(None, process._process.pid)  # type: ignore[arg-type]
    server.rpc = RpcClient(
        process.reader, process.writer, server.on_notification, server.on_request
    )
    reading = asyncio.create_task(server.rpc.run())
    await server.rpc.request(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": folder.as_uri(),
            "capabilities": capabilities or {},
            "initializationOptions": {"pai": {"events": True, "approvals": True} | (options or {})},
        },
    )
    seconds = time.perf_counter() - begun
    server.rpc.notify("initialized", {})
    try:
        yield server, seconds
    finally:
        await server.rpc.request("shutdown")
        server.rpc.notify("exit")
        await process.stop()
        await asyncio.gather(reading, return_exceptions=True)


def tree_memory(pid: int) -> float:
    """Resident megabytes of a process and everything below it."""
    children: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    page = os.sysconf("SC_PAGE_SIZE")
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes()
            sizes[int(name)] = int(Path(f"/proc/{name}/statm").read_text().split()[1]) * page
        except OSError:
            continue
        parent = int(stat[stat.rindex(b")") + 2 :].split()[1])
        children.setdefault(parent, []).append(int(name))
    total, todo = 0, [pid]
    while todo:
        at = todo.pop()
        total += sizes.get(at, 0)
        todo += children.get(at, [])
    return total / 1e6
