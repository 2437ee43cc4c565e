"""What `app` hands to a session: the real parts behind the ports."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pails.core.events import Mode
from pails.core.ports import Action, Decision, Editor, Model, SyntaxChecker
from pails.tools.documents import Documents
from pails.tools.registry import ToolRegistry


class SessionGate(Protocol):
    """The gate of one session, as `policy.gate` provides it."""

    def judge(self, action: Action, mode: Mode, workspace: Path, turn_id: str) -> Decision: ...

    def grant(self, decision: Decision) -> None: ...

    def refuse(self, action: Action, workspace: Path, turn_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Kit:
    """The parts of one session."""

    system_prompt: str
    registry: ToolRegistry
    gate: SessionGate
    checker: SyntaxChecker
    editor: Editor | None
    documents: Documents
    find_model: Callable[[str], Awaitable[Model]]
    """The model of this name ("" means the configured one); raises `ConfigurationError`."""
    max_rounds: int = 20
    parallel_reads: int = 4
