"""Files that are known by name: what may hold secrets, and what decides which programs run.

A pattern is a name, or a folder and a name in it; `*` stays within a name. All are in lower case,
for names are compared as the most forgiving file system does it.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

ENVIRONMENT = (".env", ".env.*", ".env-*", ".env_*", ".envrc")
"""What shells and programs load as their environment."""

_DATA = ("json", "yml", "yaml", "toml", "ini", "cfg", "conf", "xml", "csv", "txt", "properties")
_SECRETS = (
    *ENVIRONMENT,
    *("*.env", ".secrets", ".credentials", ".credentials.*"),
    *(f"{name}.{kind}" for name in ("secrets", "credentials") for kind in _DATA),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "id_*"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".htpasswd"),
    *(".my.cnf", ".dockercfg", ".vault-token", ".boto", ".s3cfg", "*.tfstate", "*.tfstate.*"),
    *("*.tfvars", "*.tfvars.json", "kubeconfig"),
    *(".aws/config", ".aws/credentials", ".azure/*", ".cargo/credentials*"),
    *(".docker/config.json", ".kube/config"),
)
_SECRET_FOLDERS = (".ssh", ".gnupg", ".password-store", ".config/gh", ".config/gcloud")
_NO_SECRETS = (
    *("*.example", "*.sample", "*.template", "*.dist"),
    *(f"{kind}.env" for kind in ("example", "sample", "template")),
    "id_*.*",  # private keys have no suffix, and `id_map.py` is no key
)

CONFIGURATION = (
    # agents
    *(".pai", ".mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".windsurf"),
    *(".continue", ".opencode", "opencode.json", ".aider.conf.yml", ".kiro", ".roo", ".clinerules"),
    # editors
    *(".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/mcp.json"),
    *("*.code-workspace", ".idea", ".run", ".fleet", ".vs", ".zed", ".helix", ".nova"),
    *(".devcontainer", ".devcontainer.json", ".dir-locals*.el", ".emacs", ".emacs.d"),
    *("*.sublime-project", ".vim", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".ideavimrc"),
    *(".exrc", ".nvim.lua", ".nvimrc", ".config/nvim", ".config/helix", ".config/zed"),
    *(".gdbinit", ".lldbinit", ".tmux.conf", ".screenrc"),
    # tools that run as one enters a folder
    *(".mise", ".mise.toml", ".mise.*.toml", "mise.toml", "mise.*.toml", "mise/config.toml"),
    *(".config/mise", ".tool-versions", ".envrc*", ".direnvrc", ".config/direnv"),
    *(".yarnrc", ".yarnrc.yml"),
    # git, its hooks, and continuous integration
    *(".gitconfig", ".gitmodules", ".gitattributes", ".lfsconfig", ".config/git"),
    *(".husky", ".githooks", ".pre-commit-config.yaml", ".pre-commit-config.yml"),
    *("lefthook.yml", ".lefthook.yml", "lefthook-local.yml", ".lefthook-local.yml"),
    *(".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows"),
    *(".gitlab-ci.yml", ".circleci", ".travis.yml", "azure-pipelines.yml"),
    "bitbucket-pipelines.yml",
    # shells and desktops
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
    *(".login", ".logout", ".inputrc", ".config/fish", ".xinitrc", ".xprofile", ".xsession"),
    *(".xsessionrc", ".pam_environment", ".config/autostart", ".config/systemd"),
    *(".config/environment.d", ".local/bin"),
)
"""What starts programs when an editor, git, a shell or an agent opens the folder."""


def is_secret(path: Path) -> bool:
    """Whether a file of this name asks before it is read, and is left out of searches.

    The path is as seen from the workspace: folders above that one say nothing of the file.
    """
    return names_any((path,), _SECRET_FOLDERS) or (_named(path, _SECRETS) and not _is_example(path))


def is_environment(path: Path) -> bool:
    """Whether the path is, or lies below, what is loaded as an environment; examples are not."""
    return names_any((path,), ENVIRONMENT) and not _is_example(path)


def names_any(paths: Iterable[Path], patterns: tuple[str, ...]) -> bool:
    """Whether one of the paths is, or lies below, something of these names."""
    regex = _compiled(patterns, "(?:/|\\Z)")
    return any(regex.search(_plain_path(path)) for path in paths)


def _named(path: Path, patterns: tuple[str, ...]) -> bool:
    """Whether the path itself has one of these names."""
    return _compiled(patterns, "\\Z").search(_plain_path(path)) is not None


def _is_example(path: Path) -> bool:
    return _named(path, _NO_SECRETS)


@functools.cache
def _compiled(patterns: tuple[str, ...], end: str) -> re.Pattern[str]:
    names = "|".join(re.escape(pattern).replace("\\*", "[^/]*") for pattern in patterns)
    return re.compile(f"(?:^|/)(?:{names}){end}")


def _plain_path(path: Path) -> str:
    return "/".join(map(plain_name, path.parts))


@functools.lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """The name as the most forgiving file system takes it.

    macOS ignores invisible characters and case, Windows trailing dots and blanks, and there a
    colon begins the name of a stream of the same file.
    """
    shown = "".join(c for c in name if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", shown).casefold()
    return folded.partition(":")[0].rstrip(". ") or folded
