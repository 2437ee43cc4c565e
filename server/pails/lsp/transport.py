"""JSON-RPC as we want it of pygls: every request answered, nothing shown or logged unasked.

What differs from `LanguageServerProtocol`, and why:
- Messages are decoded here and not by a hook inside the JSON decoder, so that a malformed message
  gets an error response, where pygls drops it.
- Parameters and results of `pai/…` stay plain JSON data; `protocol.py` validates them.
- Messages leave as bytes. What is JSON already, as every event is, is not made anew. A number that
  JSON does not have, such as NaN, is an error here, where pygls would send it.
- After `shutdown` the client's answers still arrive; only its requests are refused.
- Documents are kept by `documents.py`, which counts lines as editors do.
- `exit` ends `serve`, which closes the sessions first; pygls ends the process on the spot.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol

from pails.lsp import uris
from pails.lsp.client import Payload
from pails.lsp.documents import OpenDocuments
from pails.lsp.methods import CONTENT_SCHEMES
from pails.lsp.nesting import is_nested_too_deep
from pails.lsp.rpc_errors import (
    as_rpc_error,
    client_error,
    connection_lost,
    invalid_params,
    unsendable,
)

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

log = logging.getLogger(__name__)

Id = int | str
Json = dict[str, Any]


class PailsProtocol(LanguageServerProtocol):
    """The protocol of one connection."""

    def __init__(self, server: "LanguageServer", converter: Converter) -> None:
        self.documents = OpenDocuments()
        self.when_shut_down: Callable[[], Awaitable[None]] = _nothing
        self.when_exited: Callable[[], object] = lambda: None
        self.when_progress_cancelled: Callable[[Id], Awaitable[None]] = _nothing
        self._initialized = False
        self._encoder = json.JSONEncoder(
            separators=(",", ":"), default=self._serialize_message, allow_nan=False
        )
        super().__init__(server, converter)

    @property
    def is_shut_down(self) -> bool:
        return self._shutdown

    # -- in ------------------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Handle one message. Never raises: what is wrong with it is answered or logged."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, JsonRpcParseError(f"This is no JSON: {error}."))
            return
        if not isinstance(message, dict):
            self._refuse(None, JsonRpcInvalidRequest("A message must be one JSON object."))
            return
        data = cast(Json, message)
        if "method" in data:
            self._receive_call(data)
        elif "id" in data:
            self._receive_answer(data)
        else:
            self._refuse(None, JsonRpcInvalidRequest("A message needs a method or an id."))

    def _receive_call(self, data: Json) -> None:
        msg_id, method = data.get("id"), data["method"]
        is_request = "id" in data
        try:
            if is_request and not isinstance(msg_id, int | str):
                msg_id = None
                raise JsonRpcInvalidRequest("The id of a request must be a number or a string.")
            if not isinstance(method, str):
                raise JsonRpcInvalidRequest("The method of a message must be a string.")
            self._check_phase(method)
            if is_nested_too_deep(data):
                raise JsonRpcInvalidParams(f"Invalid parameters for {method}: nested too deep.")
            message = self._structured(method, data)
        except JsonRpcException as error:
            if is_request:
                self._refuse(msg_id, error)
            else:
                log.warning("ignored notification %s: %s", method, error)
            return
        self.handle_message(message)
        if method == types.SHUTDOWN:  # now: an `exit` right behind it must find it done
            self._shutdown = True

    def _check_phase(self, method: str) -> None:
        """Refuse what the life cycle of LSP does not allow now."""
        if method == types.EXIT:
            return
        if self._shutdown:
            raise JsonRpcInvalidRequest("The server is shut down; only exit can follow.")
        if method == types.INITIALIZE:
            if self._initialized:
                raise JsonRpcInvalidRequest("The server is initialized already.")
        elif not self._initialized:
            raise JsonRpcServerNotInitialized("Send initialize first.")

    def _structured(self, method: str, data: Json) -> Payload:
        """The message as pygls handles it. Raises `JsonRpcInvalidParams`."""
        message_type = self.get_message_type(method)
        if message_type is None:
            params: Payload = data.get("params")
            if "id" in data:
                return JsonRPCRequestMessage(data["id"], method, self.VERSION, params)
            return JsonRPCNotification(method, self.VERSION, params)
        try:
            return self._converter.structure({**data, "jsonrpc": self.VERSION}, message_type)
        except Exception as error:  # the border of a request: a hook may raise anything
            raise invalid_params(method, error) from error

    def _receive_answer(self, data: Json) -> None:
        """Resolve a request of ours. One that nobody waits for any more is ignored."""
        msg_id = data["id"]
        if not isinstance(msg_id, str) or msg_id not in self._result_types:  # ours are all strings
            log.info("ignored an answer to %s, which nobody waits for", msg_id)
            return
        future = self._request_futures.pop(msg_id, None)
        result_type = self._result_types.pop(msg_id)
        if future is None or future.done():
            log.info("ignored a late answer to %s", msg_id)
        elif is_nested_too_deep(data):
            future.set_exception(JsonRpcInvalidParams("The client's answer is nested too deep."))
        elif "error" in data:
            future.set_exception(client_error(data["error"]))
        elif result_type is None:
            future.set_result(data.get("result"))
        else:
            try:
                answer = self._converter.structure(
                    {"id": msg_id, "jsonrpc": self.VERSION, "result": data.get("result")},
                    result_type,
                )
            except Exception as error:  # noqa: BLE001 - the border of a request, as above
                future.set_exception(invalid_params("the client's answer", error))
            else:
                future.set_result(answer.result)

    def _handle_cancel_notification(self, msg_id: object) -> None:
        """Cancel a request of the client's, not one of ours; too late is no error."""
        if isinstance(msg_id, int | str) and msg_id not in self._result_types:
            future = self._request_futures.get(msg_id)
            if future is not None:
                future.cancel()

    # -- out -----------------------------------------------------------------------------------

    def notify(self, method: str, params: Payload = None) -> None:
        if self.get_message_type(method) is None:  # plain data already, so nothing to convert
            self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})
        else:
            super().notify(method, params)

    def notify_json(self, method: str, params: bytes) -> None:
        """A notification whose parameters are JSON text already."""
        self._send_body(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method.encode(), params))

    async def ask(self, msg_id: str, method: str, params: Payload) -> Payload:
        """Send a request to the client and wait for its result; see `client.Client.request`."""
        future = self.send_request(method, params, msg_id=msg_id)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self.notify(types.CANCEL_REQUEST, types.CancelParams(msg_id))
            raise

    def lose_client(self) -> None:
        """The connection is gone: nothing that waits for the client may wait any longer."""
        for msg_id in list(self._result_types):
            del self._result_types[msg_id]
            future = self._request_futures.pop(msg_id, None)
            if future is not None and not future.done():
                future.set_exception(connection_lost())

    def _send_data(self, data: object) -> None:
        if data:
            self._send_body(self._encoder.encode(data).encode())

    def _send_body(self, body: bytes) -> None:
        writer = self.writer
        if writer is None:
            log.error("nothing can be sent before the connection stands")
        else:
            writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _refuse(self, msg_id: Id | None, error: JsonRpcException) -> None:
        # Plain data: the converter would leave out an id of null, which JSON-RPC wants.
        failure = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "error": failure})

    def _send_handler_result(self, future: Future[Any], *, msg_id: Id) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("The request was cancelled."))
        elif (failure := future.exception()) is not None:
            self._refuse(msg_id, as_rpc_error(failure))
        else:
            result = future.result()
            try:
                self._send_response(msg_id, result=result)
            except Exception as error:  # noqa: BLE001 - the border of a request: a result no JSON
                self._refuse(msg_id, unsendable(error))

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (failure := future.exception()) is not None:
            log.error("a notification could not be handled", exc_info=failure)

    # -- what we do ourselves in place of pygls -------------------------------------------------

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()
        for method, handler in (
            (types.INITIALIZE, self._initialize),
            (types.SHUTDOWN, self._shut_down),
            (types.EXIT, self._exit),
            (types.TEXT_DOCUMENT_DID_OPEN, self._did_open),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._did_change),
            (types.TEXT_DOCUMENT_DID_SAVE, self._did_save),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._did_close),
            (types.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._cancel_progress),
        ):
            self.fm.add_builtin_feature(  # pyright: ignore[reportUnknownMemberType] - untyped in pygls
                method, handler
            )

    def _initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls does it; a client whose `initialize` failed may try again.

        The workspace that pygls keeps is not used here, but it fails on a root that is no URI.
        """
        if params.root_uri is not None and not uris.is_uri(params.root_uri):
            log.warning("the root is no URI and is ignored: %s", params.root_uri)
            params.root_uri = None
        result = yield from self.lsp_initialize(params)
        if result.capabilities.workspace is not None:  # pygls does not know this of LSP 3.18 yet
            schemes = types.TextDocumentContentOptions(CONTENT_SCHEMES)
            result.capabilities.workspace.text_document_content = schemes
        self._initialized = True
        return result

    async def _shut_down(self, _: None) -> None:
        await self.when_shut_down()

    def _exit(self, _: None) -> None:
        self.when_exited()

    async def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        await self.when_progress_cancelled(params.token)

    # These four stay synchronous: no handler may see a document in the middle of a change.

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.documents.open(params.text_document)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self.documents.change(params)

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        self.documents.saved(params.text_document.uri)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.documents.close(params.text_document.uri)


async def _nothing(*_: object) -> None:
    """What happens until the server says what should."""
