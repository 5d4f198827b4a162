"""Autograd threads: which they are, and which region of the forward thread their work belongs to."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import accumulate, compress

from kinetoscope_core.analysis.attribution.nesting import Nesting
from kinetoscope_core.analysis.attribution.open_spans import OpenSpans
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import OPERATOR

EVALUATE = "autograd::engine::evaluate_function"
"""What the names of all that the engine runs begin with."""


def autograd_threads(trace: Trace, backward_operators: Iterable[int]) -> set[int]:
    """Threads that receive `fwdbwd` flows from another one, or have backward operators (docs/measures.md)."""
    host, flows = trace.host, trace.flows
    evaluating = {number for number, name in enumerate(trace.names) if name.startswith(EVALUATE)}
    threads = {
        backward
        for forward, backward in zip(flows.forward_thread, flows.backward_thread, strict=True)
        if forward != backward
    }
    threads.update([host.thread[index] for index in backward_operators])
    if evaluating:
        named = compress(range(len(host)), map(evaluating.__contains__, host.name))
        threads.update(host.thread[index] for index in named if host.kind[index] == OPERATOR)
    return threads


class ForwardRegions:
    """The region of another thread that work of an autograd thread belongs to.

    That is the innermost region open at that moment on the thread that most flows name; without flows, on the only
    other thread of the process that has one open. `ambiguous` counts the questions that had more than one answer.
    """

    def __init__(self, trace: Trace, nesting: Nesting) -> None:
        self.ambiguous = 0
        self._timelines = {
            thread: OpenSpans((nesting.starts[each], nesting.ends[each], each) for each in calls)
            for thread, calls in nesting.regions_of.items()
        }
        named: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for forward, backward in zip(trace.flows.forward_thread, trace.flows.backward_thread, strict=True):
            if forward != backward:
                named[backward][forward] += 1
        self._threads = trace.threads
        self._open: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}
        nothing = OpenSpans(())
        self._forward_of = {
            backward: self._timelines.get(counts.most_common(1)[0][0], nothing) for backward, counts in named.items()
        }

    def innermost_at(self, thread: int, moment: int) -> int:
        """The innermost region open on a thread, -1 for none."""
        timeline = self._timelines.get(thread)
        return -1 if timeline is None else timeline.innermost_at(moment)

    def around(self, autograd_thread: int, moment: int) -> int:
        """The call that work of an autograd thread belongs to, -1 if none or if nothing says which."""
        forward = self._forward_of.get(autograd_thread)
        if forward is not None:
            return forward.innermost_at(moment)
        number, call = self._open_at(self._threads[autograd_thread].pid, moment)
        own = self.innermost_at(autograd_thread, moment)
        if own >= 0:
            number, call = number - 1, call - own
        self.ambiguous += number > 1
        return call if number == 1 else -1

    def _open_at(self, pid: str, moment: int) -> tuple[int, int]:
        """On how many threads of a process a region is open then, and the sum of the innermost ones."""
        if pid not in self._open:
            changes: list[tuple[int, int, int]] = []
            for thread, timeline in self._timelines.items():
                if self._threads[thread].pid == pid:
                    changes += timeline.changes()
            changes.sort()
            numbers, sums = accumulate(each[1] for each in changes), accumulate(each[2] for each in changes)
            self._open[pid] = [each[0] for each in changes], [(0, 0), *zip(numbers, sums, strict=True)]
        times, states = self._open[pid]
        return states[bisect_right(times, moment)]
