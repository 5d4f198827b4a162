"""Links from backward work to the region its forward operator ran in: what a region costs later."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kinetoscope_core.analysis.attribution.autograd import EVALUATE, ForwardRegions
from kinetoscope_core.analysis.attribution.nesting import in_order
from kinetoscope_core.analysis.attribution.open_spans import OpenSpans
from kinetoscope_core.trace import Trace

# A backward node and the operator that evaluates it have these two numbers in common, within one process.
_Node = tuple[int, int, str]


class BackwardLinks:
    """Answers `forward_region_of` for launches. `exist` is false where the trace links no backward to a forward.
    `last_start_ns` is when the last of all backward operators began.
    """

    def __init__(
        self, trace: Trace, regions: ForwardRegions, autograd: set[int], backward_operators: Iterable[int]
    ) -> None:
        host = trace.host
        operators = [index for index in backward_operators if host.sequence[index] >= 0]
        sequences = [host.sequence[index] for index in operators]
        numbers = [host.forward_thread[index] for index in operators]
        processes = [trace.threads[host.thread[index]].pid for index in operators]
        nodes: dict[int, _Node] = dict(zip(operators, zip(sequences, numbers, processes, strict=True), strict=True))
        linked = (
            _linked_by_flows(trace, regions, nodes)
            if len(trace.flows)
            else _linked_by_sequence(trace, regions, nodes, autograd)
        )
        self.exist = bool(linked)
        self.last_start_ns = max((host.start_ns[index] for index in operators), default=0)
        self._engine = _engine_spans(trace)
        region_of = {index: linked[node] for index, node in nodes.items() if node in linked}
        operators_of: defaultdict[int, list[int]] = defaultdict(list)
        for index in region_of:
            operators_of[host.thread[index]].append(index)
        self._timelines = {
            thread: OpenSpans(
                (start := host.start_ns[index], start + host.duration_ns[index], region_of[index])
                for index in in_order(host, operators)
            )
            for thread, operators in operators_of.items()
        }

    def forward_region_of(self, thread: int, moment: int) -> int:
        """The call whose forward pass the work launched there and then is the backward of; -1 for none."""
        timeline = self._timelines.get(thread)
        return -1 if timeline is None else timeline.innermost_at(moment)

    def is_of_backward(self, thread: int, moment: int) -> bool:
        """Whether autograd was running a node of the graph there and then."""
        timeline = self._engine.get(thread)
        return timeline is not None and timeline.innermost_at(moment) >= 0


def _engine_spans(trace: Trace) -> dict[int, OpenSpans]:
    host = trace.host
    names = {number for number, name in enumerate(trace.names) if name.startswith(EVALUATE)}
    nodes: defaultdict[int, list[int]] = defaultdict(list)
    for index, name in enumerate(host.name):
        if name in names:
            nodes[host.thread[index]].append(index)
    return {
        thread: OpenSpans(
            (host.start_ns[index], host.start_ns[index] + host.duration_ns[index], index)
            for index in in_order(host, found)
        )
        for thread, found in nodes.items()
    }


def _linked_by_flows(trace: Trace, regions: ForwardRegions, nodes: Mapping[int, _Node]) -> dict[_Node, int]:
    """A flow ends at the start of a backward node."""
    flows, host = trace.flows, trace.host
    threads = [host.thread[index] for index in nodes]
    starts = [host.start_ns[index] for index in nodes]
    node_at = dict(zip(zip(threads, starts, strict=True), nodes.values(), strict=True))
    linked: dict[_Node, int] = {}
    rows = zip(flows.forward_thread, flows.forward_ns, flows.backward_thread, flows.backward_ns, strict=True)
    for forward_thread, forward_ns, backward_thread, backward_ns in rows:
        node = node_at.get((backward_thread, backward_ns))
        if node is not None:
            linked[node] = regions.innermost_at(forward_thread, forward_ns)
    return linked


def _linked_by_sequence(
    trace: Trace, regions: ForwardRegions, nodes: Mapping[int, _Node], autograd: set[int]
) -> dict[_Node, int]:
    """Without flows: the last forward operator with the node's sequence number, if only one thread has such."""
    host = trace.host
    wanted = {sequence: index for index, (sequence, _, _) in nodes.items()}
    last: dict[int, int] = {}
    ambiguous: set[int] = set()
    for index, sequence in enumerate(host.sequence):
        if sequence not in wanted or host.forward_thread[index] > 0 or host.thread[index] in autograd:
            continue
        known = last.setdefault(sequence, index)
        if host.thread[known] != host.thread[index]:
            ambiguous.add(sequence)
        elif host.start_ns[known] <= host.start_ns[index] <= host.start_ns[wanted[sequence]]:
            last[sequence] = index
    return {
        node: regions.innermost_at(host.thread[last[node[0]]], host.start_ns[last[node[0]]])
        for node in nodes.values()
        if node[0] in last and node[0] not in ambiguous
    }
