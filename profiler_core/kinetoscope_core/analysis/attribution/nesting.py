"""One walk through each thread that has regions: nesting, what the regions call themselves, and who launched.

The walk knows one thread at a time; what crosses threads is in `autograd.py`.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from operator import eq

from kinetoscope_core.analysis.attribution.waiting import Waits
from kinetoscope_core.trace import HostSlices, Trace
from kinetoscope_core.trace.schema import API_CALL, OPERATOR, REGION

_WAITS = frozenset(
    api + name
    for api in ("cuda", "hip")
    for name in ("DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "ThreadSynchronize")
) | {"cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"}
_COPIES = ("cudaMemcpy", "hipMemcpy", "cuMemcpy")
_NEVER = 2**63


@dataclass(slots=True)
class DirectOperators:
    """Operators that stand directly in a call, in no operator or nested region of it: columns of equal length.

    `ns` is what an operator adds to the time that its call spends outside itself. An operator that outlives the
    region it began in stands here twice. `around_api_call` gives for each host slice that is an API call the operator,
    among the host slices, that stands directly in the innermost call and was open when it started; -1 for none.
    """

    around_api_call: "array[int]"
    slices: "array[int]" = field(default_factory=lambda: array("i"))
    calls: "array[int]" = field(default_factory=lambda: array("i"))
    ns: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class Nesting:
    """What the walks found. Calls are numbered by start, then longest first, then by place in the file.

    `slices` are their places among the host slices, `innermost` gives for each host slice that is an API call the
    call that was open when it started, -1 for none. `waits` knows when they waited for the device,
    `cpu_api_calls_ns` is what API calls that stand directly in it took. `order_of` are the slices of each thread in the
    order in which they were entered.
    """

    slices: list[int]
    starts: list[int]
    ends: list[int]
    thread_parent: list[int]
    cpu_self_ns: list[int]
    cpu_api_calls_ns: list[int]
    operators: DirectOperators
    waits: Waits
    innermost: "array[int]"
    regions_of: dict[int, list[int]]
    order_of: "dict[int, array[int]]"


def is_wait(api_call: str) -> bool:
    """Whether a CUDA or HIP call blocks until the device is done: a synchronisation or a blocking copy.

    Copies between devices (`…Peer`) and those with `Async` in their names return at once.
    """
    return api_call in _WAITS or (api_call.startswith(_COPIES) and "Async" not in api_call and "Peer" not in api_call)


def nesting_of(trace: Trace) -> Nesting:
    """Nests the regions of each thread and finds what each took for itself."""
    host = trace.host
    regions = in_order(host, host.regions())
    number = len(regions)
    starts = [host.start_ns[index] for index in regions]
    ends = [start + host.duration_ns[index] for start, index in zip(starts, regions, strict=True)]
    found = Nesting(
        slices=regions,
        starts=starts,
        ends=ends,
        thread_parent=[-1] * number,
        cpu_self_ns=[0] * number,
        cpu_api_calls_ns=[0] * number,
        operators=DirectOperators(array("i", [-1]) * len(host)),
        waits=Waits(host, ends),
        innermost=array("i", [-1]) * len(host),
        regions_of={},
        order_of={},
    )
    for call, index in enumerate(regions):
        found.regions_of.setdefault(host.thread[index], []).append(call)
    slices_of: dict[int, list[int]] = {thread: [] for thread in found.regions_of}
    if len(slices_of) == 1:
        (only,) = slices_of
        slices_of[only] = [index for index, thread in enumerate(host.thread) if thread == only]
    else:
        nowhere: list[int] = []
        for index, thread in enumerate(host.thread):
            slices_of.get(thread, nowhere).append(index)
    waiting_names = {number for number, name in enumerate(trace.names) if is_wait(name)}
    call_at = {index: call for call, index in enumerate(regions)}
    for thread, slices in slices_of.items():
        order = in_order(host, slices)
        found.order_of[thread] = array("i", order)
        _walk(host, order, call_at, waiting_names, found)
    return found


def _walk(
    host: HostSlices,
    order: Sequence[int],
    call_at: dict[int, int],
    waiting_names: set[int],
    found: Nesting,
) -> None:
    """Goes through the slices of one thread in the order in which they were entered."""
    start_of, duration_of, kind_of, name_of = host.start_ns, host.duration_ns, host.kind, host.name
    ends, innermost = found.ends, found.innermost
    among = array("i")  # the calls, and ~slice for each wait
    covered_until = found.starts.copy()  # up to where the child events of each call have been counted
    children_ns = found.cpu_self_ns
    api_calls_ns, operators = found.cpu_api_calls_ns, found.operators
    operator_in = [-1] * len(ends)  # the last one directly in each call
    entered: list[int] = []
    uncovered: list[int] = []  # those of `entered` that no child event has covered to their end
    top = -1
    top_end = covered = _NEVER  # of the innermost call: its end, and `covered_until`
    for index in order:
        start = start_of[index]
        while top_end <= start:
            if entered.pop() == (uncovered[-1] if uncovered else -1):
                uncovered.pop()
            top = entered[-1] if entered else -1
            top_end = ends[top] if entered else _NEVER
            covered = covered_until[top] if entered else _NEVER
        kind = kind_of[index]
        end = start + duration_of[index]
        if kind == API_CALL and entered:
            innermost[index] = top
            operator = operator_in[top]
            if operator >= 0 and start < start_of[operator] + duration_of[operator]:
                operators.around_api_call[index] = operator
            if name_of[index] in waiting_names:
                among.append(~index)
        if end > covered:
            # The calls further out have counted the innermost one as a child, so only what outlives it is new.
            while uncovered:
                open_one = uncovered[-1]
                its_end = ends[open_one]
                until = covered_until[open_one]
                reach = end if end < its_end else its_end  # noqa: FURB136 - min() is a call for every slice of a trace
                if reach > until:
                    added = reach - (start if start > until else until)  # noqa: FURB136
                    children_ns[open_one] += added
                    covered_until[open_one] = reach
                    if kind == OPERATOR:
                        operator_in[open_one] = index
                        operators.slices.append(index)
                        operators.calls.append(open_one)
                        operators.ns.append(added)
                    elif kind == API_CALL:
                        api_calls_ns[open_one] += added
                if end < its_end:
                    break
                uncovered.pop()
                if end == its_end:
                    break
            covered = covered_until[top]
        if kind == REGION:
            call = call_at[index]
            if entered:
                found.thread_parent[call] = top
            entered.append(call)
            among.append(call)
            uncovered.append(call)
            top = call
            top_end = end
            covered = start
    found.waits.add(among)
    for index in order:
        if kind_of[index] == REGION:
            call = call_at[index]
            children_ns[call] = ends[call] - found.starts[call] - children_ns[call]


def in_order(host: HostSlices, indices: Sequence[int]) -> list[int]:
    """Slices by start, then longest first, then by place in the file (`indices` are in file order)."""
    start_of, duration_of = host.start_ns, host.duration_ns
    order = sorted(indices, key=start_of.__getitem__)
    starts = [start_of[index] for index in order]
    after = 0
    for place in compress(range(len(order)), map(eq, starts, islice(starts, 1, None))):
        if place >= after:
            after = bisect_right(starts, starts[place], place)
            order[place:after] = sorted(order[place:after], key=lambda index: -duration_of[index])
    return order
