"""Autograd threads: which they are, and which region of the forward thread their work belongs to."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import compress

from kinetoscope_core.analysis.attribution.nesting import Nesting
from kinetoscope_core.analysis.attribution.open_spans import Timeline
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import OPERATOR

_EVALUATE = "autograd::engine::evaluate_function"


def autograd_threads(trace: Trace, backward_operators: Iterable[int]) -> set[int]:
    """Threads that receive `fwdbwd` flows from another one, or have backward operators (docs/measures.md)."""
    host, flows = trace.host, trace.flows
    evaluating = {number for number, name in enumerate(trace.names) if name.startswith(_EVALUATE)}
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
            thread: Timeline((nesting.starts[each], nesting.ends[each], each) for each in occurrences)
            for thread, occurrences in nesting.regions_of.items()
        }
        named: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for forward, backward in zip(trace.flows.forward_thread, trace.flows.backward_thread, strict=True):
            if forward != backward:
                named[backward][forward] += 1
        self._pid_of = [each.pid for each in trace.threads]
        nothing = Timeline(())
        self._forward_of = {
            backward: self._timelines.get(counts.most_common(1)[0][0], nothing) for backward, counts in named.items()
        }

    def innermost_at(self, thread: int, moment: int) -> int:
        """The innermost region open on a thread, -1 for none."""
        timeline = self._timelines.get(thread)
        return -1 if timeline is None else timeline.innermost_at(moment)

    def around(self, autograd_thread: int, moment: int) -> int:
        """The occurrence that work of an autograd thread belongs to, -1 if none or if nothing says which."""
        forward = self._forward_of.get(autograd_thread)
        if forward is not None:
            return forward.innermost_at(moment)
        candidates = [
            occurrence
            for thread, timeline in self._timelines.items()
            if thread != autograd_thread
            and self._pid_of[thread] == self._pid_of[autograd_thread]
            and (occurrence := timeline.innermost_at(moment)) >= 0
        ]
        if len(candidates) == 1:
            return candidates[0]
        self.ambiguous += len(candidates) > 1
        return -1
