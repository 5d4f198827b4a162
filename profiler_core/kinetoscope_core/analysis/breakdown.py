"""What a region's times are made of: kernels, operators, the split of its totals, the way to its costliest kernel.

All of it sums over the measured calls of statistics.py, and adds up to its totals.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import Final, Literal

from kinetoscope_core.analysis.autograd_waits import autograd_waits, outermost_operators
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RegionCalls, RegionKey
from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.results.measures import Breakdown, ChainLink, KernelShare, OperatorShare
from kinetoscope_core.trace.schema import OPERATOR, REGION

KEPT: Final = 25
KEPT_OF_MANY_REGIONS: Final = 5
"""Names of kernels and operators that a result keeps of a region; fewer where it has more than `MANY_REGIONS`."""
MANY_REGIONS: Final = 200

MOST_LINKS: Final = 50
"""Regions and operators on the way to a kernel: of more, those in the middle are left out, and `…` stands for them."""
_KINDS: Final[dict[int, Literal["region", "operator"]]] = {REGION: "region", OPERATOR: "operator"}


@dataclass(slots=True)
class _Kernel:
    """`example` is the first of its activities, as (recording, activity, the measured call that it is in)."""

    example: tuple[int, int, int]
    count: int = 0
    ns: int = 0


@dataclass(slots=True)
class _Kernels:
    """What one call launched, with all that is nested in it, by name; the `costliest` are known once asked for."""

    by_name: dict[int, _Kernel] = field(default_factory=dict[int, _Kernel])
    costliest: list[int] | None = None

    def find_costliest(self) -> Sequence[int]:
        if self.costliest is None:
            self.costliest = self._costliest_of(self.by_name)
        return self.costliest

    def _costliest_of(self, names: Iterable[int]) -> list[int]:
        return nsmallest(KEPT, names, key=lambda name: (-self.by_name[name].ns, self.by_name[name].example))

    def joined(self, other: "_Kernels") -> "_Kernels":
        """Both together. The smaller is added to the larger: in all, n log n however deep the nest."""
        if len(other.by_name) > len(self.by_name):
            return other.joined(self)
        for name, kernel in other.by_name.items():
            known = self.by_name.setdefault(name, kernel)
            if known is not kernel:
                known.count += kernel.count
                known.ns += kernel.ns
                known.example = min(known.example, kernel.example)
        if self.costliest is not None:
            self.costliest = self._costliest_of({*self.costliest, *other.by_name})
        return self


@dataclass(slots=True)
class _Operator:
    count: int = 0
    cpu_ns: int = 0
    cuda_ns: int = 0


@dataclass(slots=True)
class _Sums:
    """What is added up for one region; operators by name and by whether another thread ran them.

    `calls` is how many hold its device work. Of a single one, only the costliest kernels are kept.
    """

    calls: int
    kernels: dict[str, _Kernel] = field(default_factory=dict[str, _Kernel])
    kernel_names: int = 0
    operators: dict[tuple[str, bool], _Operator] = field(default_factory=dict[tuple[str, bool], _Operator])
    operators_ns: int = 0
    calls_ns: int = 0
    autograd_wait_ns: int = 0
    autograd_operators: dict[str, _Operator] = field(default_factory=dict[str, _Operator])


def breakdowns(recordings: Sequence[Recording], calls: Calls, *, has_all: bool = False) -> dict[RegionKey, Breakdown]:
    """What each region is made of; with the `KEPT` costliest kernels and operators, or all."""
    regions = calls.measured
    sums = {key: _Sums(len(of_region.on_device)) for key, of_region in regions.items()}
    for number, recording in enumerate(recordings):
        on_thread: list[_Sums | None] = [None] * len(recording.calls)
        on_device: list[_Sums | None] = on_thread.copy()
        for key, of_region in regions.items():
            for group in of_region.on_thread.values():
                for part, index in group:
                    if part == number:
                        on_thread[index] = sums[key]
            for part, index in of_region.on_device:
                if part == number:
                    on_device[index] = sums[key]
        _add_host(recording, on_thread)
        _add_operators(recording, on_thread)
        _add_autograd_waits(recording, on_thread)
        _add_kernels(recording, number, on_device, has_all=has_all)
    most = None if has_all else KEPT if len(regions) <= MANY_REGIONS else KEPT_OF_MANY_REGIONS
    return {key: _breakdown(of_region, sums[key], recordings, most) for key, of_region in regions.items()}


def _add_host(recording: Recording, on_thread: Sequence[_Sums | None]) -> None:
    host, names = recording.trace.host, recording.trace.names
    nesting = recording.attribution.nesting
    for found, calls_ns in zip(on_thread, nesting.cpu_api_calls_ns, strict=True):
        if found is not None:
            found.calls_ns += calls_ns
    operators = nesting.operators
    for index, call, ns in zip(operators.slices, operators.calls, operators.ns, strict=True):
        found = on_thread[call]
        if found is not None:
            found.operators_ns += ns
            operator = found.operators.setdefault((names[host.name[index]], False), _Operator())
            operator.count += 1
            operator.cpu_ns += ns


def _add_operators(recording: Recording, on_thread: Sequence[_Sums | None]) -> None:
    """The device work of the operators, and those that other threads ran."""
    trace, attribution = recording.trace, recording.attribution
    host, names = trace.host, trace.names
    around = _OperatorsAround(recording)
    seen: set[int] = set()
    rows = zip(attribution.activity_owner, attribution.activity_launch, trace.device.duration_ns, strict=True)
    for owner, launch, ns in rows:
        found = on_thread[owner] if owner >= 0 else None
        operator = around.operator(launch, owner) if found else -1
        if found is None or operator < 0:
            continue
        is_other = host.thread[launch] != host.thread[attribution.slices[owner]]
        share = found.operators.setdefault((names[host.name[operator]], is_other), _Operator())
        share.cuda_ns += ns
        if is_other and operator not in seen:
            seen.add(operator)
            share.count += 1
            share.cpu_ns += host.duration_ns[operator]


def _add_autograd_waits(recording: Recording, on_thread: Sequence[_Sums | None]) -> None:
    """What each call waited for an autograd thread, and what that one did for it meanwhile."""
    host, names = recording.trace.host, recording.trace.names
    around = _OperatorsAround(recording)
    waited: dict[int, _Operator] = {}
    for wait in autograd_waits(recording):
        found = on_thread[wait.call]
        if found is None:
            continue
        found.autograd_wait_ns += wait.ns
        for index, ns in wait.operators:
            waited[index] = operator = found.autograd_operators.setdefault(names[host.name[index]], _Operator())
            operator.count += 1
            operator.cpu_ns += ns
    threads = {host.thread[index] for index in waited}
    if waited:
        launched = zip(recording.attribution.activity_launch, recording.trace.device.duration_ns, strict=True)
        for launch, ns in launched:
            is_there = launch >= 0 and host.thread[launch] in threads
            operator = waited.get(around.outermost(launch)) if is_there else None
            if operator:
                operator.cuda_ns += ns


def _add_kernels(recording: Recording, number: int, on_device: Sequence[_Sums | None], *, has_all: bool) -> None:
    """The kernels of each measured call, from the innermost out."""
    device, names, parent = recording.trace.device, recording.trace.names, recording.attribution.tree.parent
    kernels_of: dict[int, _Kernels] = {}
    rows = zip(recording.attribution.activity_owner, device.name, device.duration_ns, strict=True)
    for activity, (owner, name, ns) in enumerate(rows):
        if owner < 0:
            continue
        kernels = kernels_of.get(owner)
        if kernels is None:
            kernels = kernels_of[owner] = _Kernels()
        kernel = kernels.by_name.get(name)
        if kernel is None:
            kernel = kernels.by_name[name] = _Kernel((number, activity, owner))
        kernel.count += 1
        kernel.ns += ns
    for call in range(len(parent) - 1, -1, -1):  # what is nested in a call comes after it
        kernels = kernels_of.pop(call, None)
        if kernels is None:
            continue
        sums = on_device[call]
        if sums is not None:
            sums.kernel_names = len(kernels.by_name)
            is_only = sums.calls == 1 and not has_all
            for name in kernels.find_costliest() if is_only else kernels.by_name:
                kernel = kernels.by_name[name]
                example = (*kernel.example[:2], call)
                known = sums.kernels.setdefault(names[name], _Kernel(example))
                if example[:2] < known.example[:2]:
                    known.example = example
                known.count += kernel.count
                known.ns += kernel.ns
            if not is_only:
                sums.kernel_names = len(sums.kernels)
        around = parent[call]
        if around >= 0:
            other = kernels_of.get(around)
            kernels_of[around] = kernels if other is None else kernels.joined(other)


class _OperatorsAround:
    """The operator that a launch stands in: directly in its region, or outermost where another thread launched."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._host = recording.trace.host
        self._slices = recording.attribution.slices
        self._direct = recording.attribution.nesting.operators
        self._outermost: dict[int, tuple[list[int], list[int]]] = {}

    def operator(self, launch: int, owner: int) -> int:
        """Its place among the host slices, -1 for none."""
        thread = self._host.thread[launch]
        if thread == self._host.thread[self._slices[owner]]:
            return self._direct.around_api_call[launch]
        return self.outermost(launch)

    def outermost(self, launch: int) -> int:
        """The outermost operator of its thread around it, -1 for none."""
        thread = self._host.thread[launch]
        starts, operators = self._outermost.get(thread) or self._find(thread)
        moment = self._host.start_ns[launch]
        place = bisect_right(starts, moment) - 1
        if place < 0 or moment >= starts[place] + self._host.duration_ns[operators[place]]:
            return -1
        return operators[place]

    def _find(self, thread: int) -> tuple[list[int], list[int]]:
        operators = list(outermost_operators(self._recording, thread))
        starts = [self._host.start_ns[each] for each in operators]
        self._outermost[thread] = starts, operators
        return starts, operators


