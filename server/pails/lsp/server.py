"""The server process: answers `initialize` at once, loads the rest behind it, ends cleanly.

Architecture invariant: this module and what it imports stay light (pygls, lsprotocol, `core`), for
their imports are what a person waits for when the editor starts. Everything else is loaded by
`load` in a thread once the client is initialized; what asks for it sooner waits.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from pails import __version__
from pails.core.errors import PailsError
from pails.lsp import actions
from pails.lsp.client import Client
from pails.lsp.documents import OpenDocuments
from pails.lsp.framing import FrameWriter, start_reading
from pails.lsp.methods import PAI_METHODS, REVIEW_COMMANDS, REWIND_COMMANDS
from pails.lsp.positions import Encoding
from pails.lsp.transport import PailsProtocol

log = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0
"""How long the end of the sessions may take before the process ends without them."""


class Edge(Protocol):
    """What is behind the loading; see `handlers.Handlers`."""

    async def call(self, method: str, params: object) -> object: ...

    async def execute(self, command: str, arguments: Sequence[object]) -> object: ...

    async def code_lenses(self, uri: str) -> list[types.CodeLens]: ...

    async def review_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]: ...

    async def content(self, uri: str) -> str: ...

    async def cancel_progress(self, token: int | str) -> None: ...

    async def close(self) -> None: ...


MakeEdge = Callable[[Client, OpenDocuments], Awaitable[Edge]]
Load = Callable[[], MakeEdge]
"""Imports everything heavy; called once, in a thread."""

WatchParent = Callable[[Sequence[int], Callable[[], object]], object]
"""Calls back, from any thread, when our parent or one of these processes is gone."""


class Server(LanguageServer):
    """One connection with one client."""

    def __init__(
        self,
        load: Load,
        watch_parent: WatchParent | None = None,
        real_path: Callable[[Path], Path | None] | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - untyped in pygls
            "pails", __version__, protocol_cls=PailsProtocol
        )
        self._wire = cast(PailsProtocol, self.protocol)
        logging.getLogger("pygls").setLevel(logging.WARNING)  # below, it logs whole messages
        self._load = load
        self._watch_parent = watch_parent
        self._client: Client | None = None
        self._loading: asyncio.Task[Edge] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[int] | None = None
        if real_path is not None:
            self._wire.documents = OpenDocuments(real_path)
        self._wire.when_shut_down = self._close
        self._wire.when_exited = self.end
        self._wire.when_progress_cancelled = self._cancel_progress
        self._register()

    async def serve(self, stdin: BinaryIO, stdout: BinaryIO) -> int:
        """Serve one client until `exit`, the end of stdin, or the death of the client.

        Returns the exit code: 0 when the client had sent `shutdown`, else 1.
        """
        self._ended = asyncio.get_running_loop().create_future()
        writer = FrameWriter(stdout, broken=self._ender())
        self._wire.set_writer(writer)
        start_reading(stdin, self._wire.receive, self.end)
        try:
            return await self._ended
        finally:
            await self._close()
            self._wire.lose_client()
            await asyncio.to_thread(writer.close)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Errors go to the log. pygls would pop up a window message for each."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    # -- features ------------------------------------------------------------------------------

    def _register(self) -> None:
        options = types.CodeActionOptions(code_action_kinds=actions.KINDS)
        self._add(types.INITIALIZE, self._initialize)
        self._add(types.INITIALIZED, self._initialized)
        self._add(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._change_folders)
        self._add(types.TEXT_DOCUMENT_CODE_ACTION, self._code_actions, options)
        self._add(types.TEXT_DOCUMENT_CODE_LENS, self._code_lenses, types.CodeLensOptions())
        self._add(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, self._content)
        for method in PAI_METHODS:
            self._add(method, self._pai_handler(method))
        for command in (*actions.COMMANDS, *REVIEW_COMMANDS, *REWIND_COMMANDS):
            self.command(command)(partial(self._command_handler(command)))

    def _add(
        self, method: str, handler: Callable[..., object], options: object | None = None
    ) -> None:
        # pygls marks its handlers with attributes, which a bound method cannot take, and hands the
        # server to those whose first annotation fits it; a partial is proof against both.
        self.feature(method, options)(partial(handler))

    def _initialize(self, params: types.InitializeParams) -> None:
        chosen = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
        self._wire.documents.encoding = Encoding(chosen)
        self._client = Client(self._wire, params)
        if self._watch_parent is not None:
            pids = [] if params.process_id is None else [params.process_id]
            self._watch_parent(pids, self._ender())

    def _initialized(self, _: types.InitializedParams) -> None:
        self._start_loading()

    def _change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        self._known_client().change_folders(params.event)

    async def _code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document = self._wire.documents.get(params.text_document.uri)
        if document is None:
            return []
        review = [] if self._loaded is None else await self._loaded.review_actions(params)
        return [*review, *actions.code_actions(document, params)]

    async def _code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        # Of what is not loaded yet nothing can wait for a review, so this loads nothing.
        if self._loaded is None:
            return []
        return await self._loaded.code_lenses(params.text_document.uri)

    async def _content(
        self, params: types.TextDocumentContentParams
    ) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(await (await self._edge()).content(params.uri))

    async def _cancel_progress(self, token: int | str) -> None:
        await (await self._edge()).cancel_progress(token)

    def _pai_handler(self, method: str) -> Callable[[object], Awaitable[object]]:
        async def handle(params: object) -> object:
            return await (await self._edge()).call(method, params)

        return handle

    def _command_handler(self, command: str) -> Callable[..., Awaitable[object]]:
        async def handle(*arguments: object) -> object:
            return await (await self._edge()).execute(command, arguments)

        return handle

    # -- the life cycle ------------------------------------------------------------------------

    def _start_loading(self) -> "asyncio.Task[Edge]":
        if self._loading is None:
            self._loading = asyncio.create_task(self._make_edge(), name="loading")
            self._loading.add_done_callback(self._when_loaded)
        return self._loading

    @property
    def _loaded(self) -> Edge | None:
        """What is behind the loading, where it is there already."""
        loading = self._loading
        done = loading is not None and loading.done() and not loading.cancelled()
        return loading.result() if loading and done and not loading.exception() else None

    def _when_loaded(self, loading: "asyncio.Task[Edge]") -> None:
        """Say why it failed, also to who asked for nothing yet; the next request tries again."""
        if not loading.cancelled() and (failure := loading.exception()) is not None:
            self._loading = None
            _log_failure("the server could not be loaded", failure)
            self._known_client().show(types.MessageType.Error, f"Pails cannot start: {failure}")

    async def _make_edge(self) -> Edge:
        make = await asyncio.to_thread(self._load)
        return await make(self._known_client(), self._wire.documents)

    async def _edge(self) -> Edge:
        """The loaded part. A cancelled request does not cancel the loading for the others."""
        return await asyncio.shield(self._start_loading())

    async def _close(self) -> None:
        """Close the sessions, once: `exit` may come while `shutdown` still does it."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close_sessions(), name="closing")
        await asyncio.shield(self._closing)

    async def _close_sessions(self) -> None:
        loading = self._loading
        if loading is None:  # not begun, or failed: there are no sessions
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await (await loading).close()
        except TimeoutError:
            log.error("the sessions could not be closed in %s seconds", CLOSE_SECONDS)
        except Exception as error:  # noqa: BLE001 - a border: the process must end in any case
            if error is not loading.exception():  # of that one, `_when_loaded` has told
                _log_failure("the server could not be closed cleanly", error)

    def _ender(self) -> Callable[[], None]:
        """What ends `serve` from any thread."""
        loop = asyncio.get_running_loop()

        def end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended already
                loop.call_soon_threadsafe(self.end)

        return end

    def end(self) -> None:
        """End `serve`: close the sessions, then return."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(0 if self._wire.is_shut_down else 1)

    def _known_client(self) -> Client:
        if self._client is None:
            raise AssertionError("nothing but initialize is handled before initialize")
        return self._client


def _log_failure(what: str, failure: BaseException) -> None:
    """In one line; with a traceback only where it is a bug."""
    unexpected = None if isinstance(failure, PailsError) else failure
    log.error("%s: %s", what, failure, exc_info=unexpected)
