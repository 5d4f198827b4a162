"""The numbers of the device: which occurrence each activity belongs to, and the sums along the nesting."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from kinetoscope_core.attribution.autograd import ForwardRegions, autograd_threads
from kinetoscope_core.attribution.backward import BackwardLinks
from kinetoscope_core.attribution.nesting import Nesting
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import CALL


@dataclass(slots=True)
class DeviceNumbers:
    """For each occurrence the device numbers, for each activity its owner (-1: outside any region) and its launch.

    `launch` is the place of the call among the host slices, -1 for an activity from before the window.
    """

    parent: list[int]
    owner: "array[int]"
    launch: "array[int]"
    self_ns: list[int]
    total_ns: list[int]
    busy_ns: list[int]
    launches: list[int]
    backward_ns: list[int] | None = None
    outside_ns: int = 0
    no_launch_ns: int = 0
    no_launch: int = 0
    ambiguous: int = 0
    correlations: set[int] = field(default_factory=set[int])


def device_numbers(trace: Trace, nesting: Nesting) -> DeviceNumbers:
    """Gives each activity to the region that launched it, and sums up."""
    host, device = trace.host, trace.device
    number = len(nesting.slices)
    autograd = autograd_threads(trace)
    regions = ForwardRegions(trace, nesting)
    parent = nesting.thread_parent.copy()
    for thread in autograd & nesting.regions_of.keys():
        for occurrence in nesting.regions_of[thread]:
            if parent[occurrence] < 0:
                around = regions.around(thread, nesting.starts[occurrence])
                # Entered before, in the order of occurrences: two threads cannot hold each other.
                parent[occurrence] = around if around < occurrence else -1
    found = DeviceNumbers(
        parent=parent,
        owner=array("i", [-1]) * len(device),
        launch=array("i", [-1]) * len(device),
        self_ns=[0] * number,
        total_ns=[0] * number,
        busy_ns=[0] * number,
        launches=[0] * number,
        correlations=set(device.correlation),
    )
    call_with = _launches(trace, found.correlations)
    regions.ambiguous = 0
    for activity, correlation in enumerate(device.correlation):
        call = call_with.get(correlation, -1)
        if call < 0:
            found.no_launch += 1
            found.no_launch_ns += device.duration_ns[activity]
            found.outside_ns += device.duration_ns[activity]
            continue
        owner = nesting.innermost[call]
        if owner < 0 and host.thread[call] in autograd:
            owner = regions.around(host.thread[call], host.start_ns[call])
        found.launch[activity] = call
        found.owner[activity] = owner
        if owner < 0:
            found.outside_ns += device.duration_ns[activity]
        else:
            found.self_ns[owner] += device.duration_ns[activity]
    found.ambiguous = regions.ambiguous
    _sum_up(trace, found)
    links = BackwardLinks(trace, regions, autograd)
    if links.exist:
        found.backward_ns = _backward(trace, found, links)
    return found


def _launches(trace: Trace, correlations: set[int]) -> dict[int, int]:
    """The call that carries each correlation id; the earlier one where two do."""
    host = trace.host
    call_with: dict[int, int] = {}
    rows = enumerate(zip(host.correlation, host.kind, strict=True))
    for index, (correlation, kind) in rows:
        if kind == CALL and correlation in correlations and correlation >= 0:
            known = call_with.setdefault(correlation, index)
            if known != index and host.start_ns[index] < host.start_ns[known]:
                call_with[correlation] = index
    return call_with


def _sum_up(trace: Trace, found: DeviceNumbers) -> None:
    """Totals, launches and the unions of the busy times, up the nesting."""
    device, parent = trace.device, found.parent
    total, launches, busy = found.total_ns, found.launches, found.busy_ns
    busy_until = [-(2**63)] * len(parent)
    for activity in sorted(range(len(device)), key=device.start_ns.__getitem__):
        occurrence = found.owner[activity]
        if occurrence < 0:
            continue
        start = device.start_ns[activity]
        duration = device.duration_ns[activity]
        end = start + duration
        while occurrence >= 0:
            total[occurrence] += duration
            launches[occurrence] += 1
            until = busy_until[occurrence]
            if start >= until:
                busy[occurrence] += duration
                busy_until[occurrence] = end
            elif end > until:
                busy[occurrence] += end - until
                busy_until[occurrence] = end
            occurrence = parent[occurrence]


def _backward(trace: Trace, found: DeviceNumbers, links: BackwardLinks) -> list[int]:
    """Backward work of each occurrence's forward pass, without what is in its CUDA total already."""
    host, device = trace.host, trace.device
    backward = [0] * len(found.parent)
    for activity, call in enumerate(found.launch):
        if call < 0:
            continue
        occurrence = links.forward_region_of(host.thread[call], host.start_ns[call])
        if occurrence < 0:
            continue
        counted = _chain(found.owner[activity], found.parent)
        for each in _chain(occurrence, found.parent):
            if each not in counted:
                backward[each] += device.duration_ns[activity]
    return backward


def _chain(occurrence: int, parent: Sequence[int]) -> list[int]:
    chain: list[int] = []
    while occurrence >= 0:
        chain.append(occurrence)
        occurrence = parent[occurrence]
    return chain
