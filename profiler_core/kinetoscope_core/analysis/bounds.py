"""What limits each region: decided on its median passage, by what the devices did (docs/measures.md, "What limits a
region").
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Passages, RegionKey, median_passage, passages_of
from kinetoscope_core.results.measures import Bound, Occurrence
from kinetoscope_core.trace.schema import KERNEL


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """What the devices of a passage's streams did of it: unions of intervals, added up over the devices, in ns.

    `communication_ns` and `copying_ns` (sets of memory included) are the exposed parts: in them nothing of another kind
    ran on that device, whose it may be.
    """

    worked_ns: int = 0
    computing_ns: int = 0
    communication_ns: int = 0
    copying_ns: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """Where the time of a passage went. `active_ns` is its CPU total less `sync_ns`, the waiting for a device.

    In `idle_ns` of the active time and `sync_idle_ns` of the waiting no activity, whose it may be, ran on the devices
    of the passage's streams, as far as that is known; of `sync_unknown_ns` it is not.
    """

    active_ns: int
    busy_ns: int
    idle_ns: int
    sync_ns: int = 0
    sync_idle_ns: int = 0
    sync_unknown_ns: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """What limits a region, `None` where nothing is known to; with the work of its median passage, where it counted."""

    bound: Bound | None
    work: DeviceWork | None = None


def limits_of(recordings: Sequence[Recording]) -> dict[RegionKey, Limit]:
    """What limits each region."""
    windows = [recording.window for recording in recordings]
    regions = passages_of(windows)
    medians = {key: median_passage(passages, windows) for key, passages in regions.items()}
    limits: dict[RegionKey, Limit] = {}
    for number, recording in enumerate(recordings):
        here = {key: index for key, (at, index) in medians.items() if at == number}
        devices = _devices(recording, here.values())
        bounds: dict[RegionKey, Bound | None] = {
            key: _bound(recording, index, devices.get(index), is_idle=_launches_nothing(recordings, regions[key]))
            for key, index in here.items()
        }
        by_device = {key: here[key] for key, bound in bounds.items() if bound == "compute"}
        work = _device_work(recording, by_device.values()) if by_device else {}
        limits |= {key: Limit(bound) for key, bound in bounds.items()}
        limits |= {key: Limit(bound_of_work(work[index]), work[index]) for key, index in by_device.items()}
    return limits


def bound_of_pace(pace: Pace) -> Bound | None:
    """The bound of a passage that launched something; `compute` stands for all of which the device is the limit."""
    if pace.sync_ns > pace.active_ns:
        if 2 * pace.sync_idle_ns > pace.sync_ns:
            return "sync"
        if 2 * pace.sync_unknown_ns > pace.sync_ns:
            return None
    if 2 * pace.busy_ns < pace.active_ns:
        return "overhead" if 2 * pace.idle_ns > pace.active_ns else None
    return "compute" if pace.busy_ns > pace.active_ns else "mixed"


def bound_of_work(work: DeviceWork) -> Bound | None:
    """The bound of a passage whose device is the limit, by what the device did."""
    if 2 * work.communication_ns > work.worked_ns:
        return "communication"
    if 2 * work.copying_ns > work.worked_ns:
        return "copy"
    return "compute" if 2 * work.computing_ns >= work.worked_ns else None


def _bound(recording: Recording, index: int, devices: frozenset[int] | None, *, is_idle: bool) -> Bound | None:
    occurrence = recording.window.occurrences[index]
    if occurrence.cuda_busy_ns is None or occurrence.launches is None:
        return None
    if occurrence.captures or occurrence.unrecorded_launches > occurrence.launches:
        return None
    if is_idle:
        return "cpu-only"
    return bound_of_pace(_pace(recording, index, occurrence, occurrence.cuda_busy_ns, devices))


def _launches_nothing(recordings: Sequence[Recording], passages: Passages) -> bool:
    return not any(
        occurrence.launches or occurrence.unrecorded_launches
        for number, index in passages.on_device
        for occurrence in [recordings[number].window.occurrences[index]]
    )


def _pace(
    recording: Recording, index: int, occurrence: Occurrence, busy_ns: int, devices: frozenset[int] | None
) -> Pace:
    timeline = recording.device_timeline(devices)
    start, end = occurrence.start_ns, occurrence.start_ns + occurrence.cpu_total_ns
    # After the last activity nothing runs, unless the record of something is missing.
    last_ns = timeline.known[1] if not recording.attribution.unrecorded.calls else end

    def idle(begin: int, finish: int) -> int:
        return timeline.idle(begin, finish) + max(finish - max(begin, last_ns), 0)

    waits = recording.attribution.nesting.waits[index]
    sync_idle_ns = sum(idle(*wait) for wait in waits)
    return Pace(
        active_ns=occurrence.cpu_total_ns - occurrence.sync_ns,
        busy_ns=busy_ns,
        idle_ns=idle(start, end) - sync_idle_ns,
        sync_ns=occurrence.sync_ns,
        sync_idle_ns=sync_idle_ns,
        sync_unknown_ns=occurrence.sync_ns - sync_idle_ns - sum(timeline.covered(*wait) for wait in waits),
    )


def _devices(recording: Recording, passages: Collection[int]) -> dict[int, frozenset[int]]:
    """The devices that each passage launched work on, where there are several to choose from."""
    device = recording.trace.device.device
    if not device or min(device) == max(device):
        return {}
    activities = recording.activities_of(set(passages))
    return {index: frozenset(device[each] for each in found) for index, found in activities.items() if found}


def _device_work(recording: Recording, passages: Iterable[int]) -> dict[int, DeviceWork]:
    """What the devices did of each passage."""
    trace = recording.trace
    device, names = trace.device, trace.names
    communicates = [is_collective(name) for name in names]

    def kind_of(activity: int) -> str:
        if device.kind[activity] != KERNEL:
            return "copying"
        return "communication" if communicates[device.name[activity]] else "computing"

    def spans_by_kind(activities: Iterable[int]) -> dict[tuple[int, str], list[tuple[int, int]]]:
        spans: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
        for each in activities:
            if each in recording.attribution.doubts:
                continue
            start = device.start_ns[each]
            spans[device.device[each], kind_of(each)].append((start, start + device.duration_ns[each]))
        return spans

    everything = spans_by_kind(range(len(device)))
    others: dict[tuple[int, str], Union] = {}

    def exposed(on: int, kind: str, spans: list[tuple[int, int]]) -> int:
        if (on, kind) not in others:
            others[on, kind] = Union(
                span for (at, other), all_of in everything.items() if at == on and other != kind for span in all_of
            )
        return sum(end - start for start, end in Union(spans).without(others[on, kind]))

    found: dict[int, DeviceWork] = {}
    for index, activities in recording.activities_of(set(passages)).items():
        mine = spans_by_kind(activities)
        by_device: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        alone_ns: Counter[str] = Counter()
        computing_ns = 0
        for (on, kind), spans in mine.items():
            by_device[on] += spans
            if kind == "computing":
                computing_ns += Union(spans).total_ns
            else:
                alone_ns[kind] += exposed(on, kind, spans)
        worked_ns = sum(Union(spans).total_ns for spans in by_device.values())
        found[index] = DeviceWork(worked_ns, computing_ns, alone_ns["communication"], alone_ns["copying"])
    return found
