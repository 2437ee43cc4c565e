"""The third defence: where paths really lead, and the files that decide what runs.

Files are known by name in any case, and both under the name that was asked for and the one that
links lead to. Writes into git's own folders and to environment files are refused. Configuration
of ours and of editors, which starts programs, always asks, whatever was granted; so does every
write in a home folder; secrets ask before they are read or written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pails.core.ports import Action, Decision
from pails.host.paths import home_folder, is_within, normalized, real_path
from pails.policy.git import GitPlace, git_place
from pails.policy.names import CONFIGURATION, is_environment, is_secret, names_any
from pails.policy.visible import visible_line

_GIT_NAMES = (".git", "git~1")
_ALLOWED = Decision("allow", "paths: inside the workspace")


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path of an action as asked for, and where it really leads; None: nowhere it could."""

    asked: Path
    real: Path | None
    workspace: Path

    @property
    def inside(self) -> bool:
        return self.real is not None and is_within(self.real, self.workspace)

    @property
    def relative(self) -> Path:
        """The real path as seen from the workspace; absolute where it lies outside."""
        if self.real is None:
            return self.asked
        return self.real.relative_to(self.workspace) if self.inside else self.real

    @property
    def names(self) -> tuple[Path, ...]:
        """Both paths as seen from the workspace, for rules by name."""
        if not self.asked.is_relative_to(self.workspace):
            return (self.relative,)
        return (self.relative, self.asked.relative_to(self.workspace))


@dataclass(frozen=True, slots=True)
class ResolvedWrite(ResolvedPath):
    """A path to be written, with what it is to git and whether it lies in a home folder's tree."""

    git: GitPlace
    at_home: bool


@dataclass(frozen=True, slots=True)
class ResolvedPaths:
    """All paths of an action."""

    reads: tuple[ResolvedPath, ...]
    writes: tuple[ResolvedWrite, ...]


def resolve(action: Action, workspace: Path) -> ResolvedPaths:
    """Follow the links of the action's paths. Looks at the disk, changes nothing."""
    root = real_path(workspace) or workspace
    home = home_folder()
    at_home = home is not None and is_within(home, root)

    def resolved(path: Path) -> ResolvedPath:
        return ResolvedPath(normalized(workspace / path), real_path(workspace / path), root)

    def resolved_write(path: Path) -> ResolvedWrite:
        found = resolved(path)
        git = git_place(found.real, root) if found.real and found.inside else ""
        return ResolvedWrite(found.asked, found.real, root, git, at_home)

    return ResolvedPaths(
        tuple(map(resolved, action.reads)), tuple(map(resolved_write, action.writes))
    )


def judge_paths(paths: ResolvedPaths, readable: Sequence[Path]) -> Decision:
    """`readable` are folders outside the workspace that may be read, such as the session's own."""
    decisions = [
        *map(_judge_write, paths.writes),
        *(_judge_read(path, readable) for path in paths.reads),
    ]
    for verdict in ("deny", "ask"):
        for decision in decisions:
            if decision.verdict == verdict:
                return decision
    return _ALLOWED


def _judge_write(path: ResolvedWrite) -> Decision:
    shown = visible_line(str(path.relative))
    if not path.inside:
        return _outside(path, "written")
    if path.git == "inside" or names_any(path.names, _GIT_NAMES):
        return Decision("deny", f"paths: {shown} belongs to git, which alone writes there.")
    if any(map(is_environment, path.names)):
        return Decision(
            "deny",
            f"paths: {shown} is an environment file, and those are the person's alone. Tell "
            "them which line to add.",
        )
    why = _why_a_write_asks(path)
    return Decision("ask", f"paths: {shown} {why}, so each write asks") if why else _ALLOWED


def _why_a_write_asks(path: ResolvedWrite) -> str:
    """Completes a sentence that begins with the path; empty when the write may pass."""
    if names_any(path.names, CONFIGURATION):
        return "decides what programs run"
    if path.git == "part":
        return "would be part of a git folder, which decides what programs git runs"
    if any(map(is_secret, path.names)):  # what a rewrite replaces shows in its result
        return "may hold secrets"
    if path.at_home:
        return "is in your home folder, which is no project: other programs live by its files"
    return ""


def _judge_read(path: ResolvedPath, readable: Sequence[Path]) -> Decision:
    may_be_secret = any(map(is_secret, path.names))
    if path.inside and not may_be_secret:
        return _ALLOWED
    if path.real and any(is_within(path.real, real_path(root) or root) for root in readable):
        return Decision("allow", "paths: a folder of the session's own")
    if not path.inside:
        return _outside(path, "read")
    shown = visible_line(str(path.relative))
    return Decision("ask", f"paths: {shown} may hold secrets, so each read asks")


def _outside(path: ResolvedPath, done: str) -> Decision:
    asked = visible_line(str(path.asked))
    if path.real is None:
        return Decision("deny", f"paths: {asked} is no path that a file can have.")
    leads = "" if path.real == path.asked else f" leads to {visible_line(str(path.real))}, which"
    return Decision(
        "deny",
        f"paths: {asked}{leads} is outside the workspace; only files in the workspace can be "
        f"{done}. Ask the person when it is needed.",
    )
