"""What the tests of the command line share."""

import io

from pails.cli.screen import Screen


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def plain_screen() -> tuple[Screen, io.StringIO]:
    """A screen into one file, without colour and without streaming; and what it shows."""
    shown = io.StringIO()
    return Screen(shown, shown, {}), shown


def terminal_screen(**environ: str) -> tuple[Screen, FakeTerminal]:
    """A screen on one terminal; and what it shows."""
    shown = FakeTerminal()
    return Screen(shown, shown, environ), shown
