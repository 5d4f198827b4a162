"""What a region's times are made of: kernels, operators, the split of its totals, the way to its costliest kernel.

All of it sums over the measured passages of statistics.py, and adds up to its totals.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kinetoscope_core.analysis.attribution import DirectOperators, in_order
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Passages, RegionKey, passages_of
from kinetoscope_core.results.measures import Breakdown, ChainLink, KernelShare, OperatorShare
from kinetoscope_core.trace.schema import OPERATOR, REGION

SHOWN: Final = 5
_KINDS: Final[dict[int, Literal["region", "operator"]]] = {REGION: "region", OPERATOR: "operator"}


@dataclass(slots=True)
class _Kernel:
    """`example` is one of its activities, as (window, activity, the measured passage that it is in)."""

    example: tuple[int, int, int]
    count: int = 0
    ns: int = 0


@dataclass(slots=True)
class _Operator:
    count: int = 0
    cpu_ns: int = 0
    cuda_ns: int = 0


@dataclass(slots=True)
class _Sums:
    """What is added up for one region; operators by name and by whether another thread ran them."""

    kernels: dict[str, _Kernel] = field(default_factory=dict[str, _Kernel])
    operators: dict[tuple[str, bool], _Operator] = field(default_factory=dict[tuple[str, bool], _Operator])
    operators_ns: int = 0
    calls_ns: int = 0


class _Holder(NamedTuple):
    """A measured passage, and the next one further out: a list for each passage would take the square of the depth."""

    sums: _Sums
    passage: int
    outer: "_Holder | None"


def breakdowns(recordings: Sequence[Recording], most: int | None = SHOWN) -> dict[RegionKey, Breakdown]:
    """What each region is made of; with `most` kernels and operators, or all."""
    regions = passages_of([recording.window for recording in recordings])
    sums = {key: _Sums() for key in regions}
    for number, recording in enumerate(recordings):
        on_thread: list[_Sums | None] = [None] * len(recording.window.occurrences)
        on_device: list[_Sums | None] = on_thread.copy()
        for key, passages in regions.items():
            for group in passages.on_thread.values():
                for window, index in group:
                    if window == number:
                        on_thread[index] = sums[key]
            for window, index in passages.on_device:
                if window == number:
                    on_device[index] = sums[key]
        _add_host(recording, on_thread)
        _add_device(recording, number, on_thread, on_device)
    return {key: _breakdown(passages, sums[key], recordings, most=most) for key, passages in regions.items()}


def _add_host(recording: Recording, on_thread: Sequence[_Sums | None]) -> None:
    host, names = recording.trace.host, recording.trace.names
    nesting = recording.attribution.nesting
    for found, calls_ns in zip(on_thread, nesting.cpu_calls_ns, strict=True):
        if found is not None:
            found.calls_ns += calls_ns
    operators = nesting.operators
    for index, occurrence, ns in zip(operators.slices, operators.occurrences, operators.ns, strict=True):
        found = on_thread[occurrence]
        if found is not None:
            found.operators_ns += ns
            operator = found.operators.setdefault((names[host.name[index]], False), _Operator())
            operator.count += 1
            operator.cpu_ns += ns


def _add_device(
    recording: Recording, number: int, on_thread: Sequence[_Sums | None], on_device: Sequence[_Sums | None]
) -> None:
    trace, attribution = recording.trace, recording.attribution
    host, device, names = trace.host, trace.device, trace.names
    holders = _holders(recording, on_device)
    around = _OperatorsAround(recording)
    seen: set[int] = set()
    rows = zip(attribution.activity_owner, attribution.activity_launch, device.name, device.duration_ns, strict=True)
    for activity, (owner, launch, name, ns) in enumerate(rows):
        if owner < 0:
            continue
        holder = holders[owner]
        while holder is not None:
            kernels = holder.sums.kernels
            kernel = kernels.get(names[name])
            if kernel is None:
                kernel = kernels[names[name]] = _Kernel((number, activity, holder.passage))
            kernel.count += 1
            kernel.ns += ns
            holder = holder.outer
        found = on_thread[owner]
        operator = around.operator(launch, owner)
        if found is None or operator < 0:
            continue
        is_other = host.thread[launch] != host.thread[attribution.slices[owner]]
        share = found.operators.setdefault((names[host.name[operator]], is_other), _Operator())
        share.cuda_ns += ns
        if is_other and operator not in seen:
            seen.add(operator)
            share.count += 1
            share.cpu_ns += host.duration_ns[operator]


def _holders(recording: Recording, on_device: Sequence[_Sums | None]) -> list[_Holder | None]:
    """For each occurrence, the innermost measured passage that it is part of. A parent comes before what is nested."""
    holders: list[_Holder | None] = []
    for index, (occurrence, found) in enumerate(zip(recording.window.occurrences, on_device, strict=True)):
        outer = holders[occurrence.parent] if occurrence.parent >= 0 else None
        holders.append(outer if found is None else _Holder(found, index, outer))
    return holders


class _OperatorsAround:
    """The operator that a launch stands in: directly in its region, or outermost where another thread launched."""

    def __init__(self, recording: Recording) -> None:
        self._host = recording.trace.host
        self._slices = recording.attribution.slices
        self._direct: DirectOperators = recording.attribution.nesting.operators
        self._outermost: dict[int, tuple[list[int], list[int]]] = {}

    def operator(self, launch: int, owner: int) -> int:
        """Its place among the host slices, -1 for none."""
        thread = self._host.thread[launch]
        if thread == self._host.thread[self._slices[owner]]:
            return self._direct.around_call[launch]
        starts, operators = self._outermost.get(thread) or self._find(thread)
        moment = self._host.start_ns[launch]
        place = bisect_right(starts, moment) - 1
        if place < 0 or moment >= starts[place] + self._host.duration_ns[operators[place]]:
            return -1
        return operators[place]

    def _find(self, thread: int) -> tuple[list[int], list[int]]:
        host = self._host
        rows = enumerate(zip(host.thread, host.kind, strict=True))
        until = -(2**63)
        starts: list[int] = []
        operators: list[int] = []
        for index in in_order(host, [index for index, row in rows if row == (thread, OPERATOR)]):
            start = host.start_ns[index]
            if start >= until:
                until = start + host.duration_ns[index]
                starts.append(start)
                operators.append(index)
        self._outermost[thread] = starts, operators
        return starts, operators


def _breakdown(
    passages: Passages,
    sums: _Sums,
    recordings: Sequence[Recording],
    *,
    most: int | None,
) -> Breakdown:
    occurrences = [recording.window.occurrences for recording in recordings]
    outermost = [occurrences[number][index] for number, index in passages.on_thread]
    own_ns = sum(
        occurrences[number][index].cpu_self_ns for each in passages.on_thread.values() for number, index in each
    )
    total_ns = sum(occurrence.cpu_total_ns for occurrence in outermost)
    # Where a region lies inside of an operator of itself, or its passages cross, the parts overlap.
    own_ns = min(own_ns, total_ns)
    rest_ns = total_ns - own_ns
    calls_ns = min(sums.calls_ns, rest_ns)
    operators_ns = min(sums.operators_ns, rest_ns - calls_ns)
    device = [occurrences[number][index].cuda_total_ns for number, index in passages.on_device]
    totals = [total for total in device if total is not None]
    cuda_self_ns = sum(
        occurrences[number][index].cuda_self_ns or 0 for each in passages.on_device.values() for number, index in each
    )
    kernels = sorted(sums.kernels.items(), key=lambda item: -item[1].ns)
    operators = sorted(sums.operators.items(), key=lambda item: -item[1].cpu_ns - item[1].cuda_ns)
    number, index = passages.seen[0]
    first = occurrences[number][index]
    threads = [(occurrence.pid, occurrence.tid) for occurrence in outermost]
    return Breakdown(
        cpu_nested_ns=rest_ns - calls_ns - operators_ns,
        cpu_operators_ns=operators_ns,
        cpu_calls_ns=calls_ns,
        cpu_self_ns=own_ns,
        cuda_nested_ns=sum(totals) - cuda_self_ns if totals else None,
        cuda_self_ns=cuda_self_ns if totals else None,
        kernels=tuple(KernelShare(name, kernel.count, kernel.ns) for name, kernel in kernels[:most]),
        kernel_names=len(kernels),
        operators=tuple(
            OperatorShare(name, is_other, each.count, each.cpu_ns, each.cuda_ns if totals else None)
            for (name, is_other), each in operators[:most]
        ),
        operator_names=len(operators),
        chain=tuple(_chain(kernels[0][1].example, recordings)) if kernels else (),
        threads=len(set(threads)),
        on_other_threads=sum(1 for thread in threads if thread != (first.pid, first.tid)),
    )


def _chain(example: tuple[int, int, int], recordings: Sequence[Recording]) -> Iterator[ChainLink]:
    """From a passage to an activity: regions, operators and calls that were open when it was launched."""
    number, activity, passage = example
    trace, attribution = recordings[number].trace, recordings[number].attribution
    host, names = trace.host, trace.names
    launch = attribution.activity_launch[activity]
    thread, moment = host.thread[launch], host.start_ns[launch]
    is_other = thread != host.thread[attribution.slices[passage]]
    if is_other:
        outwards: list[str] = []
        occurrence = attribution.activity_owner[activity]
        while occurrence != passage:
            outwards.append(attribution.occurrences[occurrence].name)
            occurrence = attribution.occurrences[occurrence].parent
        outwards.append(attribution.occurrences[passage].name)
        yield from (ChainLink("region", name) for name in reversed(outwards))
    order = recordings[number].order_of(thread)
    begin = bisect_left(order, attribution.occurrences[passage].start_ns, key=host.start_ns.__getitem__)
    if not is_other:
        begin = order.index(attribution.slices[passage], begin)
    for index in order[begin : order.index(launch, begin)]:
        is_open = moment < host.start_ns[index] + host.duration_ns[index]
        if is_open and (kind := _KINDS.get(host.kind[index])) and not (is_other and kind == "region"):
            yield ChainLink(kind, names[host.name[index]])
    yield ChainLink("call", names[host.name[launch]])
    yield ChainLink("activity", names[trace.device.name[activity]])
