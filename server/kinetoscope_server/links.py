"""Links that open a trace in Perfetto at a region. Imported when the first is wanted: it brings a web server along."""

from pathlib import Path

from kinetoscope_core.measures import OccurrenceInTrace, Spot
from kinetoscope_core.perfetto import TraceServer, clock_of, time_range_of
from kinetoscope_core.text import printable
from kinetoscope_server.measured import Placed

_server = TraceServer()


def link_to(placed: Placed, perfetto: str, spot: Spot | None = None) -> str:
    """The link, zoomed to the spot, or else to a median passage. Reads no more of the trace than its two ends.

    Raises `TraceError` where the trace is no longer there, `UsageError` for a wrong address of Perfetto.
    """
    measures, result = placed.measured.region, placed.measured.shown.result
    occurrence = measures.median_occurrence
    if spot is not None:
        occurrence = OccurrenceInTrace(spot.trace, spot.start_ns, spot.duration_ns, None)
    trace = result.traces[occurrence.trace]
    title = f"{printable(measures.name)} in {Path(measures.file or trace).name}"
    zoom = time_range_of(occurrence, clock_of(trace)) if trace.is_file() else None
    return _server.link(trace, title=title, zoom=zoom, perfetto_address=perfetto)
