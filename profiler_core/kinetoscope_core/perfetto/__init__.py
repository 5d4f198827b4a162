"""Hands a trace to the Perfetto UI: a page on 127.0.0.1 that posts it there, zoomed to a region. Opens no browser."""

from kinetoscope_core.perfetto.server import TraceServer
from kinetoscope_core.perfetto.zoom import TimeRange, TraceClock, clock_of, time_range_of

__all__ = ["TimeRange", "TraceClock", "TraceServer", "clock_of", "time_range_of"]
