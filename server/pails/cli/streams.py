"""The standard streams around a command: they may be closed, full, or without a reader."""

import io
import sys
from collections.abc import Callable

from pails.host.terminal import end_output, fill_closed_streams


def with_streams(command: Callable[[], int]) -> int:
    """The command's exit code, or 1 when its output could not be written.

    A command whose stdout is closed is not begun: it would work for nobody. `SystemExit` passes:
    argparse ends by it.
    """
    is_pointless = sys.stdout is None  # so Python has a stream that was closed before the start
    fill_closed_streams()
    if is_pointless:
        sys.stderr.write("pails: Nothing was done: stdout is closed.\n")
        return 1
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            return command()
        finally:  # what fails to be written later, at exit, Python tells with a traceback
            sys.stdout.flush()
            sys.stderr.flush()
    except OSError as error:
        end_output(error)
        return 1
