"""Who watches a turn: a person who reads, or a program that takes JSON."""

import json
from pathlib import Path
from typing import Protocol, TextIO

from pails.cli.client import Json
from pails.cli.render import TurnView
from pails.cli.screen import Screen, printable
from pails.core.events import Event


class Watcher(Protocol):
    """Told what happens, in order."""

    def started(self, status: Json) -> None:
        """The server is there; `status` is the result of `pai/status`."""
        ...

    def saw(self, params: Json, event: Event) -> None:
        """An event: as it came (`pai/event` params) and decoded."""
        ...

    def cancelling(self) -> None:
        """The person pressed Ctrl-C, and the turn is being cancelled."""
        ...


class Reader:
    """A person: events as text."""

    def __init__(self, screen: Screen, workspace: Path) -> None:
        self._screen = screen
        self._workspace = workspace
        self._view = TurnView(screen, workspace)

    def started(self, status: Json) -> None:
        model = status["model"]["name"] or "no model"
        what = f"Pails {status['version']} · {model} · {self._workspace}"
        self._screen.row(self._screen.paint(printable(what), "dim"))

    def saw(self, params: Json, event: Event) -> None:
        del params
        self._view.show(event)

    def cancelling(self) -> None:
        say_cancelling(self._screen)


class JsonLines:
    """A program: one event a line on `out`, and nothing else there."""

    def __init__(self, screen: Screen, out: TextIO) -> None:
        self._screen = screen
        self._out = out

    def started(self, status: Json) -> None:
        warn(self._screen, status)

    def saw(self, params: Json, event: Event) -> None:
        del event
        self._out.write(json.dumps(params, ensure_ascii=False) + "\n")
        self._out.flush()

    def cancelling(self) -> None:
        say_cancelling(self._screen)


def warn(screen: Screen, status: Json) -> None:
    """The configuration's warnings, one a row; a person reads them as notices of the session."""
    for warning in status["warnings"]:
        screen.row(screen.paint(f"! {printable(warning)}", "yellow"))


def say_cancelling(screen: Screen) -> None:
    screen.row(screen.paint("Cancelling … (Ctrl-C again ends at once)", "yellow"))
