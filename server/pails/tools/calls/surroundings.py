"""What a session lends to each of its turns."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pails.core.events import Mode
from pails.core.ports import CallGuard, Editor, Emit, Person, Rewinder, SyntaxChecker, Texts
from pails.policy.gate import Gate
from pails.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts that a call meets on its way; `workspace` is its absolute, real path.

    `editor`, `guard` and `rewinder` are None where there is no such thing.
    """

    workspace: Path
    registry: ToolRegistry
    gate: Gate
    mode: Callable[[], Mode]
    checker: SyntaxChecker
    editor: Editor | None
    person: Person
    texts: Texts
    emit: Emit
    parallel_reads: int
    guard: CallGuard | None = None
    rewinder: Rewinder | None = None
