"""pygls's protocol with our codec, our documents and an orderly end.

Overrides or uses private names of pygls 2 (`_send_data`, `_serialize_message`, `_shutdown`, `_workspace`,
`_request_futures`): its range is narrow, and tests/server/protocol/test_pygls.py holds what we rely on.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from kinetoscope_server.protocol import codec, methods
from kinetoscope_server.protocol.transport import END, REQUEST_CANCELLED, Receiver, cancelled_by
from kinetoscope_server.text.foreign import harmless

log = logging.getLogger(__name__)


@dataclass
class PlainRequest:
    """A request of ours; its parameters stay the JSON that they are and are looked at by the handler."""

    id: int | str
    method: str
    params: dict[str, Any]
    jsonrpc: str


@dataclass
class PlainNotification:
    """A notification of ours, as `PlainRequest`."""

    method: str
    params: dict[str, Any]
    jsonrpc: str


@dataclass
class PlainAnswer:
    """A client's answer to a request of ours; it stays the JSON that it is."""

    id: int | str
    result: Any
    jsonrpc: str


class Protocol(LanguageServerProtocol):
    """What is sent and received, and which handler is called; the server itself is in server.py."""

    async def serve(self, receiver: Receiver) -> None:
        """Handles messages, one after the other, until the input ends. `SystemExit` comes out of `exit`."""
        while (message := await receiver.messages.get()) is not END:
            self._handle(message, receiver.cancelled)
            # Async handlers begin now, in the order of their messages, and replies can go out.
            await asyncio.sleep(0)

    def _handle(self, message: Any, cancelled: set[int | str]) -> None:
        if not isinstance(message, dict):
            log.error("not a message: %.200r", message)
            return
        fields = cast("dict[str, Any]", message)
        identity: Any = fields.get("id")
        if not isinstance(identity, int | str):
            identity = None
        unwanted = cancelled_by(fields)
        if unwanted is not None:
            cancelled.discard(unwanted)
        elif "method" in fields and identity is not None and identity in cancelled:
            error = types.ResponseError(code=REQUEST_CANCELLED, message="cancelled before it began")
            self._send_response(identity, error=error)
            return
        refusal = self._refusal_of(fields.get("method"))
        if refusal is not None:
            if identity is not None:
                self._send_response(identity, error=refusal)
            return
        try:
            if fields.get("method") == types.WORKSPACE_EXECUTE_COMMAND and isinstance(fields.get("params"), dict):
                # Without a list pygls would call the command with nothing, whatever it wants.
                fields["params"] = {**fields["params"], "arguments": fields["params"].get("arguments") or []}
            structured: Any = self.structure_message(fields)
            if identity is not None and "method" in fields and not hasattr(structured, "id"):
                error = types.ResponseError(
                    types.ErrorCodes.InvalidRequest.value, "This is a notification: send it without an id."
                )
                self._send_response(identity, error=error)
                return
            self.handle_message(structured)
        except Exception as error:  # noqa: BLE001 - whatever a client sends, the server lives on
            log.warning("a message that cannot be read: %s: %r", error, fields.get("method"))
            self._say_unreadable(identity, "method" in fields, str(error))

    def _refusal_of(self, method: object) -> types.ResponseError | None:
        """Why nothing of this method can come now: before `initialize`, twice that, or after `shutdown`."""
        if method is None or method == types.EXIT:
            return None
        if self._shutdown:
            return types.ResponseError(code=types.ErrorCodes.InvalidRequest, message="The server was shut down.")
        if self._workspace is None and method != types.INITIALIZE:
            message = "Send initialize first."
            return types.ResponseError(code=types.ErrorCodes.ServerNotInitialized, message=message)
        if self._workspace is not None and method == types.INITIALIZE:
            return types.ResponseError(code=types.ErrorCodes.InvalidRequest, message="initialize was sent before.")
        return None

    def _say_unreadable(self, identity: int | str | None, is_ours_to_answer: bool, message: str) -> None:
        """Answers a request that cannot be read; who waits for a reply that cannot be read is told so."""
        if identity is None:
            return
        if is_ours_to_answer:
            error = types.ResponseError(code=types.ErrorCodes.InvalidParams, message=message)
            self._send_response(identity, error=error)
            return
        waiting = self._request_futures.pop(identity, None)
        if waiting is not None and not waiting.done():
            waiting.set_exception(JsonRpcException(message))

    def get_message_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride] - pygls's is wrapped in a cache
        if method in methods.REQUESTS:
            return PlainRequest
        if method in methods.NOTIFICATIONS:
            return PlainNotification
        return super().get_message_type(method)

    def get_result_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        return PlainAnswer if method in methods.TO_CLIENTS else super().get_result_type(method)

    def _send_data(self, data: Any) -> None:
        if self.writer is None:
            return
        harmless(data)
        try:
            body = codec.encoded(data, self._serialize_message)
        except (TypeError, ValueError):
            log.exception("a message that cannot be written")
            return
        try:
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (OSError, ValueError):  # the editor has gone: the end of our input is on its way
            log.warning("nobody reads our messages any more")

    def _serialize_message(self, data: Any) -> dict[str, Any]:
        if isinstance(data, JsonRPCResponseMessage):
            # Not through the converter, which looks at every value: 123 ms for the 2 MB of a whole run, 3 ms like this.
            answer = cast("Any", data)
            return {"id": answer.id, "jsonrpc": answer.jsonrpc, "result": answer.result}
        return super()._serialize_message(data)

    # Our documents keep their text themselves (documents.py): pygls's copy splits lines at form feeds, and costs 1 ms
    # for 5,000 lines at each edit. Plain functions, as pygls keeps the future of each notification that has a generator
    # for its handler: 1.7 kB an edit, for ever.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._ours(types.TEXT_DOCUMENT_DID_OPEN)(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._ours(types.TEXT_DOCUMENT_DID_CHANGE)(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._ours(types.TEXT_DOCUMENT_DID_CLOSE)(params)

    def _ours(self, method: str) -> Callable[..., Any]:
        features = cast("dict[str, Callable[..., Any]]", self.fm.features)
        return features[method]

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """As pygls does it, over a copy: a command in flight changes the dictionary while it is looked at (#606)."""
        yield self._ours(types.SHUTDOWN), args, None
        own = self.msg_id
        for identity, future in list(self._request_futures.items()):
            if identity != own and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Generator[Any, Any, None]:
        yield from ()
        raise SystemExit(0 if self._shutdown else 1)
