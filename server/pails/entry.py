"""The `pails` command. The one place whose functions import: each way in loads only what it needs.

pails                 the language server, on stdin and stdout
pails run "task"      a task from the terminal; see `pails run --help`
pails doctor          what is there, what is missing, where each setting comes from
"""

import sys
from typing import TYPE_CHECKING, TextIO

from pails import __version__

if TYPE_CHECKING:
    from pails.host.watch import Watcher
    from pails.lsp.server import MakeEdge
    from pails.snapshots.store import SnapshotStore

USAGE = f"""\
Pails {__version__}, a coding agent that lives in a language server.

    pails [--stdio]       the language server, on stdin and stdout
    pails run "task"      a task from the terminal
    pails doctor          what is there, what is missing, where each setting comes from

`pails run --help` and `pails doctor --help` tell more.
"""

AT_TERMINAL = (
    "This is Pails' language server, which waits for an editor (see README). "
    'Here, use: pails run "task", pails doctor; Ctrl-C ends this.\n'
)


def main() -> int:
    """Run the command of `sys.argv`; returns the exit code."""
    command, *rest = sys.argv[1:] or ["--stdio"]
    try:
        if command == "--stdio" and not rest:
            return serve()
        return _run_command(command, rest)
    except KeyboardInterrupt:
        return 130


def _run_command(command: str, rest: list[str]) -> int:
    """Whatever is not the server, whose streams are the protocol's."""
    from pails.cli.streams import with_streams

    return with_streams(lambda: _choose(command, rest))


def _choose(command: str, rest: list[str]) -> int:
    if command == "run":
        return _run(rest)
    if command == "doctor":
        return _doctor(rest)
    if command in ("-h", "--help"):
        return _say(sys.stdout, USAGE, 0)
    if command == "--version":
        return _say(sys.stdout, f"pails {__version__}\n", 0)
    unknown = rest[0] if command == "--stdio" else command
    return _say(sys.stderr, f"pails: there is no command or option {unknown!r}.\n\n{USAGE}", 2)


def _say(stream: TextIO, text: str, code: int) -> int:
    stream.write(text)
    return code


def serve() -> int:
    """The language server. Imports only what the answer to `initialize` needs."""
    import gc

    gc.disable()  # collecting while hundreds of classes are made costs a tenth of the start
    import asyncio

    from pails.host.children import watch_children_by_descriptor
    from pails.host.ending import exit_within
    from pails.host.parent import watch_parent, watch_signals
    from pails.host.paths import real_path
    from pails.host.stdio import protect_stdio
    from pails.lsp.server import Server

    gc.freeze()
    gc.enable()
    if sys.stdin and sys.stdin.isatty() and sys.stderr:  # a closed one is None
        sys.stderr.write(AT_TERMINAL)
    watch_children_by_descriptor()
    stdin, stdout = protect_stdio()
    server = Server(load, watch_parent, real_path)

    async def serve_one_client() -> int:
        watch_signals(server.end)
        code = await server.serve(stdin, stdout)
        exit_within(5.0, code)
        return code

    return asyncio.run(serve_one_client())


def load() -> "MakeEdge":
    """Everything else, loaded behind the answer to `initialize`."""
    import gc

    gc.disable()  # as above
    try:
        from functools import partial

        from pails.app import connect

        gc.freeze()
        return partial(connect, load_snapshots)
    finally:
        gc.enable()


def load_snapshots() -> "tuple[type[SnapshotStore], type[Watcher]]":
    """What keeps snapshots, loaded when the first one is taken."""
    from pails.host.watch import Watcher
    from pails.snapshots.store import SnapshotStore

    return SnapshotStore, Watcher


def _run(arguments: list[str]) -> int:
    from pails.cli.run import main as run

    return run(arguments)


def _doctor(arguments: list[str]) -> int:
    from pails.cli.doctor import main as doctor

    return doctor(arguments)
