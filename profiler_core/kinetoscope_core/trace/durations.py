"""Durations that cannot be: of clocks that ran back, and of numbers that overflowed."""

from collections.abc import Callable, Iterable
from operator import add
from typing import Final

from kinetoscope_core.trace.columns import DeviceActivities, HostSlices, OverheadSlices
from kinetoscope_core.trace.schema import REGION

_LONGEST_NS: Final = 365 * 86_400 * 1_000_000_000  # no recording lasts so long: a duration beyond it overflowed


def bound_durations(host: HostSlices, device: DeviceActivities, overhead: OverheadSlices) -> tuple[int, int]:
    """Makes durations that cannot be into some that can; how many were below zero, and how many overflowed.

    Below zero becomes zero, as newer Kineto writes them. What overflowed ends with the recording: a region is then
    unfinished. Of an activity of the device nothing is left but that it was.
    """
    columns = (host, device, overhead)
    below = [(each, _where(each.duration_ns, lambda ns: ns < 0)) for each in columns if _least(each) < 0]
    above = [(each, _where(each.duration_ns, lambda ns: ns > _LONGEST_NS)) for each in columns if _is_beyond(each)]
    for each, indices in (*below, *above):
        for index in indices:
            each.duration_ns[index] = 0
        if each is device:
            device.cut.update(indices)
    if above:
        end_ns = max(max(map(add, each.start_ns, each.duration_ns), default=0) for each in columns)
        for each, indices in above:
            for index in indices if each is not device else ():
                each.duration_ns[index] = end_ns - each.start_ns[index]
            if each is host:
                host.unfinished.update(index for index in indices if host.kind[index] == REGION)
    untimed = {index for each, indices in below if each is host for index in indices}
    if 0 in host.start_ns:
        times = zip(host.start_ns, host.duration_ns, strict=True)
        untimed |= {index for index, each in enumerate(times) if each == (0, 0)}
    host.untimed = {index for index in untimed if host.kind[index] == REGION}
    return sum(len(indices) for _, indices in below), sum(len(indices) for _, indices in above)


def _least(columns: HostSlices | DeviceActivities | OverheadSlices) -> int:
    return min(columns.duration_ns, default=0)


def _is_beyond(columns: HostSlices | DeviceActivities | OverheadSlices) -> bool:
    return max(columns.duration_ns, default=0) > _LONGEST_NS


def _where(values: Iterable[int], is_wanted: Callable[[int], bool]) -> list[int]:
    return [index for index, value in enumerate(values) if is_wanted(value)]
