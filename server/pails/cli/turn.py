"""One turn over the wire: start the server, ask, follow the events, end the server."""

import asyncio
import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pails.cli.client import ConnectionEnded, Json, MethodNotFound, RpcClient, RpcError
from pails.cli.person import Person
from pails.cli.watchers import Watcher
from pails.core.errors import ConfigurationError, InvalidRequestError, NotFoundError, PailsError
from pails.core.events import ApprovalRequested, TurnEnded
from pails.core.ports import ApprovalAnswer
from pails.core.rpc import ErrorCode
from pails.host.client_process import ServerProcess, start_server
from pails.session.codec import decode_event

SERVER_ARGV = (sys.executable, "-P", "-m", "pails")
"""`-P`: a module of the workspace must not be imported in the place of one of ours."""

_AS_EXCEPTION: dict[int, type[PailsError]] = {
    ErrorCode.NOT_FOUND: NotFoundError,
    ErrorCode.CONFIGURATION: ConfigurationError,
    ErrorCode.INVALID_PARAMS: InvalidRequestError,
    ErrorCode.REQUEST_FAILED: InvalidRequestError,
}
"""The error responses that a person can avoid; any other one is a failure as such."""


_GRACE_SECONDS = 6.0
"""A server that is told to end has five seconds for its sessions."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to run. `session` goes on with that session; None starts a new one.

    `mode` and `model` None leave them to the configuration or the opened session.
    """

    text: str
    workspace: Path
    mode: str | None = None
    model: str | None = None
    session: str | None = None
    attachments: tuple[Path, ...] = ()


class Turn:
    """Runs one task. `session_id` is set as soon as the session is there."""

    def __init__(self, person: Person, watcher: Watcher) -> None:
        self.session_id = ""
        self._person = person
        self._watcher = watcher
        self._ended: asyncio.Future[TurnEnded] = asyncio.get_running_loop().create_future()
        self._prompts: dict[str, asyncio.Future[ApprovalAnswer]] = {}

    async def run(self, task: Task, environ: Mapping[str, str]) -> TurnEnded:
        """The end of the turn. Raises `PailsError` when it could not be had.

        The first cancellation cancels the turn and still returns its end; a second one is raised.
        """
        server = await _start(task, environ)
        client = RpcClient(server.reader, server.writer, self._on_notification, self._on_request)
        reading = asyncio.create_task(client.run())
        grace_seconds = _GRACE_SECONDS
        try:
            await self._start_turn(client, task)
            return await self._follow(client, reading)
        except ConnectionEnded as error:
            with contextlib.suppress(ConnectionEnded):
                await reading  # raises what ended it, such as a closed stdout
            raise _server_died(server) from error
        except RpcError as error:
            raise _AS_EXCEPTION.get(error.code, PailsError)(str(error)) from error
        except (asyncio.CancelledError, KeyboardInterrupt):
            grace_seconds = 0.5  # a second Ctrl-C, which may strike within this very task
            _clear_cancellations()  # else early Pythons 3.11 take a timeout below for one
            raise
        finally:
            await _end(server, client, reading, grace_seconds)

    async def _start_turn(self, client: RpcClient, task: Task) -> None:
        await client.request("initialize", _initialize_params(task.workspace))
        client.notify("initialized", {})
        status = await client.request("pai/status", {})
        self._watcher.started(status)
        self.session_id = (await _session(client, task))["sessionId"]
        prompt = {
            "sessionId": self.session_id,
            "text": task.text,
            "attachments": [_attachment(path) for path in task.attachments],
        }
        await client.request("pai/session/prompt", prompt)

    async def _follow(self, client: RpcClient, reading: asyncio.Task[None]) -> TurnEnded:
        try:
            return await self._end_or_disconnect(reading)
        except asyncio.CancelledError:
            _clear_cancellations()
            self._watcher.cancelling()
            await client.request("pai/session/cancel", {"sessionId": self.session_id})
            return await self._end_or_disconnect(reading)

    async def _end_or_disconnect(self, reading: asyncio.Task[None]) -> TurnEnded:
        await asyncio.wait({self._ended, reading}, return_when=asyncio.FIRST_COMPLETED)
        if not self._ended.done():
            await reading  # raises what ended it, such as a closed stdout
            raise ConnectionEnded
        return self._ended.result()

    # -- what the server says -------------------------------------------------------------------

    def _on_notification(self, method: str, params: Json) -> None:
        if method == "pai/event" and not self._ended.done():  # a snapshot may still be told
            event = decode_event(params["event"])
            self._watcher.saw(params, event)
            if isinstance(event, TurnEnded):
                self._ended.set_result(event)
        elif method == "pai/approval/resolved" and params["approvalId"] in self._prompts:
            self._prompts[params["approvalId"]].cancel()

    async def _on_request(self, method: str, params: Json) -> Json | None:
        match method:
            case "pai/approval/request":
                return await self._approve(params)
            case "pai/question/ask":
                return {"answer": await self._person.answer(params["text"], params["options"])}
            case "window/workDoneProgress/create" | "client/registerCapability":
                return None
            case _:
                raise MethodNotFound

    async def _approve(self, params: Json) -> Json:
        request = decode_event(params)  # the event itself, and its session
        assert isinstance(request, ApprovalRequested)
        prompt = asyncio.ensure_future(self._person.approve(request))
        self._prompts[request.approval_id] = prompt
        try:
            answer = await prompt
        finally:
            prompt.cancel()
            del self._prompts[request.approval_id]
        hunk_ids = None if answer.hunk_ids is None else list(answer.hunk_ids)
        return {"choice": answer.choice, "feedback": answer.feedback, "hunkIds": hunk_ids}


