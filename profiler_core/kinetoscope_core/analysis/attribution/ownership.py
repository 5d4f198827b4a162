"""The numbers of the device: which call each activity belongs to, and the sums along the nesting."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.attribution.autograd import ForwardRegions, autograd_threads
from kinetoscope_core.analysis.attribution.backward import BackwardLinks
from kinetoscope_core.analysis.attribution.impossible_times import Doubts, doubts_of
from kinetoscope_core.analysis.attribution.launches import Launches, launches_of
from kinetoscope_core.analysis.attribution.nesting import Nesting
from kinetoscope_core.analysis.attribution.tree import Tree
from kinetoscope_core.analysis.attribution.unrecorded import Unrecorded
from kinetoscope_core.results.measures import BackwardWork
from kinetoscope_core.trace import Trace


@dataclass(slots=True)
class DeviceNumbers:
    """For each call the device numbers, for each activity its owner (-1: outside any region) and its launch.

    `no_launch` counts the activities without a launch, also those that carry no id to find it by. `doubtful` and
    `unknown` are, for each call, how many of its activities (nested regions included) have times that cannot be,
    and how many of these have no length that can be. `unrecorded` counts launches without a record, with nested ones.
    `backward_of` is the call whose forward pass each activity is the backward of (-1: none), `backward_outside_ns` what
    of that is outside any region. `backward_ns` is `None` for a call after which no backward pass began.
    """

    tree: Tree
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
    backward_of: "array[int]"
    backward_outside_ns: int = 0
    backward_ns: Sequence[int | None] | None = None
    backward_work: BackwardWork | None = None
    outside_ns: int = 0
    no_launch_ns: int = 0
    no_launch: int = 0
    ambiguous: int = 0

    @property
    def launch(self) -> "array[int]":
        """The place of each activity's launch among the host slices, -1 for none."""
        return self.launches_found.api_call


def device_numbers(trace: Trace, nesting: Nesting, without_record: Unrecorded) -> DeviceNumbers:
    """Gives each activity to the region that launched it, and sums up."""
    host, device = trace.host, trace.device
    number = len(nesting.slices)
    backward_operators = host.backward_operators()
    autograd = autograd_threads(trace, backward_operators)
    regions = ForwardRegions(trace, nesting)
    parent = nesting.thread_parent.copy()
    for thread in autograd & nesting.regions_of.keys():
        for call in nesting.regions_of[thread]:
            if parent[call] < 0:
                around = regions.around(thread, nesting.starts[call])
                # Entered before, in the order of calls: two threads cannot hold each other.
                parent[call] = around if around < call else -1
    launched = launches_of(trace)
    order = sorted(range(len(device)), key=device.start_ns.__getitem__)
    found = DeviceNumbers(
        tree=Tree(parent),
        owner=array("i", [-1]) * len(device),
        launches_found=launched,
        doubts=doubts_of(trace, launched.api_call, order),
        self_ns=[0] * number,
        total_ns=[0] * number,
        busy_ns=[0] * number,
        launches=[0] * number,
        doubtful=[0] * number,
        unknown=[0] * number,
        unrecorded=[0] * number,
        backward_of=array("i"),
    )
    regions.ambiguous = 0
    innermost, thread_of, start_of = nesting.innermost, host.thread, host.start_ns
    owners, self_ns, launches = found.owner, found.self_ns, found.launches
    for activity, (api_call, ns) in enumerate(zip(launched.api_call, device.duration_ns, strict=True)):
        if api_call < 0:
            found.no_launch += 1
            found.no_launch_ns += ns
            found.outside_ns += ns
            continue
        owner = innermost[api_call]
        if owner < 0 and thread_of[api_call] in autograd:
            owner = regions.around(thread_of[api_call], start_of[api_call])
        if owner < 0:
            found.outside_ns += ns
        else:
            owners[activity] = owner
            self_ns[owner] += ns
            launches[owner] += 1
    found.ambiguous = regions.ambiguous
    for api_call in without_record.api_calls:
        owner = innermost[api_call]
        if owner < 0 and thread_of[api_call] in autograd:
            owner = regions.around(thread_of[api_call], start_of[api_call])
        if owner >= 0:
            found.unrecorded[owner] += 1
    _sum_up(trace, found, order)
    links = BackwardLinks(trace, regions, autograd, backward_operators)
    found.backward_of = _backward_of(trace, found, links)
    found.backward_work = _backward_work(trace, found, links)
    if links.exist:
        found.backward_ns = [
            ns if start < links.last_start_ns else None
            for ns, start in zip(_backward(trace, found), nesting.starts, strict=True)
        ]
    return found


def _sum_up(trace: Trace, found: DeviceNumbers, order: Sequence[int]) -> None:
    """Totals, launches and the unions of the busy times, up the nesting. `order` are the activities by start."""
    device, owner, doubts = trace.device, found.owner, found.doubts
    for activity in (*doubts.other_clock, *doubts.lost, *doubts.overlong):
        if owner[activity] >= 0:
            found.doubtful[owner[activity]] += 1
            found.unknown[owner[activity]] += not doubts.has_length(activity)
    found.total_ns[:] = found.self_ns
    counts = [found.total_ns, found.launches, found.unrecorded]
    for values in [*counts, found.doubtful, found.unknown] if doubts else counts:
        found.tree.sum_up(values)
    found.busy_ns[:] = found.tree.unions(
        (start := device.start_ns[activity], start + device.duration_ns[activity], owner[activity])
        for activity in order
        if owner[activity] >= 0 and not (doubts and activity in doubts)
    )


def _backward_of(trace: Trace, found: DeviceNumbers, links: BackwardLinks) -> "array[int]":
    host = trace.host
    places = ((host.thread[api_call], host.start_ns[api_call]) if api_call >= 0 else None for api_call in found.launch)
    return array("i", (-1 if place is None else links.forward_region_of(*place) for place in places))


def _backward(trace: Trace, found: DeviceNumbers) -> list[int]:
    """Backward work of each call's forward pass, without what is in its CUDA total already."""
    tree = found.tree
    sums: defaultdict[tuple[int, int], int] = defaultdict(int)
    for call, owner, ns in zip(found.backward_of, found.owner, trace.device.duration_ns, strict=True):
        if call >= 0:
            sums[call, owner] += ns
            found.backward_outside_ns += ns if owner < 0 else 0
    backward = [0] * len(found.self_ns)
    for (call, owner), ns in sums.items():
        backward[call] += ns
        if owner >= 0 and (both := tree.around_both(call, owner)) >= 0:
            backward[both] -= ns
    tree.sum_up(backward)
    return backward


def _backward_work(trace: Trace, found: DeviceNumbers, links: BackwardLinks) -> BackwardWork | None:
    total_ns = of_regions_ns = 0
    for api_call, call, ns in zip(found.launch, found.backward_of, trace.device.duration_ns, strict=True):
        if api_call >= 0 and links.is_of_backward(trace.host.thread[api_call], trace.host.start_ns[api_call]):
            total_ns += ns
            of_regions_ns += ns if call >= 0 else 0
    return BackwardWork(total_ns, of_regions_ns) if total_ns else None
