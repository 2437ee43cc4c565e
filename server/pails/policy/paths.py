"""The third defence: where paths really lead, and the files that decide what runs.

Files are known by name in any case, and both under the name that was asked for and the one that
links lead to. Writes into git's own folder and to environment files are refused; configuration
of ours and of editors, which starts programs, always asks, whatever was granted; secrets ask
before they are read.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

from pails.core.ports import Action, Decision
from pails.host.paths import git_folder, is_within, normalized, real_path
from pails.policy.visible import visible_line

SECRET_NAMES = (
    *(".env", ".env.*", ".env-*", ".env_*", ".envrc"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    *(".netrc", ".npmrc", ".pypirc", ".git-credentials"),
)
"""File names, lower case, that ask before they are read. Searches leave these files out."""

_ENVIRONMENT_NAMES = SECRET_NAMES[:5]
_GIT_NAMES = (".git", "git~1")
_CONFIGURATION = (
    *(".pai", ".mcp.json", ".claude", ".cursor"),
    *(".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/mcp.json"),
    *("*.code-workspace", ".idea", ".devcontainer", ".nvim.lua", ".nvimrc", ".exrc", ".vim"),
    *(".zed", ".helix", ".dir-locals.el", "*.sublime-project"),
    *(".husky", ".githooks"),
)
"""Names that start programs when an editor, git or an agent opens the folder, with all below."""

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
class ResolvedPaths:
    """All paths of an action; where it writes, with where the git folder really is."""

    reads: tuple[ResolvedPath, ...]
    writes: tuple[ResolvedPath, ...]
    git_folder: Path | None


def resolve(action: Action, workspace: Path) -> ResolvedPaths:
    """Follow the links of the action's paths. Looks at the disk, changes nothing."""
    root = real_path(workspace) or workspace

    def resolved(path: Path) -> ResolvedPath:
        return ResolvedPath(normalized(workspace / path), real_path(workspace / path), root)

    return ResolvedPaths(
        tuple(map(resolved, action.reads)),
        tuple(map(resolved, action.writes)),
        git_folder(root) if action.writes else None,
    )


def judge_paths(paths: ResolvedPaths, readable: Sequence[Path]) -> Decision:
    """`readable` are folders outside the workspace that may be read, such as the session's own."""
    decisions = [
        *(_judge_write(path, paths.git_folder) for path in paths.writes),
        *(_judge_read(path, readable) for path in paths.reads),
    ]
    for verdict in ("deny", "ask"):
        for decision in decisions:
            if decision.verdict == verdict:
                return decision
    return _ALLOWED


def is_secret(path: Path) -> bool:
    """Whether a file of this name asks before it is read."""
    return _matches([path.name], SECRET_NAMES)


def _judge_write(path: ResolvedPath, git_folder: Path | None) -> Decision:
    shown = visible_line(str(path.relative))
    if not path.inside:
        return _outside(path, "written")
    in_git_folder = git_folder and path.real and is_within(path.real, git_folder)
    if in_git_folder or _names_any(path.names, _GIT_NAMES):
        return Decision("deny", f"paths: {shown} belongs to git, which alone writes there.")
    if _names_any(path.names, _ENVIRONMENT_NAMES):
        return Decision(
            "deny",
            f"paths: {shown} is an environment file, and those are the person's alone. Tell "
            "them which line to add.",
        )
    if _names_any(path.names, _CONFIGURATION):
        return Decision("ask", f"paths: {shown} decides what programs run, so each write asks")
    return _ALLOWED


def _judge_read(path: ResolvedPath, readable: Sequence[Path]) -> Decision:
    may_be_secret = any(is_secret(name) for name in path.names)
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


def _names_any(paths: Iterable[Path], patterns: tuple[str, ...]) -> bool:
    """Whether one of the paths is, or lies below, something of these names."""
    return any(
        _matches(parts[start:end], patterns)
        for parts in (path.parts for path in paths)
        for start in range(len(parts))
        for end in (start + 1, start + 2)
        if end <= len(parts)
    )


def _matches(parts: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return _any_of(patterns).match("/".join(map(_plain, parts))) is not None


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


@functools.lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """The name as the most forgiving file system takes it.

    macOS ignores invisible characters and case, Windows trailing dots and blanks, and there a
    colon begins the name of a stream of the same file.
    """
    shown = "".join(c for c in name if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", shown).casefold()
    return folded.partition(":")[0].rstrip(". ") or folded