def _clear_cancellations() -> None:
    """What was asked of this task has been heard: what it still does is not cancelled."""
    task = asyncio.current_task()
    while task and task.cancelling():
        task.uncancel()


async def _start(task: Task, environ: Mapping[str, str]) -> ServerProcess:
    try:
        return await start_server(SERVER_ARGV, environ, task.workspace)
    except OSError as error:
        raise ConfigurationError(
            f"The server cannot be started in {task.workspace}: {error.strerror or error}. "
            "Nothing was done; name an existing folder with --workspace."
        ) from error


async def _end(
    server: ServerProcess, client: RpcClient, reading: asyncio.Task[None], grace_seconds: float
) -> None:
    """End the server by protocol, and by force where it does not listen."""
    with contextlib.suppress(ConnectionEnded, RpcError, TimeoutError):
        async with asyncio.timeout(grace_seconds):
            await client.request("shutdown")
            client.notify("exit")
    await server.stop(grace_seconds)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def _session(client: RpcClient, task: Task) -> Json:
    """The session to prompt, in the mode and with the model of the task."""
    workspace = str(task.workspace)
    if task.session is None:
        new = {"workspace": workspace, "mode": task.mode, "model": task.model}
        return await client.request("pai/session/new", new)
    session = {"sessionId": task.session}
    info = await client.request("pai/session/open", {**session, "workspace": workspace})
    if task.mode:
        await client.request("pai/session/setMode", {**session, "mode": task.mode})
    if task.model:
        await client.request("pai/session/setModel", {**session, "model": task.model})
    return info


def _initialize_params(workspace: Path) -> Json:
    uri = workspace.as_uri()
    pai: Json = {"events": True, "approvals": True, "questions": True, "settings": {}}
    return {
        "processId": None,
        "clientInfo": {"name": "pails run"},
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": workspace.name}],
        "capabilities": {},
        "initializationOptions": {"pai": pai},
    }


def _attachment(path: Path) -> Json:
    return {"kind": "file", "uri": path.as_uri()}


def _server_died(server: ServerProcess) -> PailsError:
    said = f" It said:\n{server.last_words}" if server.last_words else ""
    return PailsError(
        "The server ended unexpectedly. What the session did is in its log and can be opened "
        f"again with --session.{said}"
    )
