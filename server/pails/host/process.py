"""Runs one command to its end: argument list in, bounded output out, no process left behind.

The end of a command is the exit of the process that was started, not the end of its output: a
background process that keeps the pipe open delays nothing and is reported. On timeout and on
cancellation the whole tree ends before `run` returns.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pails.core.tasks import uninterrupted
from pails.host.capture import Collector, OutputPipe
from pails.host.process_tree import kill_tree, tree_members, with_marker
from pails.host.programs import NotStarted, explain_start_failure

OnOutput = Callable[[str], Awaitable[None]]

DRAIN_SECONDS = 0.5
"""How long to wait for the end of the output once the command itself has exited."""

_CONFIRM_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ran.

    `output` is what the two streams printed, in order, with markers where `dropped_bytes` are
    left out; then `spill_path` holds all of it, or its beginning when `spill_complete` is False.
    `exit_code` is negative after a signal, and None when the process could not be ended.
    `background_pids` are processes of the command that still run.
    """

    exit_code: int | None
    output: str
    dropped_bytes: int
    spill_path: Path | None
    timed_out: bool
    background_pids: tuple[int, ...]
    seconds: float
    spill_complete: bool = True

    @property
    def signal_name(self) -> str:
        """Such as `SIGSEGV`; empty when the process ended by itself."""
        if self.exit_code is None or self.exit_code >= 0:
            return ""
        try:
            return signal.Signals(-self.exit_code).name
        except ValueError:
            return f"signal {-self.exit_code}"


async def run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    spill: Path | None = None,
    *,
    on_output: OnOutput | None = None,
) -> Finished | NotStarted:
    """Run a program with nothing on its standard input.

    `timeout` is in seconds. `spill` is where an output goes that is too long to be kept whole.
    `on_output` gets clean text, whole lines mostly, while the command runs.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    marker = uuid4().hex
    started = await _start(argv, cwd, env, marker)
    if isinstance(started, NotStarted):
        return started
    command = _Command(*started, marker, Collector(spill), on_output)
    try:
        timed_out, background = await command.finish(timeout)
    except BaseException:
        await uninterrupted(command.abort())
        raise
    output, dropped, spilled, complete = await asyncio.to_thread(command.collector.finish)
    return Finished(
        exit_code=command.exit_code,
        output=output,
        dropped_bytes=dropped,
        spill_path=spilled,
        timed_out=timed_out,
        background_pids=tuple(background),
        seconds=loop.time() - began,
        spill_complete=complete,
    )


async def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], marker: str
) -> tuple[asyncio.SubprocessTransport, OutputPipe] | NotStarted:
    """The running program, by whose `marker` it and all that it starts are found again."""
    try:
        return await asyncio.get_running_loop().subprocess_exec(
            OutputPipe,
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=cwd,
            env=with_marker(env, marker),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return await asyncio.to_thread(explain_start_failure, error, argv, cwd, env)
    except asyncio.CancelledError:
        # It may have started, and started others, before the cancellation came through.
        await uninterrupted(asyncio.to_thread(kill_tree, None, marker))
        raise


class _Command:
    """A running command: its process, the task that reads its output, and how both end."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        pipe: OutputPipe,
        marker: str,
        collector: Collector,
        on_output: OnOutput | None,
    ) -> None:
        self.collector = collector
        self._transport = transport
        self._pipe = pipe
        self._marker = marker
        self._reader = asyncio.create_task(self._read(on_output))

    @property
    def exit_code(self) -> int | None:
        """See `Finished`."""
        return self._transport.get_returncode()

    async def finish(self, timeout: float) -> tuple[bool, list[int]]:
        """Wait for the exit; whether the time ran out, and the pids that still run."""
        timed_out = not await self._exits_within(timeout)
        if timed_out:
            await uninterrupted(
                asyncio.to_thread(kill_tree, self._transport.get_pid(), self._marker)
            )
        await asyncio.wait({self._reader}, timeout=DRAIN_SECONDS)
        self._transport.close()
        await self._reader
        return timed_out, await self._survivors()

    async def abort(self) -> None:
        """End everything at once; the output does not matter any more."""
        await asyncio.to_thread(kill_tree, self._transport.get_pid(), self._marker)
        self._transport.close()
        _, stuck = await asyncio.wait({self._reader}, timeout=1)
        for reader in stuck:
            reader.cancel()
        await asyncio.wait({self._reader})
        await asyncio.to_thread(self.collector.discard)

    async def _read(self, on_output: OnOutput | None) -> None:
        while data := await self._pipe.take():
            text = await asyncio.to_thread(self.collector.feed, data)
            if text and on_output:
                await on_output(text)
        text = await asyncio.to_thread(self.collector.flush)
        if text and on_output:
            await on_output(text)

    async def _exits_within(self, timeout: float) -> bool:
        deadline = asyncio.get_running_loop().time() + timeout
        exited = asyncio.create_task(self._pipe.exited.wait())
        try:
            # The reader is watched too: when it fails, nobody would empty the pipe any more.
            await asyncio.wait(
                {exited, self._reader}, timeout=timeout, return_when="FIRST_COMPLETED"
            )
            if self._reader.done():
                self._reader.result()
                remaining = deadline - asyncio.get_running_loop().time()
                await asyncio.wait({exited}, timeout=max(0, remaining))
            return exited.done()
        finally:
            exited.cancel()

    async def _survivors(self) -> list[int]:
        """Pids of the command that run on; one look is not enough, some are just about to end."""
        find = asyncio.to_thread(tree_members, self._transport.get_pid(), self._marker)
        if not (first := await find):
            return []
        await asyncio.sleep(_CONFIRM_SECONDS)
        again = await asyncio.to_thread(tree_members, self._transport.get_pid(), self._marker)
        return [pid for pid in again if pid in first]
