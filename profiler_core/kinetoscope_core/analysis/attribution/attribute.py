"""Trace in, numbers of each call out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetoscope_core.analysis.attribution.graph_captures import Captures
from kinetoscope_core.analysis.attribution.impossible_times import Doubts
from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.attribution.nesting import Nesting, nesting_of
from kinetoscope_core.analysis.attribution.notes import problems_of
from kinetoscope_core.analysis.attribution.ownership import DeviceNumbers, device_numbers
from kinetoscope_core.analysis.attribution.tree import Tree
from kinetoscope_core.analysis.attribution.unrecorded import Unrecorded, unrecorded_launches
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.measures import BackwardWork, Call
from kinetoscope_core.trace import Trace, collector_off

if TYPE_CHECKING:
    from array import array


@dataclass(frozen=True, slots=True)
class Attribution:
    """Which device work belongs to which region, and what every call through a region took.

    `device_total_ns`, `outside_ns` and `no_launch_ns` (the part of `outside_ns` from before the recording) are `None`
    where the trace holds no device activity. `activity_owner` is an index into `calls` for each activity of
    `trace.device`, -1 for outside any region; `activity_launch` an index into `trace.host`, -1 for none recorded.
    `doubts` are the activities whose times cannot be: they count in the totals, and in no gap, timeline or busy time.
    `backward_of` is an index into `calls` for each activity that is the backward of a call's forward pass, else -1;
    `backward_outside_ns` is what of `outside_ns` they took. `external_ids` (-1: none) and `slices` (index into
    `trace.host`) go with `calls`; `nesting` and `tree` have more of them.
    """

    calls: list[Call]
    device_total_ns: int | None
    outside_ns: int | None
    no_launch_ns: int | None
    activity_owner: "array[int]"
    activity_launch: "array[int]"
    doubts: Doubts
    external_ids: list[int]
    slices: list[int]
    nesting: Nesting
    tree: Tree
    unrecorded: Unrecorded
    problems: list[Problem]
    backward_work: BackwardWork | None
    backward_of: "array[int]"
    backward_outside_ns: int


@collector_off()
def attribute(trace: Trace, *, is_ours: bool = False) -> Attribution:
    """The numbers of docs/measures.md for each call, ordered by start. `is_ours` is as in `problems_of`."""
    nesting = nesting_of(trace)
    captures = Captures(trace)
    unrecorded = unrecorded_launches(trace, captures)
    numbers = device_numbers(trace, nesting, unrecorded)
    device = trace.device
    doubts = numbers.doubts
    spans = zip(device.start_ns, device.duration_ns, strict=True)
    worked = Union(
        (start, start + duration)
        for activity, (start, duration) in enumerate(spans)
        if not doubts or activity not in doubts
    )
    overhead = Union(
        (start, start + duration)
        for start, duration in zip(trace.overhead.start_ns, trace.overhead.duration_ns, strict=True)
    )
    is_measured = len(device) > 0
    sync_ns = nesting.waits.sums(lambda start, end: end - start)
    sync_busy_ns = nesting.waits.sums(worked.covered) if is_measured else None
    calls = [
        _call(trace, nesting, numbers, captures, index, sync_ns.get(index, 0), sync_busy_ns, overhead)
        for index in range(len(nesting.slices))
    ]
    return Attribution(
        calls=calls,
        device_total_ns=sum(device.duration_ns) if is_measured else None,
        outside_ns=numbers.outside_ns if is_measured else None,
        no_launch_ns=numbers.no_launch_ns if is_measured else None,
        activity_owner=numbers.owner,
        activity_launch=numbers.launch,
        doubts=numbers.doubts,
        external_ids=[trace.host.external_id[index] for index in nesting.slices],
        slices=nesting.slices,
        nesting=nesting,
        tree=numbers.tree,
        unrecorded=unrecorded,
        problems=problems_of(trace, numbers, calls, unrecorded, is_ours=is_ours),
        backward_work=numbers.backward_work,
        backward_of=numbers.backward_of,
        backward_outside_ns=numbers.backward_outside_ns,
    )


def _call(
    trace: Trace,
    nesting: Nesting,
    numbers: DeviceNumbers,
    captures: Captures,
    index: int,
    sync_ns: int,
    sync_busy_ns: Mapping[int, int] | None,
    overhead: Union,
) -> Call:
    host, parent = trace.host, numbers.tree.parent
    place = nesting.slices[index]
    thread = trace.threads[host.thread[place]]
    start, end = nesting.starts[index], nesting.ends[index]
    is_measured = sync_busy_ns is not None
    return Call(
        name=trace.names[host.name[place]],
        pid=thread.pid,
        tid=thread.tid,
        start_ns=start,
        parent=parent[index],
        thread_parent=nesting.thread_parent[index],
        is_finished=place not in host.unfinished,
        cpu_total_ns=end - start,
        cpu_self_ns=nesting.cpu_self_ns[index],
        sync_ns=sync_ns,
        overhead_ns=overhead.covered(start, end),
        cuda_total_ns=numbers.total_ns[index] if is_measured else None,
        cuda_self_ns=numbers.self_ns[index] if is_measured else None,
        cuda_busy_ns=numbers.busy_ns[index] if is_measured and not numbers.doubtful[index] else None,
        backward_cuda_ns=numbers.backward_ns[index] if is_measured and numbers.backward_ns is not None else None,
        sync_idle_ns=sync_ns - sync_busy_ns.get(index, 0) if sync_busy_ns is not None else None,
        launches=numbers.launches[index] if is_measured else None,
        has_times=place not in host.untimed,
        has_cuda_times=not numbers.unknown[index],
        unrecorded_launches=numbers.unrecorded[index],
        captures=bool(captures) and captures.is_within(host.thread[place], start, end),
    )
