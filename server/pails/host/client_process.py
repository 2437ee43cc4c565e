"""The server as a child of a command-line client: started over pipes, and surely ended."""

import asyncio
import signal
from asyncio import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pails.host.children import signal_child

_STDERR_KEPT_BYTES = 4096


@dataclass(slots=True)
class ServerProcess:
    """A running server. `reader` is its stdout, `writer` its stdin."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _process: subprocess.Process
    _stderr: "_Tail"
    _draining: asyncio.Task[None]

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr, to be shown when it died unexpectedly."""
        return self._stderr.kept.decode("utf-8", "replace").strip()

    async def stop(self, grace_seconds: float = 3.0) -> int:
        """Close its input, then SIGTERM, then SIGKILL, each after the grace. The exit code."""
        self.writer.close()
        for insist in (signal.SIGTERM, signal.SIGKILL):
            try:
                async with asyncio.timeout(grace_seconds):
                    await self._process.wait()
                    break
            except TimeoutError:
                signal_child(self._process, insist)
        code = await self._process.wait()
        self._draining.cancel()
        await asyncio.gather(self._draining, return_exceptions=True)
        return code


async def start_server(
    argv: Sequence[str], environ: Mapping[str, str], directory: Path
) -> ServerProcess:
    """Start `argv`; raises OSError when it cannot be started.

    The server is a session leader of its own, so that Ctrl-C at the terminal reaches the client
    alone, which then cancels in an orderly way; and no child of it can read that terminal.
    """
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environ),
        cwd=directory,
        start_new_session=True,
    )
    assert process.stdin and process.stdout and process.stderr  # all three are pipes
    tail = _Tail()
    draining = asyncio.create_task(tail.drain(process.stderr))
    return ServerProcess(process.stdout, process.stdin, process, tail, draining)


class _Tail:
    """Reads a stream to its end, so that it never blocks the writer, and keeps the last bytes."""

    def __init__(self) -> None:
        self.kept = b""

    async def drain(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(65536):
            self.kept = (self.kept + data)[-_STDERR_KEPT_BYTES:]