def _breakdown(
    of_region: RegionCalls,
    sums: _Sums,
    recordings: Sequence[Recording],
    most: int | None,
) -> Breakdown:
    calls = [recording.calls for recording in recordings]
    outermost = [calls[number][index] for number, index in of_region.on_thread]
    own_ns = sum(calls[number][index].cpu_self_ns for each in of_region.on_thread.values() for number, index in each)
    total_ns = sum(call.cpu_total_ns for call in outermost)
    # Where a region lies inside of an operator of itself, or its calls cross, the parts overlap.
    own_ns = min(own_ns, total_ns)
    rest_ns = total_ns - own_ns
    calls_ns = min(sums.calls_ns, rest_ns)
    operators_ns = min(sums.operators_ns, rest_ns - calls_ns)
    device = [calls[number][index].cuda_total_ns for number, index in of_region.on_device]
    totals = [total for total in device if total is not None]
    cuda_self_ns = sum(
        calls[number][index].cuda_self_ns or 0 for each in of_region.on_device.values() for number, index in each
    )
    kernels = sorted(sums.kernels.items(), key=lambda item: (-item[1].ns, item[1].example))
    operators = sorted(sums.operators.items(), key=lambda item: -item[1].cpu_ns - item[1].cuda_ns)
    number, index = of_region.seen[0]
    first = calls[number][index]
    threads = [(call.pid, call.tid) for call in outermost]
    return Breakdown(
        cpu_nested_ns=rest_ns - calls_ns - operators_ns,
        cpu_operators_ns=operators_ns,
        cpu_api_calls_ns=calls_ns,
        cpu_self_ns=own_ns,
        cuda_nested_ns=sum(totals) - cuda_self_ns if totals else None,
        cuda_self_ns=cuda_self_ns if totals else None,
        kernels=tuple(
            KernelShare(name, kernel.count, kernel.ns, short_kernel_name(name)) for name, kernel in kernels[:most]
        ),
        kernel_names=sums.kernel_names,
        operators=tuple(
            OperatorShare(name, is_other, each.count, each.cpu_ns, each.cuda_ns if totals else None)
            for (name, is_other), each in operators[:most]
        ),
        operator_names=len(operators),
        chain=tuple(_chain(kernels[0][1].example, recordings)) if kernels else (),
        threads=len(set(threads)),
        on_other_threads=sum(1 for thread in threads if thread != (first.pid, first.tid)),
        cpu_autograd_wait_ns=min(sums.autograd_wait_ns, own_ns),
        autograd_operators=tuple(
            OperatorShare(name, True, each.count, each.cpu_ns, each.cuda_ns if totals else None)
            for name, each in sorted(sums.autograd_operators.items(), key=lambda item: -item[1].cpu_ns)[:most]
        ),
        autograd_operator_names=len(sums.autograd_operators),
    )


