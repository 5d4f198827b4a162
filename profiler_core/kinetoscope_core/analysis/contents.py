"""What a recording holds that has no region of the user's: the phases of its steps, costliest kernels and operators."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kinetoscope_core.analysis.attribution import in_order
from kinetoscope_core.analysis.callers import Callers, Function
from kinetoscope_core.analysis.phases.phases import phases_of
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.results.contents import CalledKernel, CalledOperator, Caller, Contents
from kinetoscope_core.trace import HostSlices

SHOWN = 10
_CALLERS = 3


@dataclass(slots=True)
class _Sum:
    count: int = 0
    cpu_ns: int = 0
    cuda_ns: int = 0
    callers: "defaultdict[Function | None, _Sum]" = field(
        default_factory=lambda: defaultdict["Function | None", "_Sum"](_Sum)
    )

    def costliest_callers(self) -> tuple[Caller, ...]:
        """Those of the user's."""
        known = ((by, each.count, each.cpu_ns + each.cuda_ns) for by, each in self.callers.items() if by is not None)
        return tuple(Caller(*by, count, ns) for by, count, ns in sorted(known, key=lambda each: -each[2])[:_CALLERS])


@dataclass(slots=True)
class _Sums:
    kernels: defaultdict[str, _Sum] = field(default_factory=lambda: defaultdict[str, _Sum](_Sum))
    operators: defaultdict[str, _Sum] = field(default_factory=lambda: defaultdict[str, _Sum](_Sum))


def contents_of(recordings: Sequence[Recording], files: Collection[str] = ()) -> Contents:
    """The phases, the costliest kernels, and the costliest operators of those that lie in no other operator.

    `files` are the user's, as far as they are known.
    """
    sums = _Sums()
    for recording in recordings:
        _add(recording, sums, Callers(recording.trace, files))
    has_device = any(len(recording.trace.device) for recording in recordings)
    kernels = sorted(sums.kernels.items(), key=lambda item: -item[1].cuda_ns)
    operators = sorted(sums.operators.items(), key=lambda item: -item[1].cpu_ns - item[1].cuda_ns)
    phases, steps = phases_of(recordings)
    return Contents(
        kernels=tuple(
            CalledKernel(name, each.count, each.cuda_ns, short_kernel_name(name), each.costliest_callers())
            for name, each in kernels[:SHOWN]
        ),
        kernel_names=len(kernels),
        activities=sum(each.count for each in sums.kernels.values()),
        operators=tuple(
            CalledOperator(
                name, False, each.count, each.cpu_ns, each.cuda_ns if has_device else None, each.costliest_callers()
            )
            for name, each in operators[:SHOWN]
        ),
        operator_names=len(operators),
        phases=phases,
        steps=steps,
    )


def _add(recording: Recording, sums: _Sums, callers: Callers) -> None:
    trace = recording.trace
    host, device, names = trace.host, trace.device, trace.names
    of_thread: defaultdict[int, list[int]] = defaultdict(list)
    for index in host.operators():
        of_thread[host.thread[index]].append(index)
    outermost = {thread: _outermost(host, operators) for thread, operators in of_thread.items()}
    for thread, operators in outermost.items():
        for index in operators:
            found = sums.operators[names[host.name[index]]]
            for each in (found, found.callers[callers.at(thread, host.start_ns[index])]):
                each.count += 1
                each.cpu_ns += host.duration_ns[index]
    starts = {thread: [host.start_ns[index] for index in operators] for thread, operators in outermost.items()}
    rows = zip(recording.attribution.activity_launch, device.name, device.duration_ns, strict=True)
    for launch, name, ns in rows:
        kernel = sums.kernels[names[name]]
        thread, moment = (-1, 0) if launch < 0 else (host.thread[launch], host.start_ns[launch])
        for each in (kernel, kernel.callers[callers.at(thread, moment)]):
            each.count += 1
            each.cuda_ns += ns
        if thread not in starts:
            continue
        place = bisect_right(starts[thread], moment) - 1
        if place >= 0 and moment < starts[thread][place] + host.duration_ns[outermost[thread][place]]:
            found = sums.operators[names[host.name[outermost[thread][place]]]]
            found.cuda_ns += ns
            found.callers[callers.at(thread, starts[thread][place])].cuda_ns += ns


def _outermost(host: HostSlices, operators: Sequence[int]) -> list[int]:
    """Those of one thread that lie in no other one, in the order of time."""
    return list(_not_inside(host, in_order(host, operators)))


def _not_inside(host: HostSlices, order: Iterable[int]) -> Iterable[int]:
    until = -(2**63)
    for index in order:
        if host.start_ns[index] >= until:
            until = host.start_ns[index] + host.duration_ns[index]
            yield index
