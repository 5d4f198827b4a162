"""How long calls waited for an autograd thread, in CPU time of their own, and what that thread ran meanwhile.

torch runs a backward pass on threads of its own, and `backward()` blocks until they are done. No slice says so.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.attribution.autograd import ForwardRegions, autograd_threads
from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.trace.schema import OPERATOR


@dataclass(frozen=True, slots=True)
class AutogradWait:
    """`ns` is the part of a call's CPU self in which an autograd thread ran operators for it, `operators` what each of
    them, the outermost ones as places among the host slices, took of that.
    """

    call: int
    ns: int
    operators: Sequence[tuple[int, int]]


def autograd_waits(recording: Recording) -> Iterator[AutogradWait]:
    """Those of the calls that waited at all."""
    host, attribution = recording.trace.host, recording.attribution
    regions: ForwardRegions | None = None
    ran: defaultdict[int, list[int]] = defaultdict(list)
    for thread in autograd_threads(recording.trace, host.backward_operators()):
        regions = regions or ForwardRegions(recording.trace, attribution.nesting)
        for operator in outermost_operators(recording, thread):
            call = regions.around(thread, host.start_ns[operator])
            if call >= 0 and host.thread[attribution.slices[call]] != thread:
                ran[call].append(operator)
    for call, operators in ran.items():
        start = host.start_ns[attribution.slices[call]]
        end = start + host.duration_ns[attribution.slices[call]]
        children = _children(recording, attribution.slices[call], end)

        def own_ns(begin: int, finish: int, children: Union = children) -> int:
            return finish - begin - children.covered(begin, finish)

        spans = [(host.start_ns[each], min(host.start_ns[each] + host.duration_ns[each], end)) for each in operators]
        yield AutogradWait(
            call,
            sum(own_ns(*span) for span in Union(spans)),
            [(each, own_ns(*span)) for each, span in zip(operators, spans, strict=True)],
        )


def outermost_operators(recording: Recording, thread: int) -> Iterator[int]:
    """Those of a thread that are in no other operator, as places among the host slices, in order of time."""
    host = recording.trace.host
    until = -(2**63)
    for index in recording.order_of(thread):
        if host.kind[index] == OPERATOR and host.start_ns[index] >= until:
            until = host.start_ns[index] + host.duration_ns[index]
            yield index


def _children(recording: Recording, region: int, end: int) -> Union:
    """What began in a region, given by its slice, on its own thread."""
    host = recording.trace.host
    order = recording.order_of(host.thread[region])
    place = order.index(region, bisect_left(order, host.start_ns[region], key=host.start_ns.__getitem__)) + 1
    after = bisect_left(order, end, place, key=host.start_ns.__getitem__)
    return Union((host.start_ns[each], host.start_ns[each] + host.duration_ns[each]) for each in order[place:after])
