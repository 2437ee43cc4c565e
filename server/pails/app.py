"""The wiring: builds every part from the configuration. The only module that knows them all, but
for what keeps snapshots, which `entry` hands in to be loaded when the first one is taken."""

import asyncio
import platform
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pails import __version__, telemetry
from pails.config import LoadedConfig, Paths
from pails.config import load as load_config
from pails.context.prompt import system_prompt
from pails.core.errors import PailsError
from pails.core.ports import Editor
from pails.core.tasks import all_of, in_turn
from pails.core.text import join_surrogates
from pails.diagnostics.checker import TreeSitterChecker
from pails.host import files
from pails.host.environment import current_environment
from pails.host.leftovers import remove_old, remove_old_folders
from pails.host.process_tree import kill_tree
from pails.host.texts import TextStore
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocuments
from pails.lsp.editor import ClientEditor
from pails.lsp.handlers import Handlers, capabilities
from pails.lsp.protocol.sessions import ModelServer, ModelsListResult, ModelStatus, StatusResult
from pails.model.client import ChatModel
from pails.model.discovery import find_endpoint, list_servers, with_model
from pails.model.endpoint import Endpoint
from pails.policy.gate import Gate
from pails.session.kit import Kit
from pails.session.manager import SessionManager
from pails.session.rewinding.workspace_snapshots import LoadSnapshots, WorkspaceSnapshots
from pails.tools.builtin import builtin_tools
from pails.tools.command import OUTPUT_NAMES
from pails.tools.files.documents import Documents
from pails.tools.files.writers import LOCK_NAMES, Writers
from pails.tools.registry import ToolRegistry

KEPT_SECONDS = 14 * 24 * 3600.0
"""How long outputs, answers and deleted sessions are kept. The others are kept for good."""
_ANSWER_NAMES = "????????-??????-????*"
_KEPT_NAME_CHARS = 50  # of the end, where the extension is; a file system counts bytes, up to 255


async def connect(
    load_snapshots: LoadSnapshots, client: Client, documents: OpenDocuments
) -> Handlers:
    """The loaded part of the server for one client; what `entry.load` hands to the server."""
    can = capabilities(client)
    editor = ClientEditor(client, documents, can)
    folder = client.folders[0] if client.folders else None
    environ = current_environment()
    app = await asyncio.to_thread(App, environ, can.settings, editor, folder, load_snapshots)
    app.start()
    return Handlers(client, documents, can, app)


