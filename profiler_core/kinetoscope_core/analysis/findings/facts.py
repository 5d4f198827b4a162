"""What the rules look at: for each region the calls, operators and activities that are its own, over measured calls.

Annotations that torch makes itself (optimisers, DataLoader, collectives) are part of the user's region around them.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kinetoscope_core.analysis.attribution.idle_devices import DeviceTimeline
from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.bounds import Limit
from kinetoscope_core.analysis.findings.overhead import PROFILING
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import CallId, RegionCalls, RegionKey
from kinetoscope_core.results.measures import RegionMeasures, Spot
from kinetoscope_core.trace import Trace


def _places() -> "array[int]":
    return array("i")


@dataclass(slots=True)
class Part:
    """What of one region lies in one recording.

    On its own thread: `calls` and, directly in it, `operators`, both places among the host slices; `annotations` are
    the calls that torch made. `activities`, places among the device's, may also be launched by autograd threads;
    those whose times cannot be are left out. `measured_calls` has for each call of the recording the measured call
    that it is, or lies in as one of the region or of torch's.
    """

    number: int
    recording: Recording
    measured_calls: Sequence[CallId | None]
    trace: Trace = field(init=False)
    api_calls: "array[int]" = field(default_factory=_places)
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

    def operator_around(self, api_call: int) -> int:
        """The operator that stands directly in the region and holds the call, as a host slice; -1 for none."""
        return -1 if api_call < 0 else self.recording.attribution.nesting.operators.around_api_call[api_call]

    def spot(self, start_ns: int, duration_ns: int) -> Spot:
        """A stretch of this recording, from its own clock."""
        return Spot(self.number, self.recording.base_time_ns + start_ns, duration_ns)

    def spot_of_api_call(self, api_call: int) -> Spot:
        host = self.trace.host
        return self.spot(host.start_ns[api_call], host.duration_ns[api_call])

    def of_cpu(self, place: int) -> Stretch:
        """The time of a call or an operator, as one that could be saved."""
        start_ns = self.trace.host.start_ns[place]
        return Stretch(self.number, False, start_ns, start_ns + self.trace.host.duration_ns[place])

    def of_device(self, activity: int) -> Stretch:
        """The time of an activity, as one that could be saved."""
        start_ns = self.trace.device.start_ns[activity]
        return Stretch(self.number, True, start_ns, start_ns + self.trace.device.duration_ns[activity])

    def spot_of_activity(self, activity: int) -> Spot:
        device = self.trace.device
        return self.spot(device.start_ns[activity], device.duration_ns[activity])


@dataclass(slots=True)
class RegionFacts:
    """One region of the user's. `outer` are the regions that it is nested in directly, `parts` by recording."""

    key: RegionKey
    measures: RegionMeasures
    calls: RegionCalls
    median: CallId
    parts: Mapping[int, Part]
    outer: set[RegionKey] = field(default_factory=set[RegionKey])
    _outermost: Mapping[CallId, CallId] = field(init=False)

    def __post_init__(self) -> None:
        groups = self.calls.on_thread.items()
        self._outermost = {each: call_id for call_id, group in groups for each in group}

    @property
    def measured(self) -> Sequence[CallId]:
        """The measured calls that lie in no other one of the region, in the order in which they were entered."""
        return sorted(self.calls.on_thread)

    def measures_captures(self, run: "RunFacts") -> bool:
        """Whether all calls that could be measured captured a CUDA graph: what they do is of no other call."""
        number, index = self.median
        return run.recordings[number].calls[index].captures

    def measured_in(self, call_id: CallId) -> CallId | None:
        """The measured call that a call of the region is or lies in; `None` if it is in no statistics."""
        return self._outermost.get(call_id)

    def median_spot(self) -> Spot:
        """The median call, as a place in its trace."""
        place = self.measures.median_call
        return Spot(place.trace, place.start_ns, place.cpu_total_ns)

    def activities(self) -> Iterator[tuple[Part, int]]:
        return ((part, activity) for part in self.parts.values() for activity in part.activities)

    def api_calls(self) -> Iterator[tuple[Part, int]]:
        return ((part, api_call) for part in self.parts.values() for api_call in part.api_calls)


@dataclass(slots=True)
class RunFacts:
    """All regions of the user's, and what they were recorded in.

    `measured_ns` is the CPU time of the measured calls that lie in no other measured one: what shares are taken of.
    `loose` are the calls that torch made outside of all regions of the user's. `are_steps` says that
    there are no such regions, and torch's own steps stand for them; `has_modules` that regions are modules, which are
    shown with what they cost in the backward pass.
    """

    recordings: Sequence[Recording]
    regions: Mapping[RegionKey, RegionFacts]
    limits: Mapping[RegionKey, Limit]
    measured_ns: int
    device_total_ns: int | None
    timelines: Sequence[DeviceTimeline]
    loose: Sequence[CallId]
    are_steps: bool = False
    has_modules: bool = False
    _nested: dict[int, dict[int, list[int]]] = field(default_factory=dict[int, dict[int, list[int]]])

    _worked: dict[int, Union] = field(default_factory=dict[int, Union])
    _next: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])

    def next_launches(self, number: int) -> Mapping[int, int]:
        """For each call that put work on a device the next one of its thread; both are host slices."""
        following = self._next.get(number)
        if following is None:
            host, launches = self.recordings[number].trace.host, self.recordings[number].attribution.activity_launch
            order = sorted(
                {each for each in launches if each >= 0},
                key=lambda api_call: (host.thread[api_call], host.start_ns[api_call]),
            )
            following = self._next[number] = {
                api_call: after for api_call, after in pairwise(order) if host.thread[api_call] == host.thread[after]
            }
        return following

    def worked_or_profiled(self, number: int) -> Union:
        """When a device worked, or the profiler did."""
        found = self._worked.get(number)
        if found is None:
            profiled = self.recordings[number].overhead(PROFILING)
            found = self._worked[number] = self.timelines[number].worked_or(profiled)
        return found

    def nested_in(self, number: int, call: int) -> Sequence[int]:
        """The calls that are nested in one directly."""
        nested = self._nested.get(number)
        if nested is None:
            nested = self._nested[number] = {}
            for index, each in enumerate(self.recordings[number].calls):
                nested.setdefault(each.parent, []).append(index)
        return nested.get(call, ())
