"""Sweeps asked for in an editor: what runs, what is said at the end, and the table as a page."""

import asyncio
from pathlib import Path

import msgspec
from lsprotocol import types

from kinetoscope_core.jobs.grid import Grid, axis_of
from kinetoscope_core.output.sweep_chart import to_svg
from kinetoscope_core.output.sweep_text import to_markdown
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.sweep import Sweep, Sweeps
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text
from kinetoscope_server.results.pages import written
from kinetoscope_server.runs.finish import Finish
from kinetoscope_server.runs.targets import Target
from kinetoscope_server.runs.worker import Event, SweepWork
from kinetoscope_server.server import KinetoscopeServer


def sweep_of(target: Target, request: RunRequest) -> SweepWork:
    """The sweep of a target that varies something. Raises `UsageError`."""
    return SweepWork(request, Grid(tuple(map(axis_of, target.vary))), target.repeat)


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


async def show_sweep(server: KinetoscopeServer, name: str) -> str:
    """Shows the table of the sweep of that id, or of the `last`; returns its Markdown. Raises `UsageError`."""
    sweep = await asyncio.to_thread(Sweeps(Store().root).sweep, name)
    await _shown(server, sweep)
    return to_markdown(sweep)


async def _shown(server: KinetoscopeServer, sweep: Sweep) -> None:
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
    kept = {f"sweep-{each}" for each in (sweep.id, *Sweeps(Store().root).ids())}
    for file in page.parent.glob("sweep-*"):
        if file.stem not in kept:
            file.unlink(missing_ok=True)
    return page
