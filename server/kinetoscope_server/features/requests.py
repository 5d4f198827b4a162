"""What richer clients ask for: the `kinetoscope/…` requests of docs/lsp.md."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar, cast, get_args

import orjson
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.results.comparison import to_json
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import printable
from kinetoscope_server.features import details
from kinetoscope_server.features.choosing import results_of
from kinetoscope_server.features.commands import asked_modules, measured_at, target_of
from kinetoscope_server.features.whole_run import whole_run
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.archive import Values
from kinetoscope_server.results.comparisons import comparison_of
from kinetoscope_server.results.shown import Row, Shown, findings_of, with_names
from kinetoscope_server.runs.finish import Finish
from kinetoscope_server.runs.interpreters import interpreters
from kinetoscope_server.runs.loading import load
from kinetoscope_server.runs.profile import profile
from kinetoscope_server.runs.series import MOST_TIMES, measure_more, profile_times
from kinetoscope_server.runs.sweep import sweep_values
from kinetoscope_server.runs.targets import Choose
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import path_of, uri_of

T = TypeVar("T")
_Params = Mapping[str, Any]


def register(server: KinetoscopeServer) -> None:
    """Announces the requests of methods.py that clients make."""

    @server.feature(methods.PROFILE)
    async def _(ls: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any]:
        return asdict(await _profiled(ls, params))

    @server.feature(methods.LOAD)
    async def _(ls: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any]:
        traces = _texts(params, "traces")
        if not traces:
            raise JsonRpcInvalidParams("traces: no trace was given.")
        return asdict(await load(ls, traces, _texts(params, "sources") or [], params.get("workDoneToken")))

    @server.feature(methods.RUN)
    async def _(ls: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any] | None:
        uri, run = _given(params, "uri", str, None), _given(params, "run", str, None)
        await ls.recall()
        if run is None and (shown := ls.board.shown(None if uri is None else path_of(uri) or "")) is not None:
            run = shown.run
        found = await _result(ls, run)
        return None if found is None else whole_run(*found, ls.documents, ls.changes.has_changed)

    @server.feature(methods.RESULTS_OF)
    def _(ls: KinetoscopeServer, params: dict[str, Any]) -> list[dict[str, Any]]:
        return results_of(ls, _given(params, "uri", str))

    @server.feature(methods.RUNS)
    async def _(ls: KinetoscopeServer, _: Any) -> list[dict[str, Any]]:
        ls.watch_runs()
        return await asyncio.to_thread(ls.run_list.rows)

    @server.feature(methods.COMPARISON)
    async def _(_: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any] | None:
        run, other = _given(params, "run", str), _given(params, "other", str, None)
        try:
            found = await asyncio.to_thread(comparison_of, run, other)
        except KinetoscopeError as error:
            raise _failed(str(error)) from error
        return None if found is None else orjson.loads(to_json(found))

    @server.feature(methods.SWEEP_RESULT)
    async def _(_: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return await asyncio.to_thread(sweep_values, _given(params, "sweep", str))
        except KinetoscopeError as error:
            raise _failed(str(error)) from error

    @server.feature(methods.TRACE)
    async def _(ls: KinetoscopeServer, params: dict[str, Any]) -> dict[str, Any]:
        region, result, uri = await _measured(ls, params)
        spot = _spot(params, region, result)
        settings = ls.configuration.general if uri is None else await ls.configuration.of(uri)
        embedders = _texts(params, "embedders") or []
        try:
            link = await asyncio.to_thread(details.trace_link, region, result, settings.perfetto, embedders, spot)
        except KinetoscopeError as error:
            raise _failed(str(error)) from error
        return asdict(link)

    @server.feature(methods.INTERPRETERS)
    async def _(ls: KinetoscopeServer, params: dict[str, Any]) -> list[dict[str, Any]]:
        uri = _given(params, "uri", str, None)
        return await interpreters(ls, None if uri is None else path_of(uri), _texts(params, "named") or [])

    @server.feature(methods.TRUST)
    def _(_: KinetoscopeServer, params: dict[str, Any]) -> None:
        try:
            details.trust(_given(params, "address", str))
        except KinetoscopeError as error:
            raise JsonRpcInvalidParams(str(error)) from error


async def _profiled(server: KinetoscopeServer, params: _Params) -> Finish:
    uri = _given(params, "uri", str)
    line, name = _given(params, "line", int, None), _given(params, "name", str, None)
    target = target_of(server, uri, line, name, _texts(params, "arguments"))
    if isinstance(target, Finish):
        return target
    choose, command = _given(params, "choose", str, None), _given(params, "command", dict, None)
    if choose not in (None, *get_args(Choose)):
        raise JsonRpcInvalidParams(f"choose: {choose!r} is none of {', '.join(get_args(Choose))}.")
    vary, repeat = _texts(params, "vary") or (), _given(params, "repeat", int, None) or 1
    modules = None if params.get("modules") is None else asked_modules(params["modules"])
    target = replace(target, choose=choose, command=command, vary=tuple(vary), repeat=max(repeat, 1), modules=modules)
    token, times = params.get("workDoneToken"), _given(params, "times", int, None)
    if times is None:
        replaces, is_plain = params.get("replace") is True, params.get("plain") is True
        return await profile(server, target, token=token, replaces=replaces, is_plain=is_plain)
    if not 1 <= times <= MOST_TIMES:
        raise JsonRpcInvalidParams(f"times: {times} is not between 1 and {MOST_TIMES}.")
    again = measure_more if params.get("more") is True else profile_times
    return await again(server, target, times, token=token)


async def _result(server: KinetoscopeServer, run: str | None) -> tuple[Values, Shown] | None:
    """The result of that id, `None` where it is not there, or no longer."""

    def read() -> tuple[Values, Shown] | None:
        values = None if run is None else server.archive.find(run)
        return None if run is None or values is None else (values, Shown.of(values, run))

    try:
        return await asyncio.to_thread(read)
    except KinetoscopeError as error:
        raise _failed(str(error)) from error


async def _measured(server: KinetoscopeServer, params: _Params) -> tuple[Row | None, Result, str | None]:
    """The region that a trace is wanted of, `None` for the whole trace; its result, and the URI of its file."""
    run = _given(params, "run", str, None)
    if run is None:
        uri, line, name = _given(params, "uri", str), _given(params, "line", int), _given(params, "name", str)
        placed = measured_at(server, uri, line, name)
        if not placed:
            raise _failed(f"{printable(name)} has not been measured yet. Profile it first.")
        code = params.get("finding")
        with_it = (each for each in placed if any(finding.code == code for finding in each.measured.findings))
        measured = next(with_it, placed[0]).measured
        return measured.region, measured.shown.result, uri
    found = await _result(server, run)
    if found is None:
        raise _failed(f"The run {run} is no longer stored. Profile again.")
    result = found[1].result
    index: int | None = _given(params, "region", int, None)
    if index is None:
        return None, result, None
    regions = with_names(result)
    if not 0 <= index < len(regions):
        raise _failed(f"The run {run} has no region {index}; it has {len(regions)}.")
    region = regions[index]
    return region, result, None if region.file is None else uri_of(region.file)


def _spot(params: _Params, region: Row | None, result: Result) -> Spot | None:
    """Where in the trace the finding of that code shows, `None` where none was named or it shows nowhere."""
    code = _given(params, "finding", str, None)
    if code is None:
        return None
    found = result.findings if region is None else findings_of(region)
    for finding in found:
        if finding.code == code:
            return finding.spot
    raise _failed(f"The finding {printable(code)} is no longer here. Profile again.")


def _given(params: _Params, name: str, kind: type[T], *default: None) -> Any:
    """The parameter, which may be left out or null only where there is a default."""
    value: Any = params.get(name)
    if (value is None and default) or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    raise JsonRpcInvalidParams(f"{name}: {value!r} is not of the type that docs/lsp.md gives.")


def _texts(params: _Params, name: str) -> list[str] | None:
    value: Any = params.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[object]", value)):
        raise JsonRpcInvalidParams(f"{name}: expected a list of strings, not {value!r}.")
    return cast("list[str]", value)


def _failed(message: str) -> JsonRpcException:
    """What cannot be done though it was asked for rightly; the message is for people."""
    return JsonRpcException(message, types.LSPErrorCodes.RequestFailed)
