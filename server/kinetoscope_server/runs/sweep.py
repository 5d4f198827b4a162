"""Sweeps asked for in an editor: what runs, what is said at the end, their table, and a setting of it at the lines."""

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
import orjson
from lsprotocol import types

from kinetoscope_core.errors import UsageError
from kinetoscope_core.jobs.grid import Grid, axis_of
from kinetoscope_core.output.sweep_chart import to_svg
from kinetoscope_core.output.sweep_text import notes, tables, title_text, to_markdown
from kinetoscope_core.results.result import Result, from_dict, rows_of
from kinetoscope_core.results.store import Store, StoredRun
from kinetoscope_core.results.sweep import Sweep, Sweeps, setting_title, to_json
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.pages import written
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.runs.finish import Finish
from kinetoscope_server.runs.targets import Target
from kinetoscope_server.runs.worker import Event, SweepWork
from kinetoscope_server.server import KinetoscopeServer


def sweep_of(target: Target, request: RunRequest) -> SweepWork:
    """The sweep of a target that varies something: `size=64,1024` or, of the environment, `$OMP_NUM_THREADS=1,4`.

    Raises `UsageError`.
    """
    axes = (axis_of(each.removeprefix("$"), is_environment=each.startswith("$")) for each in target.vary)
    return SweepWork(request, Grid(tuple(axes)), target.repeat)


def sweep_ended(server: KinetoscopeServer, event: Event) -> Finish:
    """Shows the table, and says how it went."""
    sweep = msgspec.convert(event["sweep"], Sweep)
    measured = sum(each.processes > 0 for each in sweep.settings)
    failed = sum(each.failed is not None for each in sweep.settings)
    message = f"Measured {measured} of {count_text(len(sweep.settings), 'setting')}."
    message += f" {count_text(failed, 'setting')} failed." if failed else ""
    server.runs_changed()
    if measured or failed:
        server.start(_shown(server, sweep))
    return Finish("cancelled" if sweep.is_cancelled else "measured" if measured else "failed", message)


def sweep_values(name: str) -> dict[str, Any]:
    """The answer to `kinetoscope/sweep`: the sweep of that id, or the `last`, as people read it and as it is stored.

    Raises `UsageError`.
    """
    sweep = _sweeps().sweep(name)
    shown = [
        {"headings": table.headings, "rows": [asdict(row) for block in table.blocks for row in block]}
        for table in tables(sweep)
    ]
    return {
        "title": title_text(sweep),
        "notes": notes(sweep),
        "tables": shown,
        "chart": to_svg(sweep),
        "markdown": to_markdown(sweep),
        "sweep": orjson.loads(to_json(sweep)),
    }


async def show_sweep(server: KinetoscopeServer, name: str) -> str:
    """Shows the table of the sweep of that id, or of the `last`; returns its Markdown. Raises `UsageError`."""
    sweep = await asyncio.to_thread(_sweeps().sweep, name)
    await _shown(server, sweep)
    return to_markdown(sweep)


async def show_setting(server: KinetoscopeServer, name: str, setting: int, region: int | None) -> str:
    """Shows a run of a setting at the lines, and that it is one: of several the one with the median of the region, or
    else the newest. Returns its id. Raises `UsageError`.
    """
    shown = await asyncio.to_thread(_run_of, name, setting, region)
    await server.recall()
    server.board.add(shown)
    server.show_chosen(server.board.choose(shown.run))
    return shown.run


def _sweeps() -> Sweeps:
    return Sweeps(Store().root)


def _run_of(name: str, setting: int, region: int | None) -> Shown:
    sweep = _sweeps().sweep(name)
    if not 0 <= setting < len(sweep.settings) or not (region is None or 0 <= region < len(sweep.regions)):
        raise UsageError(f"The sweep {sweep.id} has {count_text(len(sweep.settings), 'setting')}; none is {setting}.")
    title = setting_title(sweep.axes, sweep.settings[setting].values)
    stored = [each for each in Store().runs() if each.id in sweep.settings[setting].runs]
    if not stored:
        raise UsageError(f"No run of {title} is stored any more. Sweep again.")
    found = stored[0] if region is None else _with_median(stored, sweep, setting, region)
    return replace(Shown.of(found.result(), found.id), setting=title)


def _with_median(stored: list[StoredRun], sweep: Sweep, setting: int, region: int) -> StoredRun:
    swept = sweep.regions[region]
    cell = swept.cells[setting]
    times = [
        ((row.cuda_total_ns or row.cpu_total_ns).median, run)
        for run in stored
        for row in rows_of(_result(run))
        if cell is not None and (row.name, row.file) == (cell.name, swept.file)
    ]
    times.sort(key=lambda each: each[0])
    return times[(len(times) - 1) // 2][1] if times else stored[0]


def _result(run: StoredRun) -> Result:
    return from_dict(run.result())


async def _shown(server: KinetoscopeServer, sweep: Sweep) -> None:
    if server.client.takes(methods.SWEPT):
        server.client.notify(methods.SWEPT, {"sweep": sweep.id})
        return
    text = to_markdown(sweep)
    page = await asyncio.to_thread(_written, sweep, text)
    if not await server.client.show_document(page.as_uri(), external=False):
        server.client.tell(types.MessageType.Info, text)


def _written(sweep: Sweep, text: str) -> Path:
    """The table as a page, with the chart beside it; pages of sweeps that are no longer kept go."""
    chart = to_svg(sweep)
    if chart is not None:
        picture = written(chart, f"sweep-{sweep.id}.svg")
        text += f"\n![Totals per call of each region, setting by setting]({picture.name})\n"
    page = written(text, f"sweep-{sweep.id}.md")
    kept = {f"sweep-{each}" for each in (sweep.id, *_sweeps().ids())}
    for file in page.parent.glob("sweep-*"):
        if file.stem not in kept:
            file.unlink(missing_ok=True)
    return page
