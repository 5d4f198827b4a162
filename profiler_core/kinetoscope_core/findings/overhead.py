"""What of the overhead slices of a trace is the profiler's own work, and what the loading of CUDA modules."""

import re
from typing import Final

from kinetoscope_core.attribution.intervals import Union
from kinetoscope_core.trace import Trace

LOADING: Final = re.compile(".*Loading")
"""`Runtime Triggered Module Loading`, `Lazy Function Loading`: CUPTI tells them, and they would be there without it."""

PROFILING: Final = re.compile("(?!.*Loading)")


def covered(trace: Trace, start_ns: int, end_ns: int, names: re.Pattern[str]) -> int:
    """How much of a span is covered by overhead of these names. Kineto does not say of which thread."""
    overhead = trace.overhead
    rows = zip(overhead.name, overhead.start_ns, overhead.duration_ns, strict=True)
    spans = [(start, start + ns) for name, start, ns in rows if names.match(trace.names[name]) and start < end_ns]
    return Union(spans).covered(start_ns, end_ns)
