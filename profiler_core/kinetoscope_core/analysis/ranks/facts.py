"""What is needed of one rank's recordings when its job is looked at as a whole: small enough for hundreds of ranks."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import START_UP, Calls, RegionCalls, RegionKey, spread_of, times_of
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.measures import Spread
from kinetoscope_core.results.ranks import RankRegion
from kinetoscope_core.trace import Collective
from kinetoscope_core.trace.schema import KERNEL


def _longs() -> "array[int]":
    return array("q")


class RankPlace(NamedTuple):
    """Which rank of which job a recording is of, as far as it says so. `local_rank` counts within the host."""

    rank: int
    world_size: int | None
    local_rank: int | None
    host: str | None
    groups: Mapping[str, tuple[int, ...]]


@dataclass(slots=True)
class Communications:
    """The collectives of one recording by start, as columns; times are since the epoch in ns.

    `what` says which collective, as a place in `kinds`, and `within` in which measured regions, as a place in
    `regions`. `launch_ns` is when the host launched it, -1 where that was not recorded. Of the stretches in which
    nothing was computed, `exposed_from` has the first of each and one more at the end.
    """

    kinds: list[Collective] = field(default_factory=list[Collective])
    regions: list[tuple[RegionKey, ...]] = field(default_factory=list[tuple[RegionKey, ...]])
    what: "array[int]" = field(default_factory=_longs)
    within: "array[int]" = field(default_factory=_longs)
    start_ns: "array[int]" = field(default_factory=_longs)
    duration_ns: "array[int]" = field(default_factory=_longs)
    launch_ns: "array[int]" = field(default_factory=_longs)
    exposed_from: "array[int]" = field(default_factory=lambda: array("q", [0]))
    exposed_start_ns: "array[int]" = field(default_factory=_longs)
    exposed_end_ns: "array[int]" = field(default_factory=_longs)

    def __len__(self) -> int:
        return len(self.what)

    def exposed_ns(self, index: int, until_ns: int | None = None) -> int:
        """How long nothing was computed during one of them, or during the part of it until then."""
        places = range(self.exposed_from[index], self.exposed_from[index + 1])
        ends = self.exposed_end_ns
        return sum(
            max(0, (ends[each] if until_ns is None else min(ends[each], until_ns)) - self.exposed_start_ns[each])
            for each in places
        )


@dataclass(slots=True)
class RegionWork:
    """The calls of one region on one rank, in order of time, warm-up included; times are since the epoch in ns.

    Outside of nested regions, `host_ns` is wall time in which the CPU did not wait for the GPU, and `sync_ns` that in
    which it did, both 0 on autograd's threads, since the thread that waits for them has that time. `device_ns` is the
    CUDA self without collectives.
    """

    start_ns: "array[int]" = field(default_factory=_longs)
    end_ns: "array[int]" = field(default_factory=_longs)
    host_ns: "array[int]" = field(default_factory=_longs)
    sync_ns: "array[int]" = field(default_factory=_longs)
    device_ns: "array[int]" = field(default_factory=_longs)


@dataclass(slots=True)
class RankFacts:
    """One rank. `communications` are those of its recordings, in their order; `work` is that of all of them.

    `outermost` are the regions that were entered in no other one. `rows` has the measured regions; those that are a
    series have a row as well as their names. `spans` are from when until when the recordings go. `problems` are those
    of reading them.
    """

    place: RankPlace
    communications: list[Communications]
    work: dict[RegionKey, RegionWork]
    outermost: set[RegionKey]
    rows: dict[RegionKey, RankRegion]
    spans: list[tuple[int, int]]
    device_total_ns: int | None
    problems: list[Problem] = field(default_factory=list[Problem])


def facts_of_rank(place: RankPlace, recordings: Sequence[Recording], *told: Calls) -> RankFacts:
    """Of the recordings of one rank. `told` are their calls by region, in each way in which regions get a row; in the
    last one each call is in the row that people see.
    """
    work: dict[RegionKey, RegionWork] = {}
    outermost: set[RegionKey] = set()
    communications: list[Communications] = []
    for number, recording in enumerate(recordings):
        communications.append(_communications(recording, _regions_around(number, told)))
        _add_work(recording, told[-1].recorded[number].keys, work, outermost)
    rows = {
        key: RankRegion(
            name=key.name,
            file=key.file,
            line=key.line,
            calls=len(of_region.seen),
            measured=len(of_region.on_thread),
            cpu_active_ns=_active(of_region, calls),
            **times_of(of_region, calls.recorded)._asdict(),
        )
        for calls in told
        for key, of_region in calls.measured.items()
    }
    totals = [each.attribution.device_total_ns for each in recordings]
    known = [total for total in totals if total is not None]
    return RankFacts(
        place, communications, work, outermost, rows, list(map(_span, recordings)), sum(known) if known else None
    )


def _active(of_region: RegionCalls, calls: Calls) -> Spread:
    """CPU total less waiting for the GPU, of the measured calls."""
    measured = [calls.recorded[number].calls[index] for number, index in of_region.on_thread]
    return spread_of([call.cpu_total_ns - call.sync_ns for call in measured])


def _span(recording: Recording) -> tuple[int, int]:
    host, device, base_ns = recording.trace.host, recording.trace.device, recording.base_time_ns
    starts = [min(each.start_ns) for each in (host, device) if len(each)]
    ends = [max(map(add, each.start_ns, each.duration_ns)) for each in (host, device) if len(each)]
    return base_ns + min(starts, default=0), base_ns + max(ends, default=0)


def _regions_around(number: int, told: Sequence[Calls]) -> list[tuple[RegionKey, ...]]:
    """For each call of a recording the regions of which it is in a measured call."""
    around: list[tuple[RegionKey, ...]] = []
    parts = [calls.recorded[number] for calls in told]
    measured = [
        {index for each in calls.measured.values() for at, index in each.on_device if at == number} for calls in told
    ]
    for index, call in enumerate(parts[0].calls):
        found = around[call.parent] if call.parent >= 0 else ()
        for part, wanted in zip(parts, measured, strict=True):
            if index in wanted and part.keys[index] not in found:
                found = (*found, part.keys[index])
        around.append(found)
    return around


def _communications(recording: Recording, around: Sequence[tuple[RegionKey, ...]]) -> Communications:
    trace, attribution = recording.trace, recording.attribution
    device, base_ns = trace.device, recording.base_time_ns
    found = Communications()
    kinds: dict[Collective, int] = {}
    regions: dict[tuple[RegionKey, ...], int] = {}
    communicates = [is_collective(name) for name in trace.names]
    own = [
        index
        for index, kind in enumerate(device.kind)
        if kind == KERNEL and communicates[device.name[index]] and index not in attribution.doubts
    ]
    for index in sorted(own, key=device.start_ns.__getitem__):
        start_ns, owner = device.start_ns[index], attribution.activity_owner[index]
        launch = attribution.activity_launch[index]
        what = device.collectives.get(index) or _unnamed(trace.names[device.name[index]])
        within = around[owner] if owner >= 0 else ()
        found.what.append(kinds.setdefault(what, len(kinds)))
        found.within.append(regions.setdefault(within, len(regions)))
        found.start_ns.append(base_ns + start_ns)
        found.duration_ns.append(device.duration_ns[index])
        found.launch_ns.append(base_ns + trace.host.start_ns[launch] if launch >= 0 else -1)
        computing = recording.computing(device.device[index])
        for start, end in computing.gaps(start_ns, start_ns + device.duration_ns[index]):
            found.exposed_start_ns.append(base_ns + start)
            found.exposed_end_ns.append(base_ns + end)
        found.exposed_from.append(len(found.exposed_start_ns))
    found.kinds, found.regions = list(kinds), list(regions)
    return found


def _unnamed(kernel: str) -> Collective:
    """A collective whose kernel does not say which it is (traces before torch 2.3, other libraries)."""
    return Collective(kernel, "", "", -1, -1, -1, "", -1, -1)


def _add_work(
    recording: Recording,
    keys: Sequence[RegionKey],
    work: dict[RegionKey, RegionWork],
    outermost: set[RegionKey],
) -> None:
    calls, base_ns, trace = recording.calls, recording.base_time_ns, recording.trace
    host_ns = [call.cpu_total_ns - call.sync_ns for call in calls]
    sync_ns = [call.sync_ns for call in calls]
    is_of_autograd: list[bool] = []
    device_ns = [call.cuda_self_ns or 0 for call in calls]
    for call in calls:
        is_of_autograd.append(
            is_of_autograd[call.thread_parent] if call.thread_parent >= 0 else call.parent != call.thread_parent
        )
        if call.thread_parent >= 0:
            host_ns[call.thread_parent] -= call.cpu_total_ns - call.sync_ns
            sync_ns[call.thread_parent] -= call.sync_ns
    communicates = [is_collective(name) for name in trace.names]
    device = trace.device
    for activity, owner in enumerate(recording.attribution.activity_owner):
        if owner >= 0 and device.kind[activity] == KERNEL and communicates[device.name[activity]]:
            device_ns[owner] -= device.duration_ns[activity]
    for index in sorted(range(len(calls)), key=lambda index: calls[index].start_ns):
        key, call = keys[index], calls[index]
        if key == START_UP:
            continue
        of_region = work.get(key)
        if of_region is None:
            of_region = work[key] = RegionWork()
        of_region.start_ns.append(base_ns + call.start_ns)
        of_region.end_ns.append(base_ns + call.start_ns + call.cpu_total_ns)
        of_region.host_ns.append(0 if is_of_autograd[index] else max(host_ns[index], 0))
        of_region.sync_ns.append(0 if is_of_autograd[index] else max(sync_ns[index], 0))
        of_region.device_ns.append(max(device_ns[index], 0))
        if call.parent < 0:
            outermost.add(key)
