"""Which part of a trace to show for one call of a region. Knows the trace file's two ends, not its events."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kinetoscope_core.results.measures import CallInTrace
from kinetoscope_core.trace.bytestream import opened
from kinetoscope_core.trace.times import ns_from_us

_END_BYTES: Final = 1 << 20
GZIP_MAGIC: Final = b"\x1f\x8b"
_BASE_TIME: Final = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)')
# Kineto's own slice over everything it recorded; it stands behind the other events.
_SPAN: Final = re.compile(
    rb'"cat"\s*:\s*"Trace"\s*,\s*"ts"\s*:\s*(\d+(?:\.\d+)?)\s*,\s*"dur"\s*:\s*(\d+(?:\.\d+)?)\s*,\s*"pid"\s*:\s*"Spans"'
)

_SLICE: Final = re.compile(rb'"ts"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*,\s*"dur"\s*:\s*"?(\d+(?:\.\d+)?)')

# A launch returns before its kernel has run, so what the region started lies to its right. Looking further than this
# would make the region itself too small to see: it keeps about a fifth of the window.
_MOST_DEVICE_TIMES_CPU: Final = 4
_MARGIN: Final = (1, 10)
_NARROWEST_NS: Final = 1_000


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `start_ns` to `end_ns` on a trace's own clock. Raises `ValueError` where nothing lies between."""

    start_ns: int
    end_ns: int

    def __post_init__(self) -> None:
        if not 0 <= self.start_ns < self.end_ns:
            message = f"not a range of time: {self.start_ns} to {self.end_ns}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class TraceClock:
    """How a trace counts time: `base_time_ns` plus a time of it is `time.time_ns()`; 0 where its times are absolute.

    `span` is what the profiler recorded; where the file doesn't say, from the first to the last slice of its two ends;
    `None` where they have none.
    """

    base_time_ns: int = 0
    span: TimeRange | None = None


def clock_of(trace: Path) -> TraceClock:
    """The clock, from the first and the last MiB of the file. Raises `TraceError` where it cannot be read.

    A gzipped file has to be unpacked to its end for that, about 5 s for each GB of text.
    """
    head, tail = _both_ends(trace)
    base = _BASE_TIME.search(head) or _BASE_TIME.search(tail)
    spans = _SPAN.findall(tail)
    span = _as_range(*spans[-1]) if spans else _around(_SLICE.findall(head) + _SLICE.findall(tail))
    return TraceClock(int(base[1]) if base else 0, span)


def time_range_of(call: CallInTrace, clock: TraceClock) -> TimeRange:
    """The call, the device work it started as far as that lies near, and a margin; inside what was recorded.

    Without a known span there is no margin, since the Perfetto UI ignores a range that leaves the trace.
    """
    start_ns = max(0, call.start_ns - clock.base_time_ns)
    cpu_ns = max(call.cpu_total_ns, _NARROWEST_NS)
    if clock.span is None:
        return TimeRange(start_ns, start_ns + cpu_ns)
    wanted_ns = cpu_ns + min(call.cuda_total_ns or 0, _MOST_DEVICE_TIMES_CPU * cpu_ns)
    margin_ns = wanted_ns * _MARGIN[0] // _MARGIN[1]
    # The UI's own times of the same trace are rounded, so its ends may lie a little further in.
    rounding_ns = 1 + math.ceil(math.ulp(clock.span.end_ns / 1000) * 1000)
    first_ns = max(start_ns - margin_ns, clock.span.start_ns + rounding_ns)
    last_ns = min(start_ns + wanted_ns + margin_ns, clock.span.end_ns - rounding_ns)
    return TimeRange(first_ns, last_ns) if first_ns < last_ns else clock.span


def in_perfetto(time_range: TimeRange) -> TimeRange:
    """The same range in the UI's nanoseconds, which are `llround(double(ts) * 1000)` of the file's microseconds.

    The length is kept, so that a range inside the trace stays inside.
    """
    start_ns = math.floor(time_range.start_ns / 1000 * 1000.0 + 0.5)
    return TimeRange(start_ns, start_ns + time_range.end_ns - time_range.start_ns)


def _both_ends(trace: Path) -> tuple[bytes, bytes]:
    with opened(trace) as stream:
        head = last = stream.read(_END_BYTES)
        with trace.open("rb") as file:
            if file.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
                file.seek(max(0, trace.stat().st_size - _END_BYTES))
                return head, file.read(_END_BYTES)
        before = b""
        while piece := stream.read(_END_BYTES):
            before, last = last, piece
    return head, before + last


def _around(slices: Sequence[tuple[bytes, bytes]]) -> TimeRange | None:
    """Of slices that are somewhere in the trace: it begins no later and ends no sooner."""
    ranges = [found for each in slices if (found := _as_range(*each)) is not None]
    if not ranges:
        return None
    return TimeRange(min(each.start_ns for each in ranges), max(each.end_ns for each in ranges))


def _as_range(ts_us: bytes, dur_us: bytes) -> TimeRange | None:
    start_ns, duration_ns = ns_from_us(ts_us.decode()), ns_from_us(dur_us.decode())
    return TimeRange(start_ns, start_ns + duration_ns) if duration_ns > 0 else None