def _chain(example: tuple[int, int, int], recordings: Sequence[Recording]) -> Iterator[ChainLink]:
    """From a call to an activity: regions, operators and calls that were open when it was launched.

    Of more than `MOST_LINKS`, the innermost.
    """
    number, activity, call_id = example
    trace, attribution = recordings[number].trace, recordings[number].attribution
    host, names, slices = trace.host, trace.names, attribution.slices
    launch = attribution.activity_launch[activity]
    is_other = host.thread[launch] != host.thread[slices[call_id]]
    links: list[ChainLink] = []
    for index in islice(recordings[number].open_at(launch, slices[call_id]), MOST_LINKS + 1):
        kind = _KINDS.get(host.kind[index])
        if kind and not (is_other and kind == "region"):
            links.append(ChainLink(kind, names[host.name[index]]))
    call = attribution.activity_owner[activity] if is_other else -1
    while call >= 0 and len(links) <= MOST_LINKS:
        links.append(ChainLink("region", attribution.calls[call].name))
        call = -1 if call == call_id else attribution.tree.parent[call]
    if len(links) > MOST_LINKS:
        links[MOST_LINKS - 2 :] = [ChainLink("region", "…"), ChainLink("region", attribution.calls[call_id].name)]
    yield from reversed(links)
    yield ChainLink("api_call", names[host.name[launch]])
    yield ChainLink("activity", names[trace.device.name[activity]])
