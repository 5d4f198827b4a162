"""One trace with all that was found in it: what breakdowns, timelines and findings are made from."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinetoscope_core.analysis.attribution import Attribution, in_order
from kinetoscope_core.analysis.attribution.idle_devices import DeviceTimeline
from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.results.measures import Call
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import KERNEL


@dataclass(frozen=True, slots=True)
class Recording:
    """A trace, whose work belongs where, and which of its calls are whose. Answers are kept once found."""

    trace: Trace
    attribution: Attribution
    recorded: RecordedCalls
    _orders: "dict[int, array[int]]" = field(init=False, repr=False, default_factory=dict[int, "array[int]"])
    _outer: "dict[int, tuple[array[int], list[int]]]" = field(
        init=False, repr=False, default_factory=dict[int, "tuple[array[int], list[int]]"]
    )
    _named: dict[re.Pattern[str], frozenset[int]] = field(
        init=False, repr=False, default_factory=dict[re.Pattern[str], frozenset[int]]
    )
    _overheads: dict[re.Pattern[str], Union] = field(
        init=False, repr=False, default_factory=dict[re.Pattern[str], Union]
    )
    _computing: dict[int, Union] = field(init=False, repr=False, default_factory=dict[int, Union])
    _timelines: dict[frozenset[int] | None, DeviceTimeline] = field(
        init=False, repr=False, default_factory=dict[frozenset[int] | None, DeviceTimeline]
    )

    @property
    def calls(self) -> Sequence[Call]:
        """Its calls; what is said of one elsewhere names it by its place here."""
        return self.recorded.calls

    @property
    def keys(self) -> Sequence[RegionKey]:
        """The region of each call."""
        return self.recorded.keys

    @property
    def base_time_ns(self) -> int:
        """What makes a time of the trace one since the epoch, in ns."""
        return self.recorded.base_time_ns

    def order_of(self, thread: int) -> "array[int]":
        """The host slices of a thread in the order in which they were entered."""
        order = self.attribution.nesting.order_of.get(thread) or self._orders.get(thread)
        if order is None:
            host = self.trace.host
            order = array("i", in_order(host, [index for index, each in enumerate(host.thread) if each == thread]))
            self._orders[thread] = order
        return order

    def open_at(self, api_call: int, region: int) -> Iterator[int]:
        """The host slices of its thread that were entered in a region (by slice) and were open when a call began, the
        innermost first.
        """
        host, thread = self.trace.host, self.trace.host.thread[api_call]
        order = self.order_of(thread)
        moment = host.start_ns[api_call]
        place = order.index(api_call, bisect_left(order, moment, key=host.start_ns.__getitem__))
        first = bisect_left(order, host.start_ns[region], key=host.start_ns.__getitem__)
        if host.thread[region] == thread:
            first = order.index(region, first)
        # For each place the one before it that was open then: found as far as it was asked for.
        outer, entered = self._outer.setdefault(thread, (array("i"), []))
        for at in range(len(outer), place + 1):
            start = host.start_ns[order[at]]
            while entered and host.start_ns[order[entered[-1]]] + host.duration_ns[order[entered[-1]]] <= start:
                entered.pop()
            outer.append(entered[-1] if entered else -1)
            entered.append(at)
        while (place := outer[place]) >= first:
            if moment < host.start_ns[order[place]] + host.duration_ns[order[place]]:
                yield order[place]

    def named(self, pattern: re.Pattern[str]) -> frozenset[int]:
        """The names that a pattern finds something in, as places in `trace.names`."""
        found = self._named.get(pattern)
        if found is None:
            found = frozenset(number for number, name in enumerate(self.trace.names) if pattern.search(name))
            self._named[pattern] = found
        return found

    def overhead(self, names: re.Pattern[str]) -> Union:
        """When the profiler was at work in slices of these names. Kineto does not say on which thread."""
        found = self._overheads.get(names)
        if found is None:
            slices, wanted = self.trace.overhead, self.named(names)
            rows = zip(slices.name, slices.start_ns, slices.duration_ns, strict=True)
            found = Union((start, start + ns) for name, start, ns in rows if name in wanted)
            self._overheads[names] = found
        return found

    def computing(self, device: int) -> Union:
        """When kernels that are no collectives ran on the device."""
        if not self._computing:
            activities, communicates = self.trace.device, [is_collective(name) for name in self.trace.names]
            spans: dict[int, list[tuple[int, int]]] = {each: [] for each in set(activities.device)}
            rows = zip(activities.kind, activities.name, activities.device, strict=True)
            for index, (kind, name, on) in enumerate(rows):
                if kind == KERNEL and not communicates[name] and index not in self.attribution.doubts:
                    start_ns = activities.start_ns[index]
                    spans[on].append((start_ns, start_ns + activities.duration_ns[index]))
            self._computing.update((on, Union(each)) for on, each in spans.items())
        return self._computing[device]

    def device_timeline(self, devices: frozenset[int] | None = None) -> DeviceTimeline:
        """When any of these devices worked, or any at all."""
        found = self._timelines.get(devices)
        if found is None:
            found = self._timelines[devices] = DeviceTimeline(self.trace, devices, self.attribution.doubts)
        return found

    def activities_of(self, wanted: Collection[int]) -> "Mapping[int, array[int]]":
        """The activities that belong to each wanted call or to one nested in it."""
        found = {index: array("i") for index in wanted}
        # A parent comes before what is nested in it.
        holders: list[tuple[array[int], ...]] = []
        for index, call in enumerate(self.calls):
            outer = holders[call.parent] if call.parent >= 0 else ()
            holders.append((*outer, found[index]) if index in found else outer)
        for activity, owner in enumerate(self.attribution.activity_owner):
            if owner >= 0:
                for each in holders[owner]:
                    each.append(activity)
        return found
