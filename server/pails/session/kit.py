"""What `app` hands to a session: the real parts behind the ports."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pails.core.events import Mode
from pails.core.ports import Editor, Model, SyntaxChecker, Texts
from pails.policy.gate import Gate
from pails.session.rewinding.workspace_snapshots import WorkspaceSnapshots
from pails.tools.files.documents import Documents
from pails.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Kit:
    """The parts of one session, and what its workspace's configuration says."""

    system_prompt: str
    registry: ToolRegistry
    gate: Gate
    checker: SyntaxChecker
    editor: Editor | None
    documents: Documents
    texts: Texts
    snapshots: WorkspaceSnapshots
    find_model: Callable[[str], Awaitable[Model]]
    """The model of this name ("" means the configured one); raises `ConfigurationError`."""
    mode: Mode
    max_rounds: int
    parallel_reads: int
    warnings: tuple[str, ...]
    """Settings of the workspace that could not be used."""