class App:
    """All parts of a running server. `settings` are the editor's, whatever it sent.

    Making one blocks: it reads the configuration and makes folders.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        settings: object,
        editor: Editor | None,
        workspace: Path | None,
        load_snapshots: LoadSnapshots,
    ) -> None:
        self._environ = environ
        self._settings = settings
        self._editor = editor
        self._load_snapshots = load_snapshots
        self._paths = Paths.from_environment(environ)
        self._paths.create()
        loaded = load_config(workspace, environ, settings)
        self._loaded = loaded
        log_warnings = telemetry.configure(self._paths.logs, loaded.config.log_level)
        self._warnings = (*loaded.warnings, *log_warnings)
        self._checker = TreeSitterChecker()
        self._writers = Writers(self._paths.locks)
        self._models = Models(environ)
        self._owner = secrets.token_hex(16)
        self._cleaning: asyncio.Task[None] | None = None
        self._snapshots: dict[Path, WorkspaceSnapshots] = {}
        self.sessions = SessionManager(self._paths, self._make_kit)

    def start(self) -> None:
        """Begin what nobody waits for: removing what has been kept for long enough."""
        self._cleaning = asyncio.create_task(asyncio.to_thread(self._remove_old))

    async def status(self) -> StatusResult:
        """Version, model and configuration warnings."""
        try:
            endpoint = await self._models.find(self._loaded)
            name, base_url = endpoint.model, endpoint.base_url
            model = ModelStatus(name=name, base_url=base_url, ready=True, message="")
        except PailsError as error:
            model = ModelStatus(ready=False, message=str(error))
        return StatusResult(
            version=__version__,
            model=model,
            sessions=len(self.sessions),
            warnings=list(self._warnings),
        )

    async def models(self) -> ModelsListResult:
        """The model servers that are configured or answer on this machine, with their models."""
        try:
            current = await self._models.find(self._loaded)
        except PailsError:
            current = None
        servers = [
            ModelServer(
                name=endpoint.origin,
                base_url=endpoint.base_url,
                models=models,
                is_current=current is not None and endpoint.base_url == current.base_url,
            )
            for endpoint, models in await list_servers(current)
        ]
        return ModelsListResult(servers=servers)

    async def keep_text(self, name: str, text: str) -> Path:
        """Write a text to a file of ours whose name ends with this one, for an editor to open."""
        unique = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        path = self._paths.answers / f"{unique}-{name[-_KEPT_NAME_CHARS:]}"
        await asyncio.to_thread(files.write_private, path, join_surrogates(text).encode())
        return path

    async def close(self) -> None:
        """End running turns as interrupted, let go of logs, children and connections.

        Each step is taken, also behind one that fails; the first failure is raised at the end.
        """
        try:
            await in_turn(
                (
                    self.sessions.close,
                    lambda: all_of((self._models.close(), self._checker.aclose())),
                    lambda: asyncio.to_thread(kill_tree, None, self._owner),
                    self._close_snapshots,
                    self._end_cleaning,
                )
            )
        finally:
            telemetry.close()

    async def _close_snapshots(self) -> None:
        await all_of(asyncio.to_thread(one.close) for one in self._snapshots.values())

    async def _end_cleaning(self) -> None:
        if self._cleaning:
            await self._cleaning

    def _remove_old(self) -> None:
        remove_old(self._paths.all_output, OUTPUT_NAMES, KEPT_SECONDS)
        remove_old(self._paths.answers, _ANSWER_NAMES, KEPT_SECONDS)
        remove_old_folders(self._paths.all_deleted, KEPT_SECONDS)
        remove_old(self._paths.locks, LOCK_NAMES, KEPT_SECONDS)

    def _snapshots_of(self, workspace: Path) -> WorkspaceSnapshots:
        """Those of a workspace, which all its sessions share."""
        made = WorkspaceSnapshots(self._paths.snapshots(workspace), workspace, self._load_snapshots)
        return self._snapshots.setdefault(workspace, made)

    def _make_kit(self, workspace: Path, session_id: str) -> Kit:
        """The parts of one session. Blocking: reads the workspace's configuration."""
        loaded = load_config(workspace, self._environ, self._settings)
        config = loaded.config
        output = self._paths.output(workspace, session_id)
        documents = Documents(self._editor, self._writers, session_id)
        tools = builtin_tools(documents, config, output, self._owner)

        async def find_model(name: str) -> ChatModel:
            return await self._models.model(loaded, name)

        return Kit(
            system_prompt=system_prompt(workspace, platform.system()),
            registry=ToolRegistry(tools),
            gate=Gate(readable=(output,)),
            checker=self._checker,
            editor=self._editor,
            documents=documents,
            texts=TextStore(self._paths.texts(workspace, session_id)),
            snapshots=self._snapshots_of(workspace),
            find_model=find_model,
            mode=config.mode,
            max_rounds=config.max_rounds,
            parallel_reads=config.parallel_reads,
            warnings=loaded.warnings,
        )


class Models:
    """Finds models and keeps one client for each, so that connections are used again."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._clients: dict[tuple[Endpoint, float], ChatModel] = {}

    async def model(self, settings: LoadedConfig, name: str) -> ChatModel:
        """The model of this name, or the configured one; raises `ConfigurationError`."""
        endpoint = await self.find(settings, name)
        idle = settings.config.idle_timeout_seconds
        if (endpoint, idle) not in self._clients:
            self._clients[endpoint, idle] = ChatModel(endpoint, idle_timeout=idle)
        return self._clients[endpoint, idle]

    async def find(self, settings: LoadedConfig, name: str = "") -> Endpoint:
        """Where requests for this model go, the first of the server when none is named."""
        endpoint = await find_endpoint(settings, self._environ)
        return await with_model(replace(endpoint, model=name) if name else endpoint)

    async def close(self) -> None:
        await all_of(client.aclose() for client in self._clients.values())
