"""When devices worked, and when it is known that they did not."""

from bisect import bisect_right
from collections.abc import Collection, Container, Iterator, Sequence
from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.attribution.nesting import is_wait
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import API_CALL

_LONGEST_IDLE_WAIT_NS: Final = 100_000
"""A wait for an idle device takes the time of its call: at most 54 µs in 48 recordings (H200, MI300X, A100 …)."""


def _waits(trace: Trace) -> list[int]:
    """The calls that wait for a device, as host slices, in the order of time."""
    host = trace.host
    waiting = {number for number, name in enumerate(trace.names) if is_wait(name)}
    found = (index for index, name in enumerate(host.name) if name in waiting and host.kind[index] == API_CALL)
    return sorted(found, key=host.start_ns.__getitem__)


class DeviceTimeline:
    """When devices of a recording worked: the union of their activities, whose they are does not matter.

    Of all devices, or of those that are given; without the activities in `doubtful`, whose times cannot be. `known` is
    the span of which it is known when they worked.
    """

    def __init__(
        self, trace: Trace, devices: Collection[int] | None = None, doubtful: Container[int] = frozenset()
    ) -> None:
        device = trace.device
        rows = enumerate(zip(device.device, device.start_ns, device.duration_ns, strict=True))
        self._union = Union(
            (start, start + ns)
            for index, (on, start, ns) in rows
            if ns and (devices is None or on in devices) and not (doubtful and index in doubtful)
        )
        waits = _waits(trace)
        self._waits: dict[int, list[int]] = {}
        for wait in waits:
            self._waits.setdefault(trace.host.thread[wait], []).append(trace.host.start_ns[wait])
        worked = self._union.span
        self.known = (self._known_from(trace, waits, worked[0]), worked[1]) if worked else (0, 0)

    def _known_from(self, trace: Trace, waits: Sequence[int], first_ns: int) -> int:
        """Where nothing from before the recording can run any more that the trace does not show.

        That is the first activity; but where the first wait of the CPU is long and for nothing recorded, its end.
        """
        if waits:
            start, ns = trace.host.start_ns[waits[0]], trace.host.duration_ns[waits[0]]
            idle_ns = ns - self.covered(start, start + ns)
            if idle_ns > _LONGEST_IDLE_WAIT_NS and 2 * idle_ns > ns:
                return max(start + ns, first_ns)
        return first_ns

    def covered(self, start_ns: int, end_ns: int) -> int:
        """How much of the span a device worked."""
        return self._union.covered(start_ns, end_ns)

    def idle(self, start_ns: int, end_ns: int) -> int:
        """How much of the span no device worked, as far as that is known: not before and after the recorded work."""
        start_ns, end_ns = self._clamped(start_ns, end_ns)
        return max(end_ns - start_ns - self.covered(start_ns, end_ns), 0)

    def idle_or_after(self, start_ns: int, end_ns: int) -> int:
        """The same, with all that comes after the recorded work: for a recording that lacks no record."""
        return self.idle(start_ns, end_ns) + max(end_ns - max(start_ns, self.known[1]), 0)

    def _clamped(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        return max(start_ns, self.known[0]), min(end_ns, self.known[1])

    def idle_until_next_wait(self, thread: int, start_ns: int, most_ns: int) -> tuple[tuple[int, int], int]:
        """The span from a wait of this thread until its next one, or the last activity, but only until no device has
        worked for so long in all; and for how long none has.
        """
        starts = self._waits.get(thread, [])
        after = bisect_right(starts, start_ns)
        start_ns, end_ns = self._clamped(start_ns, starts[after] if after < len(starts) else self.known[1])
        end_ns = min(end_ns, self._union.end_of_gaps(start_ns, most_ns))
        return (start_ns, end_ns), self.idle(start_ns, end_ns)

    def longest_gap(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        """The longest of these, the first of several; (0, 0) for none."""
        return self._union.longest_gap(*self._clamped(start_ns, end_ns))

    def worked_or(self, other: Union) -> Union:
        """When a device worked, or what else is given was true."""
        return Union([*self._union, *other])

    def gaps(self, start_ns: int, end_ns: int) -> Iterator[tuple[int, int]]:
        """The stretches of the span without work that are known, as (start, end)."""
        start_ns, end_ns = self._clamped(start_ns, end_ns)
        return self._union.gaps(start_ns, end_ns)
