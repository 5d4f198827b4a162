"""Which phase is on at which time, on the thread that trains."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from kinetoscope_core.analysis.attribution import in_order
from kinetoscope_core.analysis.attribution.autograd import EVALUATE, autograd_threads
from kinetoscope_core.analysis.attribution.open_spans import OpenSpans
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import START_UP
from kinetoscope_core.results.contents import KnownBy, PhaseName
from kinetoscope_core.trace.schema import OPERATOR, REGION

STEP: Final = "ProfilerStep#"
MARKED: Final[dict[str, PhaseName]] = {
    "enumerate(DataLoader)#": "data loading",
    "Optimizer.step#": "optimizer step",
    "Optimizer.zero_grad#": "zero_grad",
}
_FIRST_GRADIENT: Final = "aten::ones_like"
REST: Final[PhaseName] = "everything else"
PHASES: Final[tuple[PhaseName, ...]] = ("data loading", "forward", "backward", "optimizer step", "zero_grad", REST)


def timelines(recording: Recording) -> "Iterator[Timeline]":
    """Of each process of which any phase can be told."""
    trace, host = recording.trace, recording.trace.host
    autograd = autograd_threads(trace, host.backward_operators())
    marked = {number for number, name in enumerate(trace.names) if name.startswith((*MARKED, STEP))}
    marks, operators = Counter[int](), Counter[int]()
    for kind, name, thread in zip(host.kind, host.name, host.thread, strict=True):
        marks[thread] += kind == REGION and name in marked
        operators[thread] += kind == OPERATOR
    flows = zip(trace.flows.forward_thread, trace.flows.backward_thread, strict=True)
    forward = Counter(thread for thread, other in flows if thread != other)
    # What is marked is certain; then what autograd says. Without either, the forward pass has the most operators.
    best = (thread for counts in (+marks, forward, operators) for thread, _ in counts.most_common())
    training: dict[str, int] = {}
    for thread in best:
        training.setdefault(trace.threads[thread].pid, thread)
    for pid, thread in training.items():
        timeline = Timeline(recording, thread, {each for each in autograd if trace.threads[each].pid == pid})
        if timeline.tells_phases:
            yield timeline


@dataclass(slots=True)
class _Mark:
    """What torch marks."""

    phase: PhaseName
    start_ns: int
    end_ns: int


class _Operator(NamedTuple):
    """One that is in no other, or a CUDA call. `is_ones`: it may make the gradient that a backward pass begins with."""

    start_ns: int
    end_ns: int
    is_backward: bool
    is_ones: bool = False


@dataclass(slots=True)
class _Stretch:
    """Operators and CUDA calls one after another, with nothing of another kind between them.

    `inside` is the place of the innermost mark that was open when it began, -1 for none. `is_differentiated`: it begins
    with an operator that a backward pass goes back to, or comes after one on the way to that pass.
    """

    is_backward: bool
    is_differentiated: bool
    start_ns: int
    end_ns: int
    inside: int
    phase: PhaseName | None = None
    """That of its time; `None` for that of what is around it."""


class Timeline:
    """The phases of one process, on its thread that trains. `autograd` are its threads that run backward operators,
    which may be the same one.

    `calls` counts how often each came. `window` goes from the first to the last that was recorded of the thread.
    """

    def __init__(self, recording: Recording, thread: int, autograd: Collection[int]) -> None:
        self.recording = recording
        self.pid = recording.trace.threads[thread].pid
        self._thread = thread
        self._autograd = autograd
        self._marks: list[_Mark] = []
        self.window = (0, 0)
        sequence = self._sequence(_with_first_gradients(sorted([*self._of_own_thread(), *self._of_autograd()])))
        stretches = [each for each in sequence if isinstance(each, _Stretch)]
        self.tells_phases = bool(self._marks) or any(each.is_backward for each in stretches)
        self.calls = Counter(each.phase for each in self._marks)
        self._name(sequence)
        self._times, self._phases = self._painted([each for each in stretches if each.phase is not None])

    def phase_of(self, thread: int, moment: int) -> PhaseName:
        """That of what a thread of the process launches then."""
        if thread == self._thread:
            return self._phases[bisect_right(self._times, moment) - 1]
        return "backward" if thread in self._autograd else REST

    def spent(self, start: int, end: int) -> dict[PhaseName, int]:
        """How much of the time from start to end was of each phase, in ns."""
        found = dict.fromkeys(PHASES, 0)
        place = bisect_right(self._times, start) - 1
        while start < end:
            until = min(end, self._times[place + 1]) if place + 1 < len(self._times) else end
            found[self._phases[place]] += until - start
            start, place = until, place + 1
        return found

    def steps(self, known_by: KnownBy) -> list[tuple[int, int]]:
        """The steps, as (start, end), if these tell them. Those of warm-up are left out where there are others."""
        if known_by == "data loading":
            return list(pairwise(each.start_ns for each in self._outermost("data loading")))
        if known_by == "optimizer step":
            return list(pairwise(self._ends_of_steps()))
        recorded, slices = self.recording.recorded, self.recording.attribution.slices
        is_warmup = recorded.is_series_warmup or recorded.is_warmup or [False] * len(recorded.calls)
        found = [
            (is_warm, (call.start_ns, call.start_ns + call.cpu_total_ns))
            for call, is_warm, index in zip(recorded.calls, is_warmup, slices, strict=True)
            if call.name.startswith(STEP) and call.is_finished and call.has_times
            if self.recording.trace.host.thread[index] == self._thread
        ]
        return [span for is_warm, span in found if not is_warm] or [span for _, span in found]

    def _ends_of_steps(self) -> Iterator[int]:
        """A step ends with the first batch that is fetched after the optimizer's; without batches, with the latter."""
        batches = [each.start_ns for each in self._outermost("data loading")]
        ends = [each.end_ns for each in self._outermost("optimizer step")]
        places = dict.fromkeys(bisect_left(batches, end) for end in ends)
        yield from (batches[place] for place in places if place < len(batches)) if batches else ends

    def _outermost(self, phase: PhaseName) -> Iterator[_Mark]:
        until = -(2**63)
        for each in self._marks:
            if each.phase == phase and each.start_ns >= until:
                until = each.end_ns
                yield each

    def _of_own_thread(self) -> Iterator[_Operator]:
        """The outermost operators and CUDA calls. Notes what is marked."""
        trace, host = self.recording.trace, self.recording.trace.host
        phase_of: dict[int, PhaseName] = {
            number: phase
            for number, name in enumerate(trace.names)
            for prefix, phase in MARKED.items()
            if name.startswith(prefix)
        }
        evaluating = {number for number, name in enumerate(trace.names) if name.startswith(EVALUATE)}
        ones = {number for number, name in enumerate(trace.names) if name == _FIRST_GRADIENT}
        until = of_ours = first = last = -(2**63)
        for index in self.recording.order_of(self._thread):
            name, start = host.name[index], host.start_ns[index]
            end = start + host.duration_ns[index]
            if trace.names[name] == START_UP.name:
                of_ours = end
            if start < of_ours or index in host.untimed:
                continue
            first, last = start if first < -(2**62) else first, max(last, end)
            if host.kind[index] == REGION:
                if name in phase_of:
                    self._marks.append(_Mark(phase_of[name], start, end))
            elif start >= until:
                until = end
                yield _Operator(start, end, name in evaluating or host.forward_thread[index] > 0, name in ones)
        self.window = (max(first, 0), max(last, 0))

    def _of_autograd(self) -> Iterator[_Operator]:
        host, autograd = self.recording.trace.host, self._autograd
        of_thread: dict[int, list[int]] = {thread: [] for thread in autograd if thread != self._thread}
        for index in host.operators():
            if host.thread[index] in of_thread:
                of_thread[host.thread[index]].append(index)
        for operators in of_thread.values():
            for index in in_order(host, operators):
                yield _Operator(host.start_ns[index], host.start_ns[index] + host.duration_ns[index], True)

    def _sequence(self, operators: Iterable[_Operator]) -> list[_Mark | _Stretch]:
        """Marks and stretches in the order of time."""
        spans = OpenSpans((each.start_ns, each.end_ns, number) for number, each in enumerate(self._marks))
        flows = self.recording.trace.flows
        rows = zip(flows.forward_thread, flows.forward_ns, strict=True)
        gone_back_to = sorted(moment for thread, moment in rows if thread == self._thread)
        sequence: list[_Mark | _Stretch] = []
        marks = iter(self._marks)
        mark = next(marks, None)
        is_differentiated = False
        for start, end, is_backward, _ in operators:
            while mark is not None and mark.start_ns <= start:
                sequence.append(mark)
                is_differentiated = is_differentiated and mark.phase == "zero_grad"
                mark = next(marks, None)
            has_flow = bisect_left(gone_back_to, start) < bisect_left(gone_back_to, end)
            is_differentiated = not is_backward and (is_differentiated or has_flow)
            last, inside = sequence[-1] if sequence else None, spans.innermost_at(start)
            kind = is_backward, is_differentiated, inside
            if isinstance(last, _Stretch) and (last.is_backward, last.is_differentiated, last.inside) == kind:
                last.end_ns = max(last.end_ns, end)
            else:
                sequence.append(_Stretch(is_backward, is_differentiated, start, end, inside))
        return [*sequence, *([] if mark is None else [mark]), *marks]

    def _name(self, sequence: Sequence[_Mark | _Stretch]) -> None:
        """Forward is what a backward pass goes back to; where no trace of that leads from it, what leads up to one,
        or follows a batch. In a step of the optimizer, what runs in its closure.
        """
        backward = (each for each in sequence if isinstance(each, _Stretch) and each.is_backward)
        last_backward = {each.inside: each.start_ns for each in backward}
        following: list[str | None] = []
        after: str | None = None
        for each in reversed(sequence):
            following.append(after)
            after = _kind(each) or after
        before: str | None = None
        for each, after in zip(sequence, reversed(following), strict=True):
            kind = _kind(each)
            if isinstance(each, _Stretch) and (each.inside < 0 or self._is_step(each.inside)):
                leads_up = each.start_ns < last_backward.get(each.inside, each.start_ns)
                is_forward = each.is_differentiated or (
                    after != "forward" and leads_up if each.inside >= 0 else after == "backward"
                )
                is_forward = is_forward or (each.inside < 0 and before == "data loading" and after != "forward")
                each.phase = "backward" if each.is_backward else "forward" if is_forward else None
                if each.phase is not None and before != each.phase:
                    self.calls[each.phase] += 1
                kind = each.phase
            before = kind or before

    def _is_step(self, mark: int) -> bool:
        return self._marks[mark].phase == "optimizer step"

    def _painted(self, stretches: Sequence[_Stretch]) -> tuple[list[int], list[PhaseName]]:
        """From which time on which phase is on. A stretch holds as long as it is in no other mark than at its start."""
        spans = OpenSpans((each.start_ns, each.end_ns, number) for number, each in enumerate(self._marks))
        edges = {time for each in (*self._marks, *stretches) for time in (each.start_ns, each.end_ns)}
        times: list[int] = [-(2**63)]
        phases: list[PhaseName] = [REST]
        place = 0
        for time in sorted(edges):
            while place + 1 < len(stretches) and stretches[place + 1].start_ns <= time:
                place += 1
            mark = spans.innermost_at(time)
            phase = self._marks[mark].phase if mark >= 0 else REST
            if stretches:
                here = stretches[place]
                if here.start_ns <= time < here.end_ns and here.inside == mark and here.phase is not None:
                    phase = here.phase
            times.append(time)
            phases.append(phase)
        return times, phases


def _with_first_gradients(operators: Sequence[_Operator]) -> Iterator[_Operator]:
    """With the gradients of the losses, which `backward()` makes before the engine runs, as part of its pass."""
    for each, following in pairwise([*operators, None]):
        if each is not None:
            begins = each.is_ones and following is not None and following.is_backward
            yield each._replace(is_backward=True) if begins else each


def _kind(each: _Mark | _Stretch) -> PhaseName | None:
    """Its phase as far as it is certain; not `zero_grad`, which may stand in the middle of a forward pass."""
    if isinstance(each, _Stretch):
        return "backward" if each.is_backward else "forward" if each.is_differentiated else None
    return None if each.phase == "zero_grad" else each.phase
