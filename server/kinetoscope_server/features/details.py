"""A region's details and its trace, opened by the client where it can, else told."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from kinetoscope_core.analysis.findings.pages import text_of
from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.results.result import Result
from kinetoscope_server.features.hover import hovers
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.pages import written
from kinetoscope_server.results.shown import Row
from kinetoscope_server.runs.targets import examined_request
from kinetoscope_server.runs.worker import WorkerProcess, problem_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import uri_of
from kinetoscope_server.text.finding_pages import page_of
from kinetoscope_server.text.foreign import escaped

if TYPE_CHECKING:
    from kinetoscope_server.results.perfetto_links import TraceLink


async def show_details(server: KinetoscopeServer, placed: Sequence[Placed]) -> str:
    """Shows all measures of a line as a Markdown file of the cache; returns the Markdown."""
    path = placed[0].measured.region.file or ""
    story = hovers.text(placed, server.changes, server.comparisons, path, most_tables=len(placed))
    text = "\n\n".join([f"# {escaped(placed[0].region.name)}", story])
    page = await asyncio.to_thread(written, text + "\n", "details.md")
    if not await server.client.show_document(page.as_uri(), external=False):
        server.client.tell(types.MessageType.Info, text)
    return text


async def explain(server: KinetoscopeServer, code: str) -> str:
    """Shows the page of a code; returns its Markdown. Raises `JsonRpcInvalidParams` where there is none."""
    try:
        text = await asyncio.to_thread(text_of, code)
    except KinetoscopeError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    if not await server.client.show_document(page_of(code), external=False):
        server.client.tell(types.MessageType.Info, text)
    return text


async def doctor(server: KinetoscopeServer, path: str | None) -> str:
    """Shows what a file's runs have to measure with, and what is wrong; returns that text."""
    settings = server.configuration.general if path is None else await server.configuration.of(uri_of(path))
    try:
        event = await WorkerProcess().examine(examined_request(path, settings, server.root_of(path or "")))
        text = event["text"] if event["event"] == "result" else problem_of(event).message
    except KinetoscopeError as error:
        text = str(error)
    page = await asyncio.to_thread(written, text, "doctor.txt")
    if not await server.client.show_document(page.as_uri(), external=False):
        server.client.tell(types.MessageType.Info, text)
    return text


async def open_trace(server: KinetoscopeServer, uri: str, placed: Placed, spot: Spot | None = None) -> str | None:
    """Opens the trace in Perfetto at the spot, or at the median call of the region; returns the link."""
    perfetto = (await server.configuration.of(uri)).perfetto
    measured = placed.measured
    try:
        found = await asyncio.to_thread(trace_link, measured.region, measured.shown.result, perfetto, spot=spot)
        link = found.link
    except KinetoscopeError as error:
        server.client.tell(types.MessageType.Warning, str(error))
        return None
    if not await server.client.show_document(link, external=True):
        server.client.tell(types.MessageType.Info, f"The trace: {link}")
    return link


# Half of what the server takes to start would be for the links, which most sessions never want.


def trace_link(
    region: Row | None,
    result: Result,
    perfetto: str,
    embedders: Sequence[str] = (),
    spot: Spot | None = None,
) -> "TraceLink":
    """As `links.link_to`."""
    from kinetoscope_server.results import perfetto_links  # noqa: PLC0415

    return perfetto_links.link_to(region, result, perfetto=perfetto, embedders=embedders, spot=spot)


def trust(address: str) -> None:
    """As `links.trust`."""
    from kinetoscope_server.results import perfetto_links  # noqa: PLC0415

    perfetto_links.trust(address)
