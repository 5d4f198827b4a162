"""What the rules look at: for each region the calls, operators and activities that are its own, over measured passages.

Annotations that torch makes itself (optimisers, DataLoader, collectives) are part of the user's region around them.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinetoscope_core.attribution.intervals import Union
from kinetoscope_core.attribution.nesting import is_wait
from kinetoscope_core.measures import RegionMeasures, Spot
from kinetoscope_core.recording import Recording
from kinetoscope_core.summary import Passage, Passages, RegionKey
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import CALL


def _places() -> "array[int]":
    return array("i")


@dataclass(slots=True)
class Part:
    """What of one region lies in one recording.

    On its own thread: `calls` and, directly in it, `operators`, both places among the host slices; `annotations` are
    the occurrences that torch made. `activities`, places among the device's, may also be launched by autograd threads.
    """

    number: int
    recording: Recording
    trace: Trace = field(init=False)
    calls: "array[int]" = field(default_factory=_places)
    operators: "array[int]" = field(default_factory=_places)
    activities: "array[int]" = field(default_factory=_places)
    annotations: "array[int]" = field(default_factory=_places)

    def __post_init__(self) -> None:
        self.trace = self.recording.trace  # asked for a million times in a long trace

    def host_name(self, place: int) -> str:
        """The name of a call or an operator."""
        host = self.trace.host
        return self.trace.names[host.name[place]]

    def activity_name(self, activity: int) -> str:
        device = self.trace.device
        return self.trace.names[device.name[activity]]

    def operator_around(self, call: int) -> int:
        """The operator that stands directly in the region and holds the call, as a host slice; -1 for none."""
        return -1 if call < 0 else self.recording.attribution.nesting.operators.around_call[call]

    def spot(self, start_ns: int, duration_ns: int) -> Spot:
        """A stretch of this recording, from its own clock."""
        return Spot(self.number, self.recording.window.base_time_ns + start_ns, duration_ns)

    def spot_of_call(self, call: int) -> Spot:
        host = self.trace.host
        return self.spot(host.start_ns[call], host.duration_ns[call])

    def spot_of_activity(self, activity: int) -> Spot:
        device = self.trace.device
        return self.spot(device.start_ns[activity], device.duration_ns[activity])


@dataclass(slots=True)
class RegionFacts:
    """One region of the user's. `outer` are the regions that it is nested in directly, `parts` by recording."""

    key: RegionKey
    measures: RegionMeasures
    passages: Passages
    median: Passage
    parts: Mapping[int, Part]
    outer: set[RegionKey] = field(default_factory=set[RegionKey])
    _outermost: Mapping[Passage, Passage] = field(init=False)

    def __post_init__(self) -> None:
        groups = self.passages.on_thread.items()
        self._outermost = {each: passage for passage, group in groups for each in group}

    @property
    def measured(self) -> Sequence[Passage]:
        """The measured passages that lie in no other one of the region, in the order in which they were entered."""
        return sorted(self.passages.on_thread)

    def passage_of(self, part: Part, occurrence: int) -> Passage:
        """The measured passage that an occurrence is, or lies in as one of the region or of torch's."""
        while (part.number, occurrence) not in self._outermost:
            occurrence = part.recording.window.occurrences[occurrence].parent
        return self._outermost[part.number, occurrence]

    def median_spot(self) -> Spot:
        """The median passage, as a place in its trace."""
        place = self.measures.median_occurrence
        return Spot(place.trace, place.start_ns, place.cpu_total_ns)

    def activities(self) -> Iterator[tuple[Part, int]]:
        return ((part, activity) for part in self.parts.values() for activity in part.activities)

    def calls(self) -> Iterator[tuple[Part, int]]:
        return ((part, call) for part in self.parts.values() for call in part.calls)


def _waits(trace: Trace) -> list[int]:
    """The calls that wait for a device, as host slices, in the order of time."""
    host = trace.host
    waiting = {number for number, name in enumerate(trace.names) if is_wait(name)}
    found = (index for index, name in enumerate(host.name) if name in waiting and host.kind[index] == CALL)
    return sorted(found, key=host.start_ns.__getitem__)


class DeviceTimeline:
    """When the device of a recording worked: the union of all its activities with times that can be, whose they are
    does not matter.
    """

    def __init__(self, recording: Recording) -> None:
        trace, doubts = recording.trace, recording.attribution.doubts
        rows = enumerate(zip(trace.device.start_ns, trace.device.duration_ns, strict=True))
        spans = sorted((start, start + ns) for each, (start, ns) in rows if ns and each not in doubts)
        self._union = Union(spans)
        self._starts = [start for start, _ in spans]
        self._busy_until: list[int] = []
        for _, end in spans:
            self._busy_until.append(max(end, self._busy_until[-1]) if self._busy_until else end)
        waits = _waits(trace)
        self._waits: dict[int, list[int]] = {}
        for wait in waits:
            self._waits.setdefault(trace.host.thread[wait], []).append(trace.host.start_ns[wait])
        self._known = (self._known_from(trace, waits), self._busy_until[-1]) if spans else (0, 0)

    def _known_from(self, trace: Trace, waits: Sequence[int]) -> int:
        """Where nothing from before the window can run any more that the trace does not show.

        That is the first activity; but where the first wait of the CPU is mostly one for nothing recorded, its end.
        """
        if waits:
            start, ns = trace.host.start_ns[waits[0]], trace.host.duration_ns[waits[0]]
            if 2 * self.covered(start, start + ns) < ns:
                return max(start + ns, self._starts[0])
        return self._starts[0]

    def covered(self, start_ns: int, end_ns: int) -> int:
        """How much of the span the device worked."""
        return self._union.covered(start_ns, end_ns)

    def idle(self, start_ns: int, end_ns: int) -> int:
        """How much of the span no device worked, as far as that is known: not before and after the recorded work."""
        start_ns, end_ns = self._clamped(start_ns, end_ns)
        return max(end_ns - start_ns - self.covered(start_ns, end_ns), 0)

    def _clamped(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        return max(start_ns, self._known[0]), min(end_ns, self._known[1])

    def idle_until_next_wait(self, thread: int, start_ns: int) -> int:
        """How much of the time no device worked from a wait of this thread until its next one, or the last activity."""
        starts = self._waits.get(thread, [])
        after = bisect_right(starts, start_ns)
        return self.idle(start_ns, starts[after] if after < len(starts) else self._known[1])

    def gaps(self, start_ns: int, end_ns: int) -> Iterator[tuple[int, int]]:
        """The stretches of the span without work that are known, as (start, end)."""
        start_ns, end_ns = self._clamped(start_ns, end_ns)
        place = bisect_right(self._starts, start_ns)
        at = max(start_ns, self._busy_until[place - 1]) if place else start_ns
        for index in range(place, bisect_left(self._starts, end_ns)):
            if self._starts[index] > at:
                yield at, self._starts[index]
            at = max(at, self._busy_until[index])
        if at < end_ns:
            yield at, end_ns


@dataclass(slots=True)
class RunFacts:
    """All regions of the user's, and what they were recorded in.

    `measured_ns` is the CPU time of the measured passages that lie in no other measured one: what shares are taken of.
    `loose` are the occurrences that torch made outside of all regions of the user's.
    """

    recordings: Sequence[Recording]
    regions: Mapping[RegionKey, RegionFacts]
    measured_ns: int
    device_total_ns: int | None
    timelines: Sequence[DeviceTimeline]
    loose: Sequence[Passage]
