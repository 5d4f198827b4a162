"""What `workspace/executeCommand` does. A run goes on in the background: a client cannot cancel a command."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.results.store import Store
from kinetoscope_core.runner.request import ModuleChoice
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import around, nearest_named
from kinetoscope_core.text import printable
from kinetoscope_server.features import details
from kinetoscope_server.features.choosing import choose_result, show_result
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.comparisons import pin_baseline
from kinetoscope_server.runs.asking import remember
from kinetoscope_server.runs.command import modules_from
from kinetoscope_server.runs.finish import Finish
from kinetoscope_server.runs.interpreters import tell_interpreter
from kinetoscope_server.runs.loading import load
from kinetoscope_server.runs.profile import profile, tell
from kinetoscope_server.runs.series import MOST_TIMES, measure_more, profile_times
from kinetoscope_server.runs.sweep import show_setting, show_sweep
from kinetoscope_server.runs.targets import Target
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import Document, path_of


def _regions(server: KinetoscopeServer, document: Document) -> list[Region]:
    """Those of the text, and the lines at which helpers enter others, or at which others were measured."""
    placed = server.board.placed(document)
    return [*document.regions, *document.helped, *(each.region for each in placed if each.region.kind == "statement")]


def region_of(server: KinetoscopeServer, document: Document, line: int, name: str) -> Region | None:
    """The region that a lens at the row (from 0) meant."""
    return nearest_named(_regions(server, document), name, line + 1)


def target_of(
    server: KinetoscopeServer, uri: str, line: int | None, name: str | None, arguments: Sequence[str] | None = None
) -> Target | Finish:
    """The target for a file or one of its regions, or why there is none."""
    path = path_of(uri)
    if path is None:
        return Finish("refused", f"{uri} is not a file on disk, so it cannot be profiled. Save it first.")
    given = None if arguments is None else tuple(arguments)
    if line is None:
        return Target(uri, path, None, given)
    document = server.documents.get(uri)
    if document is None:
        return Finish("refused", f"{Path(path).name} is not open.")
    if name is None:
        region = next(around(_regions(server, document), line + 1), None)
    else:
        region = region_of(server, document, line, name)
    if region is None:
        return Finish("refused", f"There is no region at line {line + 1} of {Path(path).name} any more.")
    return Target(uri, path, region, given)


def register(server: KinetoscopeServer) -> None:
    """Announces the commands of methods.py; docs/lsp.md describes their arguments."""

    @server.command(methods.PROFILE_REGION)
    def _(ls: KinetoscopeServer, uri: str, line: int, name: str) -> None:
        _profile(ls, target_of(ls, uri, line, name))

    @server.command(methods.PROFILE_FILE)
    def _(ls: KinetoscopeServer, uri: str) -> None:
        _profile(ls, target_of(ls, uri, None, None))

    @server.command(methods.PROFILE_MODULES)
    def _(ls: KinetoscopeServer, uri: str, modules: Any) -> None:
        target = target_of(ls, uri, None, None)
        asked = asked_modules({} if modules is None else modules)
        _profile(ls, target if isinstance(target, Finish) else replace(target, modules=asked))

    @server.command(methods.PROFILE_WITH_ARGUMENTS)
    def _(ls: KinetoscopeServer, uri: str, line: int | None, arguments: Any) -> None:
        _profile(ls, target_of(ls, uri, line, None, _texts(arguments)))

    @server.command(methods.PROFILE_WITH)
    def _(ls: KinetoscopeServer, uri: str, line: int | None, name: str | None) -> None:
        target = target_of(ls, uri, line, name)
        _profile(ls, target if isinstance(target, Finish) else replace(target, choose="run"))

    @server.command(methods.NAME_ARGUMENTS)
    async def _(ls: KinetoscopeServer, uri: str, name: str, arguments: Any) -> None:
        target = target_of(ls, uri, None, None)
        given = None if arguments is None else tuple(_texts(arguments))
        if isinstance(target, Finish):
            return await tell(ls, target)
        try:
            await remember(ls, target, name, given)
        except KinetoscopeError as error:
            ls.client.tell(types.MessageType.Warning, printable(str(error)))

    @server.command(methods.SWEEP)
    def _(ls: KinetoscopeServer, uri: str, line: int | None, name: str | None, vary: Any, repeat: int) -> None:
        target = target_of(ls, uri, line, name)
        if not isinstance(target, Finish):
            target = replace(target, vary=tuple(_texts(vary)), repeat=max(repeat, 1))
        _profile(ls, target)

    @server.command(methods.SHOW_SWEEP)
    async def _(ls: KinetoscopeServer, sweep: str) -> str | None:
        try:
            return await show_sweep(ls, sweep)
        except KinetoscopeError as error:
            ls.client.tell(types.MessageType.Warning, printable(str(error)))
            return None

    @server.command(methods.SHOW_SETTING)
    async def _(ls: KinetoscopeServer, sweep: str, setting: int, region: int | None) -> str | None:
        try:
            return await show_setting(ls, sweep, setting, region)
        except KinetoscopeError as error:
            ls.client.tell(types.MessageType.Warning, printable(str(error)))
            return None

    @server.command(methods.PROFILE_PLAIN)
    def _(ls: KinetoscopeServer, uri: str, line: int | None, name: str | None, arguments: Any) -> None:
        given = None if arguments is None else _texts(arguments)
        _profile(ls, target_of(ls, uri, line, name, given), is_plain=True)

    @server.command(methods.CHOOSE_INTERPRETER)
    def _(ls: KinetoscopeServer, uri: str | None, path: str | None) -> None:
        ls.start(tell_interpreter(ls, None if uri is None else path_of(uri), path))

    @server.command(methods.PROFILE_TIMES)
    def _(ls: KinetoscopeServer, uri: str, line: int | None, name: str | None, times: int) -> None:
        _repeat(ls, profile_times, target_of(ls, uri, line, name), times)

    @server.command(methods.MEASURE_MORE)
    def _(ls: KinetoscopeServer, uri: str, line: int, name: str, times: int) -> None:
        _repeat(ls, measure_more, target_of(ls, uri, line, name), times)

    @server.command(methods.CANCEL)
    def _(ls: KinetoscopeServer) -> bool:
        return ls.runs.cancel()

    @server.command(methods.OPEN_TRACE)
    async def _(ls: KinetoscopeServer, uri: str, line: int, name: str) -> str | None:
        placed = measured_at(ls, uri, line, name)
        return await details.open_trace(ls, uri, placed[0]) if placed else _nothing(ls, name)

    @server.command(methods.OPEN_TRACE_AT)
    async def _(ls: KinetoscopeServer, uri: str, line: int, name: str, code: str) -> str | None:
        for placed in measured_at(ls, uri, line, name):
            for finding in placed.measured.findings:
                if finding.code == code:
                    return await details.open_trace(ls, uri, placed, finding.spot)
        return _nothing(ls, name)

    @server.command(methods.SHOW_DETAILS)
    async def _(ls: KinetoscopeServer, uri: str, line: int, name: str) -> str | None:
        placed = measured_at(ls, uri, line, name)
        return await details.show_details(ls, placed) if placed else _nothing(ls, name)

    @server.command(methods.CHOOSE_RESULT)
    def _(ls: KinetoscopeServer, uri: str) -> None:
        ls.start(choose_result(ls, uri))

    @server.command(methods.SHOW_RESULT)
    async def _(ls: KinetoscopeServer, uri: str | None, run: str) -> None:
        await show_result(ls, uri, run)

    @server.command(methods.CLEAR)
    def _(ls: KinetoscopeServer, uri: str | None, line: int | None, name: str | None) -> None:
        _clear(ls, uri, line, name)

    @server.command(methods.LOAD_TRACE)
    def _(ls: KinetoscopeServer, traces: Any, sources: Any) -> None:
        if not traces:
            raise JsonRpcInvalidParams("no trace was given")
        ls.start(_told(ls, load(ls, _texts(traces), _texts(sources))))

    @server.command(methods.PIN_RUN)
    async def _(ls: KinetoscopeServer, run: str, is_pinned: bool) -> None:
        await _changed(ls, Store().pin, run, is_pinned=is_pinned)

    @server.command(methods.PIN_BASELINE)
    async def _(ls: KinetoscopeServer, uri: str | None, run: str | None, is_pinned: bool) -> None:
        shown = ls.board.shown(path_of(uri) or "") if uri is not None else None
        of = run or (shown.run if shown else None)
        if of is None:
            ls.client.tell(types.MessageType.Info, "No result is shown in this file yet. Profile it first.")
        else:
            await _changed(ls, pin_baseline, of, is_pinned=is_pinned)

    @server.command(methods.DELETE_RUN)
    async def _(ls: KinetoscopeServer, run: str, is_sure: bool) -> None:
        await _delete(ls, run, is_sure=is_sure)

    @server.command(methods.EXPLAIN)
    async def _(ls: KinetoscopeServer, code: str) -> str:
        return await details.explain(ls, code)

    @server.command(methods.DOCTOR)
    async def _(ls: KinetoscopeServer, uri: str | None) -> str:
        return await details.doctor(ls, None if uri is None else path_of(uri))


def asked_modules(value: Any) -> ModuleChoice | Literal[False]:
    """What a client's JSON asks for."""
    try:
        return False if value is False else modules_from(value)
    except KinetoscopeError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def _texts(value: Any) -> list[str]:
    """The value, if it is a list of texts: pygls would make one of a single text, letter by letter."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[object]", value)):
        raise JsonRpcInvalidParams(f"expected a list of strings, not {value!r}")
    return cast("list[str]", value)


def _profile(server: KinetoscopeServer, target: Target | Finish, *, is_plain: bool = False) -> None:
    if isinstance(target, Finish):
        server.start(tell(server, target))
    else:
        server.start(_told(server, profile(server, target, is_plain=is_plain), target))


def _repeat(
    server: KinetoscopeServer, repeat: Callable[..., Awaitable[Finish]], target: Target | Finish, times: int
) -> None:
    if not 1 <= times <= MOST_TIMES:
        raise JsonRpcInvalidParams(f"times: {times} is not between 1 and {MOST_TIMES}.")
    server.start(
        tell(server, target) if isinstance(target, Finish) else _told(server, repeat(server, target, times), target)
    )


async def _told(server: KinetoscopeServer, work: Awaitable[Finish], target: Target | None = None) -> None:
    await tell(server, await work, target)


def measured_at(server: KinetoscopeServer, uri: str, line: int, name: str) -> list[Placed]:
    """What was measured at the line of the region that a lens or hint meant."""
    document = server.documents.get(uri)
    region = None if document is None else region_of(server, document, line, name)
    if document is None or region is None:
        return []
    return [each for each in server.board.placed(document) if each.region.line == region.line]


def _nothing(server: KinetoscopeServer, name: str) -> None:
    server.client.tell(types.MessageType.Info, f"{printable(name)} has not been measured yet. Profile it first.")


async def _delete(server: KinetoscopeServer, run: str, *, is_sure: bool) -> None:
    delete = "Delete"
    if not is_sure and await server.client.ask(f"Delete the run {printable(run)} and its traces?", delete) != delete:
        return
    if run in server.archive.loaded:
        server.archive.loaded.pop(run)
    elif not await _changed(server, Store().delete, run):
        return
    server.board.drop(run)
    server.show_again()
    server.runs_changed()


async def _changed(server: KinetoscopeServer, change: Callable[..., None], run: str, **how: bool) -> bool:
    """Whether the store could be changed; says why not."""
    try:
        await asyncio.to_thread(change, run, **how)
    except KinetoscopeError as error:
        server.client.tell(types.MessageType.Warning, printable(str(error)))
        return False
    server.runs_changed()
    return True


def _clear(server: KinetoscopeServer, uri: str | None, line: int | None, name: str | None) -> None:
    if uri is None:
        server.board.clear()
        server.show_problems([])
        return
    if line is not None:
        server.board.forget(measured_at(server, uri, line, name or ""))
    else:
        server.board.clear(path_of(uri))
    server.show_again()
