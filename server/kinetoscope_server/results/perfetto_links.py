"""Links that open a trace in Perfetto at a region. Imported when the first is wanted: it brings a web server along."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kinetoscope_core.errors import TraceError
from kinetoscope_core.perfetto import TraceServer, clock_of, time_range_of
from kinetoscope_core.results.measures import CallInTrace, Spot, Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import printable
from kinetoscope_server.results.shown import Row

_server = TraceServer()


@dataclass(frozen=True, slots=True)
class TraceLink:
    """The address that opens a trace, and what it shows."""

    link: str
    title: str


def link_to(
    region: Row | None,
    result: Result,
    *,
    perfetto: str,
    embedders: Sequence[str] = (),
    spot: Spot | None = None,
) -> TraceLink:
    """The link to the spot, else to a median call of the region (the first of one without times), else to the whole
    first trace. Reads no more of it than its two ends.

    `embedders` are the pages that may show it in a frame. Raises `TraceError` where the trace is no longer there,
    `UsageError` for a wrong address of Perfetto or a wrong embedder.
    """
    if not result.traces:
        raise TraceError("No trace of this run is stored. Profile again.")
    call = None
    if region is not None:
        call = region.first if isinstance(region, Unmeasured) else region.median_call
    if spot is not None:
        call = CallInTrace(spot.trace, spot.start_ns, spot.duration_ns, None)
    trace = result.traces[0 if call is None else call.trace]
    title = trace.name if region is None else f"{printable(region.name)} in {Path(region.file or trace).name}"
    zoom = time_range_of(call, clock_of(trace)) if call is not None and trace.is_file() else None
    link = _server.link(trace, title=title, zoom=zoom, perfetto_address=perfetto, embedders=embedders)
    return TraceLink(link, title)


def trust(address: str) -> None:
    """Also answers what comes in the name of that address's host. Raises `UsageError` where it has none."""
    _server.trust_host(address)
