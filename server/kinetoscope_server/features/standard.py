"""What the server answers of LSP: each method, handed to the module that knows. Handlers are short or async."""

from typing import Any, cast

from lsprotocol import types

from kinetoscope_server.features import code_actions, code_lenses, diagnostics, inlay_hints, symbols, wrapping
from kinetoscope_server.features.hover import hovers
from kinetoscope_server.runs.asking import command_teller
from kinetoscope_server.runs.profile import make_ready
from kinetoscope_server.server import KinetoscopeServer

_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, wrapping.KIND], resolve_provider=True
)


def register(server: KinetoscopeServer) -> None:
    """Announces every method of LSP that the server answers, but for commands."""
    _register_life(server)
    _register_documents(server)
    _register_language(server)


def _register_life(server: KinetoscopeServer) -> None:
    @server.feature(types.INITIALIZE)
    def _(ls: KinetoscopeServer, params: types.InitializeParams) -> None:
        ls.client.initialized_with(params.capabilities)
        ls.documents.encoding = ls.encoding
        ls.watch_parent(params.process_id)
        ls.configuration.initialized_with(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def _(ls: KinetoscopeServer, _: types.InitializedParams) -> None:
        await ls.configuration.begin()
        ls.show_again()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def _(ls: KinetoscopeServer, params: types.DidChangeConfigurationParams) -> None:
        await ls.configuration.change(params.settings)
        if ls.configuration.general.prepare == "off":
            ls.warm.drop()
        for document in ls.documents:
            ls.start(make_ready(ls, document))
        ls.show_again()

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def _(ls: KinetoscopeServer, params: types.WorkDoneProgressCancelParams) -> None:
        ls.runs.cancel(params.token)

    @server.feature(types.SHUTDOWN)
    def _(ls: KinetoscopeServer, _: None) -> None:
        ls.stop()


def _register_documents(server: KinetoscopeServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(ls: KinetoscopeServer, params: types.DidOpenTextDocumentParams) -> None:
        document = ls.documents.open(params.text_document)
        if document is not None:
            ls.publish(document)
            ls.send_results(document)
            ls.start(ls.recall())
            ls.start(make_ready(ls, document))
            ls.tidying.soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(ls: KinetoscopeServer, params: types.DidChangeTextDocumentParams) -> None:
        document = ls.documents.get(params.text_document.uri)
        if document is not None:
            document.change(params.content_changes, params.text_document.version)
            ls.publish_soon(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(ls: KinetoscopeServer, params: types.DidCloseTextDocumentParams) -> None:
        document = ls.documents.close(params.text_document.uri)
        if document is not None:
            ls.forget(document)


def _register_language(server: KinetoscopeServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def _(ls: KinetoscopeServer, params: types.InlayHintParams) -> list[types.InlayHint]:
        settings = await ls.configuration.of(params.text_document.uri)
        document = ls.documents.get(params.text_document.uri)
        if document is None:
            return []
        return inlay_hints.inlay_hints(document, ls.board.placed(document), ls.comparisons, settings, params.range)

    @server.feature(types.INLAY_HINT_RESOLVE)
    def _(ls: KinetoscopeServer, hint: types.InlayHint) -> types.InlayHint:
        data = cast("dict[str, Any]", hint.data) if isinstance(hint.data, dict) else {}
        document = ls.documents.get(data.get("uri", ""))
        if document is None:
            return hint
        placed, has_links = ls.board.placed(document), ls.client.follows_command_links
        return inlay_hints.resolved(hint, document, placed, ls.changes, ls.comparisons, has_links=has_links)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def _(ls: KinetoscopeServer, params: types.CodeLensParams) -> list[types.CodeLens]:
        settings = await ls.configuration.of(params.text_document.uri)
        document = ls.documents.get(params.text_document.uri)
        if document is None or not settings.lenses:
            return []
        told = command_teller(ls, document, settings)
        placed, shown = ls.board.placed(document), ls.board.shown(document.path)
        results = ls.board.results(document.path)
        times: dict[int, str] = {}
        if settings.hints == "lens" or (settings.hints != "off" and not ls.client.has_inlay_hints):
            rows = inlay_hints.by_row(placed).items()
            times = {row: "".join(inlay_hints.times_at(here, ls.comparisons, settings)) for row, here in rows}
        return list(code_lenses.code_lenses(document, placed, ls.runs.active, shown, results, told, times))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _(ls: KinetoscopeServer, params: types.HoverParams) -> types.Hover | None:
        settings = await ls.configuration.of(params.text_document.uri)
        document = ls.documents.get(params.text_document.uri)
        if document is None:
            return None
        placed = ls.board.placed(document)
        is_shown = ls.client.shows_diagnostics_in_hovers
        beside = diagnostics.codes_at(document, placed, params.position, settings) if is_shown else ()
        has_links = ls.client.follows_command_links
        at = params.position
        return hovers.hover(document, placed, at, ls.changes, ls.comparisons, beside, has_links=has_links)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)
    async def _(ls: KinetoscopeServer, params: types.CodeActionParams) -> list[types.CodeAction]:
        settings = await ls.configuration.of(params.text_document.uri)
        document = ls.documents.get(params.text_document.uri)
        if document is None:
            return []
        placed = ls.board.placed(document)
        has_links = ls.client.follows_command_links
        again = ls.plain_again
        found = code_actions.code_actions(
            document, placed, params, settings, ls.comparisons, again, has_links=has_links
        )
        return [*found, *wrapping.wrapping_actions(document, params, ls.client)]

    @server.feature(types.CODE_ACTION_RESOLVE)
    def _(ls: KinetoscopeServer, action: types.CodeAction) -> types.CodeAction:
        data = cast("dict[str, Any]", action.data) if isinstance(action.data, dict) else {}
        return wrapping.resolved_action(action, data, ls.documents.get(data.get("uri", "")))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _(ls: KinetoscopeServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = ls.documents.get(params.text_document.uri)
        return [] if document is None else symbols.document_symbols(document)
