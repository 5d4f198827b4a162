"""The median call of a region in detail: what ran when, on the CPU and on the device.

Knows which work belongs to which call from the attribution; what is drawn of it is for others.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from kinetoscope_core.analysis.attribution.nesting import is_wait
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RegionKey
from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.results.timeline import DeviceSpan, HostKind, HostSpan, Timeline
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import OPERATOR, REGION

if TYPE_CHECKING:
    from array import array

MOST_SPANS: Final = 300
"""Of each timeline, on the CPU and on the device: more cannot be told apart in a drawing."""

MOST_TIMELINES: Final = 100
"""Of a result: a region for each of thousands of steps would make it as large as its trace."""


def timelines(recordings: Sequence[Recording], calls: Calls) -> dict[RegionKey, Timeline]:
    """A timeline for each region; where there are too many regions, for those that took the most CPU time."""

    def cpu_ns(key: RegionKey) -> int:
        on_thread = calls.measured[key].on_thread
        return sum(calls.recorded[number].calls[index].cpu_total_ns for number, index in on_thread)

    medians = {key: calls.median[key] for key in nlargest(MOST_TIMELINES, calls.measured, key=cpu_ns)}
    activities = [
        recording.activities_of({index for at, index in medians.values() if at == number})
        for number, recording in enumerate(recordings)
    ]
    return {
        key: _timeline(recordings[number], number, index, activities[number][index])
        for key, (number, index) in medians.items()
    }


def _timeline(recording: Recording, number: int, index: int, activities: "array[int]") -> Timeline:
    call = recording.calls[index]
    device = recording.trace.device
    timed = [each for each in activities if each not in recording.attribution.doubts]
    ends = [device.start_ns[each] + device.duration_ns[each] - call.start_ns for each in timed]
    shown = sorted(_longest(timed, device.duration_ns), key=device.start_ns.__getitem__)
    slices = _host_slices(recording, index, activities)
    kept = sorted(_longest(slices, recording.trace.host.duration_ns), key=recording.trace.host.start_ns.__getitem__)
    return Timeline(
        trace=number,
        start_ns=recording.base_time_ns + call.start_ns,
        cpu_total_ns=call.cpu_total_ns,
        end_ns=max([call.cpu_total_ns, *ends]),
        host=tuple(_host_spans(recording, index, kept, activities)),
        device=tuple(_device_spans(recording, index, shown, kept)),
        host_left_out=len(slices) - len(kept),
        device_left_out=len(activities) - len(shown),
    )


def _host_slices(recording: Recording, index: int, activities: Iterable[int]) -> list[int]:
    """The slices that began during the call: on its own thread, and on those that launched work of it.

    Those of one thread stand in the order in which they were entered.
    """
    host = recording.trace.host
    own = recording.attribution.slices[index]
    launch_of = recording.attribution.activity_launch
    threads = dict.fromkeys([host.thread[own], *(host.thread[launch_of[each]] for each in activities)])
    start = host.start_ns[own]
    end = start + host.duration_ns[own]
    found: list[int] = []
    for thread in threads:
        order = recording.order_of(thread)
        begin = bisect_left(order, start, key=host.start_ns.__getitem__)
        if thread == host.thread[own]:
            begin = order.index(own, begin)
            found.append(own)
            begin += 1
        found += order[begin : bisect_left(order, end, begin, key=host.start_ns.__getitem__)]
    return found


def _longest(indices: Sequence[int], duration_ns: "array[int]") -> Sequence[int]:
    """At most `MOST_SPANS` of them, in the order in which they are given.

    What is around a slice is at least as long and given before it, so it is kept with it.
    """
    if len(indices) <= MOST_SPANS:
        return indices
    kept = set(nlargest(MOST_SPANS, indices, key=duration_ns.__getitem__))
    return [index for index in indices if index in kept]


def _host_spans(
    recording: Recording, index: int, slices: Iterable[int], activities: Iterable[int]
) -> Iterable[HostSpan]:
    host, names = recording.trace.host, recording.trace.names
    launches = {recording.attribution.activity_launch[each] for each in activities}
    start = recording.calls[index].start_ns
    threads = {host.thread[recording.attribution.slices[index]]: 0}
    open_until: dict[int, list[int]] = {}
    for each in slices:
        thread = threads.setdefault(host.thread[each], len(threads))
        begin = host.start_ns[each]
        around = open_until.setdefault(thread, [])
        while around and around[-1] <= begin:
            around.pop()
        name = names[host.name[each]]
        yield HostSpan(
            kind=_kind(host.kind[each], name, is_launch=each in launches),
            name=name,
            thread=thread,
            depth=len(around),
            start_ns=begin - start,
            duration_ns=host.duration_ns[each],
        )
        around.append(begin + host.duration_ns[each])


def _kind(kind: int, name: str, *, is_launch: bool) -> HostKind:
    if kind == REGION:
        return "region"
    if kind == OPERATOR:
        return "operator"
    if is_wait(name):
        return "sync"
    return "launch" if is_launch else "api_call"


def _device_spans(
    recording: Recording, index: int, activities: Sequence[int], slices: Sequence[int]
) -> Iterable[DeviceSpan]:
    device, names = recording.trace.device, recording.trace.names
    start = recording.calls[index].start_ns
    place_of = {each: place for place, each in enumerate(slices)}
    has_several = len({device.device[each] for each in activities}) > 1
    for each in activities:
        yield DeviceSpan(
            name=names[device.name[each]],
            stream=_stream(recording.trace, each, has_several=has_several),
            start_ns=device.start_ns[each] - start,
            duration_ns=device.duration_ns[each],
            launch=place_of.get(recording.attribution.activity_launch[each]),
            short=short_kernel_name(names[device.name[each]]),
        )


def _stream(trace: Trace, activity: int, *, has_several: bool) -> str:
    """Its number; for devices without such (XPU), the row of the file, which is the queue's number."""
    device = trace.device
    number = device.stream[activity]
    stream = str(number) if number >= 0 else trace.threads[device.thread[activity]].tid
    return f"{stream} on GPU {device.device[activity]}" if has_several else stream
