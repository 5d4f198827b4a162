"""Which device activities have times that cannot be, and so count in no gap, timeline or busy time.

Of more than 60 recordings none has an activity that starts before its launch, and kernels of one stream overlap by at
most 5 µs (graph nodes, dependent launches); the limits lie far above that.
"""

from array import array
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import add, sub
from typing import Final

from kinetoscope_core.trace import Trace

EARLIEST_NS: Final = 1_000_000
"""So long before its launch no activity starts on the clock of the host (pytorch #192021: a day)."""

LATEST_NS: Final = 3_600_000_000_000
"""So long after it neither: a stream holds a thousand launches, and the profiler's end waits for them."""

MOST_OVERLAP_NS: Final = 100_000
"""By which an activity may lie over the next launch's of its stream."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Activities, as places in `trace.device`, by what of their times cannot be. `activity in doubts` asks for any.

    `other_clock`: the start is of another clock, the duration may be right. `lost`: neither was recorded, or the
    duration is no number of ns (below zero, beyond what a trace can last); it is 0. `overlong`: the activity lies over
    the next ones of its stream, so that its duration cannot be (TraceLens #669).
    """

    other_clock: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    overlong: frozenset[int] = frozenset()

    def __contains__(self, activity: int) -> bool:
        return activity in self.other_clock or activity in self.lost or activity in self.overlong

    def __bool__(self) -> bool:
        return bool(self.other_clock or self.lost or self.overlong)

    def has_length(self, activity: int) -> bool:
        """Whether the duration of an activity can be what it is."""
        return activity not in self.lost and activity not in self.overlong


def doubts_of(trace: Trace, launch: Sequence[int], order: Sequence[int]) -> Doubts:
    """The doubts of a trace. `launch` has the call of each activity among the host slices, -1 for none; `order` are the
    activities by start.
    """
    lost = _lost(trace)
    other_clock = _of_another_clock(trace, launch, lost)
    return Doubts(other_clock, lost, _overlong(trace, order, lost | other_clock))


def _lost(trace: Trace) -> frozenset[int]:
    device = trace.device
    if 0 in device.start_ns:
        rows = enumerate(zip(device.start_ns, device.duration_ns, strict=True))
        return frozenset({index for index, row in rows if row == (0, 0)} | device.cut)
    return frozenset(device.cut)


def _of_another_clock(trace: Trace, launch: Sequence[int], lost: Container[int]) -> frozenset[int]:
    device, host = trace.device, trace.host
    launched = [(index, api_call) for index, api_call in enumerate(launch) if api_call >= 0]
    after = [device.start_ns[index] - host.start_ns[api_call] for index, api_call in launched]
    if not after or (min(after) >= -EARLIEST_NS and max(after) <= LATEST_NS):
        return frozenset()
    return frozenset(
        index
        for (index, _), ns in zip(launched, after, strict=True)
        if not -EARLIEST_NS <= ns <= LATEST_NS and index not in lost
    )


def _overlong(trace: Trace, order: Iterable[int], others: Container[int]) -> frozenset[int]:
    device = trace.device
    streams: dict[tuple[int, int, int], array[int]] = {}
    for index in order:
        stream = device.device[index], device.stream[index], device.thread[index]
        of_stream = streams.get(stream)
        if of_stream is None:
            of_stream = streams[stream] = array("i")
        of_stream.append(index)
    found: set[int] = set()
    for of_stream in streams.values():
        starts = [device.start_ns[index] for index in of_stream]
        ends = map(add, starts, [device.duration_ns[index] for index in of_stream])
        if max(map(sub, ends, islice(starts, 1, None)), default=0) > MOST_OVERLAP_NS:
            found.update(_overlong_of_stream(trace, [index for index in of_stream if index not in others]))
    return frozenset(found)


def _overlong_of_stream(trace: Trace, of_stream: Iterable[int]) -> Iterable[int]:
    """Those that lie over the next launch's. The nodes of one graph may run side by side: they have one launch, and
    what has no id could be one of them.
    """
    device = trace.device
    longest, until = -1, -(2**63)
    for index in of_stream:
        start = device.start_ns[index]
        end = start + device.duration_ns[index]
        launches = (device.correlation[longest], device.correlation[index]) if longest >= 0 else (0, 0)
        if launches[0] != launches[1] and min(launches) > 0 and until - start > MOST_OVERLAP_NS:
            yield longest
            longest, until = index, end
        elif end >= until:
            longest, until = index, end
