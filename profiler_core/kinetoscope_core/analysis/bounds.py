"""What limits each region: decided on its median call, by what the devices did (docs/measures.md, "What limits a
region").
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.attribution.tree import Span
from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import (
    CallId,
    Calls,
    RegionCalls,
    RegionKey,
    by_cpu_total,
    median_call,
    middle_half,
)
from kinetoscope_core.results.measures import Bound, Call
from kinetoscope_core.trace.schema import KERNEL

_EVER: Final = -(2**63)

MOST_DEVICES: Final = 16
"""Of one recording, for what its regions are limited by to be told: each set of them has a timeline of its own."""


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """What the devices of a call's streams did of it: unions of intervals, added up over the devices, in ns.

    `communication_ns` and `copying_ns` (sets of memory included) are the exposed parts: in them nothing of another kind
    ran on that device, whose it may be.
    """

    worked_ns: int = 0
    computing_ns: int = 0
    communication_ns: int = 0
    copying_ns: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """Where the time of a call went. `active_ns` is its CPU total less `sync_ns`, the waiting for a device.

    In `idle_ns` of the active time and `sync_idle_ns` of the waiting no activity, whose it may be, ran on the devices
    of the call's streams, as far as that is known; of `sync_unknown_ns` it is not.
    """

    active_ns: int
    busy_ns: int
    idle_ns: int
    sync_ns: int = 0
    sync_idle_ns: int = 0
    sync_unknown_ns: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """What limits a region, `None` where nothing is known to; with the work of its median call, where it counted."""

    bound: Bound | None
    work: DeviceWork | None = None


def limits_of(recordings: Sequence[Recording], calls: Calls) -> dict[RegionKey, Limit]:
    """What limits each region: the bound of its median call, unless a call at an end of the middle half has another."""
    typical = {key: _typical(of_region, calls) for key, of_region in calls.measured.items()}
    of_calls: dict[CallId, Limit] = {}
    for number, recording in enumerate(recordings):
        wanted = {index for call_ids in typical.values() for at, index in call_ids if at == number}
        of_calls |= {(number, index): limit for index, limit in _limits_in(recording, wanted).items()}
    without_id_ns = [_last_without_id(recording) for recording in recordings]
    limits: dict[RegionKey, Limit] = {}
    for key, (median, *ends) in typical.items():
        number, index = median
        if _launches_nothing(calls, key) and _is_known(recordings[number].calls[index]):
            limits[key] = Limit(None if _may_have_launched(calls, key, without_id_ns) else "cpu-only")
            continue
        limit = of_calls[median]
        others = {of_calls[each].bound for each in ends} - {None}
        limits[key] = limit if others <= {limit.bound} else Limit(None)
    return limits


def _typical(of_region: RegionCalls, calls: Calls) -> tuple[CallId, CallId, CallId]:
    """The median call and those at the ends of the middle half."""
    return median_call(of_region, calls.recorded), *middle_half(by_cpu_total(of_region, calls.recorded))


def _limits_in(recording: Recording, wanted: Collection[int]) -> dict[int, Limit]:
    paces = _paces(recording, wanted)
    bounds: dict[int, Bound | None] = {index: _bound(recording.calls[index], paces.get(index)) for index in wanted}
    by_device = [index for index, bound in bounds.items() if bound == "compute"]
    work = _device_work(recording, by_device) if by_device else {}
    return {
        index: Limit(bound_of_work(work[index]), work[index]) if index in work else Limit(bound)
        for index, bound in bounds.items()
    }


def bound_of_pace(pace: Pace) -> Bound | None:
    """The bound of a call that launched something; `compute` stands for all of which the device is the limit."""
    if pace.sync_ns > pace.active_ns:
        if 2 * pace.sync_idle_ns > pace.sync_ns:
            return "sync"
        if 2 * pace.sync_unknown_ns > pace.sync_ns:
            return None
    if 2 * pace.busy_ns < pace.active_ns:
        return "overhead" if 2 * pace.idle_ns > pace.active_ns else None
    return "compute" if pace.busy_ns > pace.active_ns else "mixed"


def bound_of_work(work: DeviceWork) -> Bound | None:
    """The bound of a call whose device is the limit, by what the device did."""
    if 2 * work.communication_ns > work.worked_ns:
        return "communication"
    if 2 * work.copying_ns > work.worked_ns:
        return "copy"
    return "compute" if 2 * work.computing_ns >= work.worked_ns else None


def _bound(call: Call, pace: Pace | None) -> Bound | None:
    return bound_of_pace(pace) if pace and _is_known(call) else None


def _is_known(call: Call) -> bool:
    """Whether enough of what the call launched was recorded."""
    if call.cuda_busy_ns is None or call.launches is None:
        return False
    return not call.captures and call.unrecorded_launches <= call.launches


def _launches_nothing(calls: Calls, key: RegionKey) -> bool:
    return not any(
        call.launches or call.unrecorded_launches
        for number, index in calls.measured[key].on_device
        for call in [calls.recorded[number].calls[index]]
    )


def _last_without_id(recording: Recording) -> int:
    """When the last activity began of which nothing says who launched it; before all times, if there is none."""
    device = recording.trace.device
    return max((device.start_ns[each] for each, number in enumerate(device.correlation) if number <= 0), default=_EVER)


def _may_have_launched(calls: Calls, key: RegionKey, without_id_ns: Sequence[int]) -> bool:
    """Whether such an activity began after a call of the region did: the region may have launched it."""
    return any(
        calls.recorded[number].calls[index].start_ns <= without_id_ns[number]
        for number, index in calls.measured[key].on_device
    )


def _paces(recording: Recording, calls: Collection[int]) -> dict[int, Pace]:
    """Where the time of each call went; not known where the recording has more devices than `MOST_DEVICES`."""
    of_devices: defaultdict[frozenset[int] | None, list[int]] = defaultdict(list)
    for index, devices in _devices(recording, calls).items():
        of_devices[devices].append(index)
    waits, has_all_records = recording.attribution.nesting.waits, not recording.attribution.unrecorded.api_calls
    found: dict[int, Pace] = {}
    for devices, indices in of_devices.items():
        timeline = recording.device_timeline(devices)
        # After the last activity nothing runs, unless the record of something is missing.
        idle = timeline.idle_or_after if has_all_records else timeline.idle
        sync_idle_ns, sync_busy_ns = waits.sums(idle, set(indices)), waits.sums(timeline.covered, set(indices))
        for index in indices:
            each, waited_idle_ns = recording.calls[index], sync_idle_ns.get(index, 0)
            found[index] = Pace(
                active_ns=each.cpu_total_ns - each.sync_ns,
                busy_ns=each.cuda_busy_ns or 0,
                idle_ns=idle(each.start_ns, each.start_ns + each.cpu_total_ns) - waited_idle_ns,
                sync_ns=each.sync_ns,
                sync_idle_ns=waited_idle_ns,
                sync_unknown_ns=each.sync_ns - waited_idle_ns - sync_busy_ns.get(index, 0),
            )
    return found


def _devices(recording: Recording, calls: Collection[int]) -> dict[int, frozenset[int] | None]:
    """The devices that each call launched work on; `None`, which stands for any, where there is nothing to choose."""
    device, owners = recording.trace.device.device, recording.attribution.activity_owner
    known = sorted(set(device))
    if len(known) < 2:
        return dict.fromkeys(calls)
    if len(known) > MOST_DEVICES:
        return {}
    bit = {each: 1 << place for place, each in enumerate(known)}
    used = [0] * len(recording.calls)
    for owner, on in zip(owners, device, strict=True):
        if owner >= 0:
            used[owner] |= bit[on]
    for place in range(len(used) - 1, -1, -1):  # what is nested in a call comes after it
        if (around := recording.calls[place].parent) >= 0:
            used[around] |= used[place]
    return {each: frozenset(on for on in known if used[each] & bit[on]) or None for each in calls}


def _device_work(recording: Recording, calls: Collection[int]) -> dict[int, DeviceWork]:
    """What the devices did of each call."""
    trace, attribution = recording.trace, recording.attribution
    device, names, tree = trace.device, trace.names, attribution.tree
    communicates = [is_collective(name) for name in names]
    is_wanted = [False] * len(recording.calls)
    for index in calls:
        is_wanted[index] = True
    for index, around in enumerate(tree.parent):  # which comes before what is nested in it
        is_wanted[index] = is_wanted[index] or (around >= 0 and is_wanted[around])

    def kind_of(activity: int) -> str:
        if device.kind[activity] != KERNEL:
            return "copying"
        return "communication" if communicates[device.name[activity]] else "computing"

    everything: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    mine: defaultdict[tuple[int, str], list[Span]] = defaultdict(list)
    for activity in sorted(range(len(device)), key=device.start_ns.__getitem__):
        if activity in attribution.doubts:
            continue
        start, owner = device.start_ns[activity], attribution.activity_owner[activity]
        end, where = start + device.duration_ns[activity], (device.device[activity], kind_of(activity))
        everything[where].append((start, end))
        if owner >= 0 and is_wanted[owner]:
            mine[where].append((start, end, owner))
    worked: list[list[int]] = []
    alone: dict[str, list[list[int]]] = {"computing": [], "communication": [], "copying": []}
    for on in {on for on, _ in mine}:
        worked.append(tree.unions(sorted(span for kind in alone for span in mine.get((on, kind), ()))))
        for kind, sums in alone.items():
            others = Union(
                span for (at, other), each in everything.items() if at == on and other != kind for span in each
            )
            spans = mine.get((on, kind), [])
            sums.append(tree.unions(spans if kind == "computing" else _exposed(spans, others)))
    return {
        index: DeviceWork(*(sum(ns[index] for ns in sums) for sums in (worked, *alone.values()))) for index in calls
    }


def _exposed(spans: Iterable[Span], others: Union) -> Iterator[Span]:
    """The spans on a clock that stands still while one of the others is open: what is left is exposed."""
    for start, end, owner in spans:
        yield start - others.covered(_EVER, start), end - others.covered(_EVER, end), owner
