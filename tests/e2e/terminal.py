"""`pails` as a person or a script starts it: over pipes, or at a terminal (pty)."""

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.scripted_model import ScriptedModel

SECONDS = 60
"""A run that takes longer hangs; a loaded machine may be slow."""


@dataclass(frozen=True)
class Home:
    """An isolated person: a workspace, and folders of Pails that nobody else uses."""

    root: Path

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def environment(self, model: ScriptedModel | None, **extra: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
        configured = {"PAILS_BASE_URL": model.base_url} if model else {}
        if model and model.models:
            configured["PAILS_MODEL"] = model.model
        folders = {
            "HOME": str(self.root),
            "PAILS_STATE_DIR": str(self.root / "state"),
            "PAILS_CONFIG_DIR": str(self.root / "config"),
        }
        return {**kept, **configured, **folders, **extra}


@dataclass(frozen=True)
class Ran:
    """What a run over pipes came to."""

    code: int
    out: str
    err: str


def make_home(root: Path) -> Home:
    home = Home(root)
    home.workspace.mkdir()
    return home


def argv(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "pails", *arguments]


async def run(environment: dict[str, str], cwd: Path, *arguments: str, stdin: str = "") -> Ran:
    """`pails ARGUMENTS` without a terminal."""
    async with started(environment, cwd, *arguments) as process:
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def started(
    environment: dict[str, str],
    cwd: Path,
    *arguments: str,
    stdout: int = asyncio.subprocess.PIPE,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A run over pipes, in a process group of its own, surely ended with the block."""
    process = await asyncio.create_subprocess_exec(
        *argv(*arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=cwd,
        process_group=0,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


class Terminal:
    """A program at a terminal of its own. `shown` is all it has written so far."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.shown = ""
        self._master = master
        self._seen = 0
        self._raw = b""
        self._grew = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the last writer has gone
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self._raw += data
        self.shown = self._raw.decode("utf-8", "ignore").replace("\r\n", "\n")
        self._grew.set()

    async def wait_for(self, text: str) -> None:
        """Return when this has been shown, behind what was waited for before."""
        async with asyncio.timeout(SECONDS):
            while (at := self.shown.find(text, self._seen)) < 0:
                self._grew.clear()
                await self._grew.wait()
        self._seen = at + len(text)

    def type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\n")

    def close_input(self) -> None:
        """Press Ctrl-D."""
        os.write(self._master, b"\x04")

    def interrupt(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    async def end(self) -> int:
        async with asyncio.timeout(SECONDS):
            return await asyncio.to_thread(self.process.wait)

    @property
    def plain(self) -> str:
        """What was shown, without colour."""
        return re.sub(r"\x1b\[[\d;]*m", "", self.shown)


@asynccontextmanager
async def at_terminal(
    environment: dict[str, str], cwd: Path, *arguments: str, program: list[str] | None = None
) -> AsyncIterator[Terminal]:
    """`pails ARGUMENTS` (or another program) at a terminal, surely ended with the block."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        program or argv(*arguments),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        cwd=cwd,
        process_group=0,
    )
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)
