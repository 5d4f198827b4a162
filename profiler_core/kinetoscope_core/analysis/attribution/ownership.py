"""The numbers of the device: which occurrence each activity belongs to, and the sums along the nesting."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.attribution.autograd import ForwardRegions, autograd_threads
from kinetoscope_core.analysis.attribution.backward import BackwardLinks
from kinetoscope_core.analysis.attribution.impossible_times import Doubts, doubts_of
from kinetoscope_core.analysis.attribution.launches import Launches, launches_of
from kinetoscope_core.analysis.attribution.nesting import Nesting
from kinetoscope_core.analysis.attribution.unrecorded import Unrecorded
from kinetoscope_core.trace import Trace


@dataclass(slots=True)
class DeviceNumbers:
    """For each occurrence the device numbers, for each activity its owner (-1: outside any region) and its launch.

    `no_launch` counts the activities without a launch, also those that carry no id to find it by. `doubtful` and
    `unknown` are, for each occurrence, how many of its activities (nested regions included) have times that cannot be,
    and how many of these have no length that can be. `unrecorded` counts launches without a record, with nested ones.
    """

    parent: list[int]
    owner: "array[int]"
    launches_found: Launches
    doubts: Doubts
    self_ns: list[int]
    total_ns: list[int]
    busy_ns: list[int]
    launches: list[int]
    doubtful: list[int]
    unknown: list[int]
    unrecorded: list[int]
    backward_ns: list[int] | None = None
    outside_ns: int = 0
    no_launch_ns: int = 0
    no_launch: int = 0
    ambiguous: int = 0

    @property
    def launch(self) -> "array[int]":
        """The place of each activity's launch among the host slices, -1 for none."""
        return self.launches_found.call


def device_numbers(trace: Trace, nesting: Nesting, without_record: Unrecorded) -> DeviceNumbers:
    """Gives each activity to the region that launched it, and sums up."""
    host, device = trace.host, trace.device
    number = len(nesting.slices)
    backward_operators = host.backward_operators()
    autograd = autograd_threads(trace, backward_operators)
    regions = ForwardRegions(trace, nesting)
    parent = nesting.thread_parent.copy()
    for thread in autograd & nesting.regions_of.keys():
        for occurrence in nesting.regions_of[thread]:
            if parent[occurrence] < 0:
                around = regions.around(thread, nesting.starts[occurrence])
                # Entered before, in the order of occurrences: two threads cannot hold each other.
                parent[occurrence] = around if around < occurrence else -1
    launched = launches_of(trace)
    order = sorted(range(len(device)), key=device.start_ns.__getitem__)
    found = DeviceNumbers(
        parent=parent,
        owner=array("i", [-1]) * len(device),
        launches_found=launched,
        doubts=doubts_of(trace, launched.call, order),
        self_ns=[0] * number,
        total_ns=[0] * number,
        busy_ns=[0] * number,
        launches=[0] * number,
        doubtful=[0] * number,
        unknown=[0] * number,
        unrecorded=[0] * number,
    )
    regions.ambiguous = 0
    innermost, thread_of, start_of = nesting.innermost, host.thread, host.start_ns
    owners, self_ns, launches = found.owner, found.self_ns, found.launches
    for activity, (call, ns) in enumerate(zip(launched.call, device.duration_ns, strict=True)):
        if call < 0:
            found.no_launch += 1
            found.no_launch_ns += ns
            found.outside_ns += ns
            continue
        owner = innermost[call]
        if owner < 0 and thread_of[call] in autograd:
            owner = regions.around(thread_of[call], start_of[call])
        if owner < 0:
            found.outside_ns += ns
        else:
            owners[activity] = owner
            self_ns[owner] += ns
            launches[owner] += 1
    found.ambiguous = regions.ambiguous
    for call in without_record.calls:
        owner = innermost[call]
        if owner < 0 and thread_of[call] in autograd:
            owner = regions.around(thread_of[call], start_of[call])
        if owner >= 0:
            found.unrecorded[owner] += 1
    _sum_up(trace, found, order)
    links = BackwardLinks(trace, regions, autograd, backward_operators)
    if links.exist:
        found.backward_ns = _backward(trace, found, links)
    return found


def _sum_up(trace: Trace, found: DeviceNumbers, order: Sequence[int]) -> None:
    """Totals, launches and the unions of the busy times, up the nesting. `order` are the activities by start."""
    device, parent = trace.device, found.parent
    total, launches, busy = found.total_ns, found.launches, found.busy_ns
    total[:] = found.self_ns
    doubts = found.doubts
    if doubts:
        _count_doubts(found)
        order = [activity for activity in order if activity not in doubts]
    for occurrence in range(len(parent) - 1, -1, -1):  # what is nested in an occurrence comes after it
        around = parent[occurrence]
        if around >= 0:
            total[around] += total[occurrence]
            launches[around] += launches[occurrence]
            found.unrecorded[around] += found.unrecorded[occurrence]
    busy_until = [-(2**63)] * len(parent)
    for activity in order:
        occurrence = found.owner[activity]
        start = device.start_ns[activity]
        end = start + device.duration_ns[activity]
        while occurrence >= 0:
            until = busy_until[occurrence]
            if end > until:
                busy[occurrence] += end - (start if start > until else until)  # noqa: FURB136 - as in nesting.py
                busy_until[occurrence] = end
            occurrence = parent[occurrence]


def _count_doubts(found: DeviceNumbers) -> None:
    for activity in (*found.doubts.other_clock, *found.doubts.lost, *found.doubts.overlong):
        has_length = found.doubts.has_length(activity)
        for occurrence in _chain(found.owner[activity], found.parent):
            found.doubtful[occurrence] += 1
            found.unknown[occurrence] += not has_length


def _backward(trace: Trace, found: DeviceNumbers, links: BackwardLinks) -> list[int]:
    """Backward work of each occurrence's forward pass, without what is in its CUDA total already."""
    host = trace.host
    sums: defaultdict[tuple[int, int], int] = defaultdict(int)
    for call, owner, ns in zip(found.launch, found.owner, trace.device.duration_ns, strict=True):
        if call >= 0 and (occurrence := links.forward_region_of(host.thread[call], host.start_ns[call])) >= 0:
            sums[occurrence, owner] += ns
    backward = [0] * len(found.parent)
    for (occurrence, owner), ns in sums.items():
        counted = _chain(owner, found.parent)
        for each in _chain(occurrence, found.parent):
            if each not in counted:
                backward[each] += ns
    return backward


def _chain(occurrence: int, parent: Sequence[int]) -> list[int]:
    chain: list[int] = []
    while occurrence >= 0:
        chain.append(occurrence)
        occurrence = parent[occurrence]
    return chain
