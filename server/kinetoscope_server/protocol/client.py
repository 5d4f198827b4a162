"""The editor as we see it: what it can do, and what is said to it. Sends nothing that it did not say it takes."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from typing import Any, Final, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from kinetoscope_server.protocol import methods

log = logging.getLogger(__name__)

T = TypeVar("T")

ANSWER_WITHIN_S: Final = 5.0
"""For what an editor answers by itself; people may take their time."""


class Client:
    """One editor. Its capabilities are known from `initialize` on."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._wishes: dict[str, Any] = {}

    def initialized_with(self, capabilities: types.ClientCapabilities) -> None:
        """Reads `experimental.kinetoscope`, where richer clients say what of ours they take (docs/lsp.md)."""
        experimental: Any = capabilities.experimental
        if isinstance(experimental, dict):
            wishes = cast("dict[str, Any]", experimental).get("kinetoscope")
            if isinstance(wishes, dict):
                self._wishes = cast("dict[str, Any]", wishes)

    @property
    def _capabilities(self) -> types.ClientCapabilities:
        return self._server.client_capabilities

    # --- said

    def tell(self, kind: types.MessageType, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(kind, message))

    def log(self, text: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Log, text))

    def publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=list(diagnostics))
        )

    def refresh(self, *, hints: bool = True) -> None:
        """Has hints and lenses asked for again, by clients that can."""
        workspace = self._capabilities.workspace
        if workspace is None:
            return
        if hints and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self._server.protocol.send_request(types.WORKSPACE_INLAY_HINT_REFRESH)
        if workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self._server.protocol.send_request(types.WORKSPACE_CODE_LENS_REFRESH)

    @property
    def has_inlay_hints(self) -> bool:
        document = self._capabilities.text_document
        return document is not None and document.inlay_hint is not None

    @property
    def resolves_edits_of_actions(self) -> bool:
        """Whether the client asks for the edit of a code action when it was chosen."""
        document = self._capabilities.text_document
        support = None if document is None or document.code_action is None else document.code_action.resolve_support
        return support is not None and "edit" in support.properties

    @property
    def shows_disabled_actions(self) -> bool:
        """Whether the client shows code actions that cannot be used, with the reason."""
        document = self._capabilities.text_document
        return document is not None and document.code_action is not None and bool(document.code_action.disabled_support)

    @property
    def shows_diagnostics_in_hovers(self) -> bool:
        """Whether the client itself shows, beside a hover, the diagnostics of its place."""
        return self._wishes.get("diagnosticsInHover") is True

    @property
    def follows_command_links(self) -> bool:
        """Whether links of a hover, `command:ID?ARGUMENTS`, run commands."""
        return self._wishes.get("commandLinks") is True

    def takes(self, method: str) -> bool:
        """Whether the client said that it takes this notification or request of ours."""
        return self._wishes.get(method.partition("/")[2]) is True

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Sends a notification of ours, if the client takes it."""
        if self.takes(method):
            self._server.protocol.notify(method, params)

    # --- asked

    async def ask(self, message: str, *answers: str, kind: types.MessageType = types.MessageType.Warning) -> str | None:
        """The answer that a person chose, None where none was chosen or the client cannot ask."""
        actions = [types.MessageActionItem(answer) for answer in answers]
        params = types.ShowMessageRequestParams(kind, message, actions)
        chosen = await self._answer(self._server.window_show_message_request_async(params), None)
        return None if chosen is None else chosen.title

    async def choose(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """What a person chose of `kinetoscope/choose`, None where nothing was chosen."""
        sent = self._server.protocol.send_request_async(methods.CHOOSE, params)
        answer: object = await self._answer(sent, None)
        return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None

    async def show_document(self, uri: str, *, external: bool) -> bool:
        """Whether the client opened the document; False too where it cannot."""
        window = self._capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return False
        params = types.ShowDocumentParams(uri=uri, external=external, take_focus=True)
        shown = await self._answer(self._server.window_show_document_async(params), ANSWER_WITHIN_S)
        return shown is not None and shown.success

    async def save(self, uris: Sequence[str]) -> bool:
        """Has unsaved files saved by a client that can; False where it cannot or the person refused."""
        if not self.takes(methods.SAVE):
            return False
        sent = self._server.protocol.send_request_async(methods.SAVE, {"uris": list(uris)})
        return await self._answer(sent, None) is True

    @property
    def has_configuration(self) -> bool:
        workspace = self._capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    async def configuration(self, section: str, scope: str | None) -> object:
        """The values of a section, None where the client has none or does not answer."""
        item = types.ConfigurationItem(scope_uri=scope, section=section)
        params = types.ConfigurationParams([item])
        values: object = await self._answer(self._server.workspace_configuration_async(params), ANSWER_WITHIN_S)
        return cast("Sequence[object]", values)[0] if isinstance(values, Sequence) and values else None

    async def watch_configuration(self) -> None:
        """Asks to be told of changed settings, by clients that must be asked for that."""
        workspace = self._capabilities.workspace
        change = None if workspace is None else workspace.did_change_configuration
        if change is not None and change.dynamic_registration:
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            registration = types.Registration(id=method, method=method)
            params = types.RegistrationParams([registration])
            await self._answer(self._server.client_register_capability_async(params), ANSWER_WITHIN_S)

    async def create_progress(self, token: str) -> bool:
        """Whether the client shows progress that the server begins."""
        window = self._capabilities.window
        if window is None or not window.work_done_progress:
            return False
        params = types.WorkDoneProgressCreateParams(token)
        sent = self._server.window_work_done_progress_create_async(params)
        return await self._answer(sent, ANSWER_WITHIN_S, failed=False) is not False

    def progress(
        self,
        token: int | str,
        value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd,
    ) -> None:
        self._server.protocol.notify(types.PROGRESS, types.ProgressParams(token, value))

    async def _answer(self, sent: Awaitable[T], within_s: float | None, failed: Any = None) -> T | Any:
        """The client's answer, or `failed`. Shielded: a late reply to a cancelled wait would raise in pygls (#621)."""
        try:
            return await asyncio.wait_for(asyncio.shield(sent), within_s)
        except JsonRpcException as error:
            log.info("the client answered with an error: %s", error)
        except (TimeoutError, asyncio.TimeoutError):  # one class from Python 3.11 on
            log.warning("the client did not answer within %s s", within_s)
        return failed
