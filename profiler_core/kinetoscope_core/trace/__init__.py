"""Kineto traces as columns. Knows the file format and nothing of attribution; `read_trace` is the way in."""

from kinetoscope_core.trace.columns import (
    DeviceActivities,
    ForwardBackwardFlows,
    HostSlices,
    Metadata,
    OverheadSlices,
    Thread,
    Trace,
)
from kinetoscope_core.trace.events import Collective
from kinetoscope_core.trace.reader import collector_off, peeked, read_trace

__all__ = [
    "Collective",
    "DeviceActivities",
    "ForwardBackwardFlows",
    "HostSlices",
    "Metadata",
    "OverheadSlices",
    "Thread",
    "Trace",
    "collector_off",
    "peeked",
    "read_trace",
]
