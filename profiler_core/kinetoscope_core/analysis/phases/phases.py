"""What each phase of the steps took: of the thread that trains, and of the devices."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.phases.timeline import PHASES, REST, Timeline, timelines
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import START_UP, spread_of
from kinetoscope_core.results.contents import KnownBy, Phase, PhaseName, Steps

_KNOWN_BY: Final[tuple[KnownBy, ...]] = ("ProfilerStep", "optimizer step", "data loading")


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    cpu_ns: int = 0
    cuda_ns: int = 0
    launches: int = 0
    cpu_of_steps: list[int] = field(default_factory=list[int])
    cuda_of_steps: list[int] = field(default_factory=list[int])


def phases_of(recordings: Sequence[Recording]) -> tuple[tuple[Phase, ...], Steps | None]:
    """The phases of all recordings, and the steps; nothing where no recording tells one phase from another."""
    found = [list(timelines(each)) for each in recordings]
    if not any(found):
        return (), None
    everywhere = [timeline for each in found for timeline in each]
    known_by: KnownBy | None = next((kind for kind in _KNOWN_BY if any(each.steps(kind) for each in everywhere)), None)
    sums: dict[PhaseName, _Sum] = {name: _Sum() for name in PHASES}
    took: list[int] = []
    for recording, here in zip(recordings, found, strict=True):
        steps = [(each, each.steps(known_by) if known_by else []) for each in here]
        for timeline, spans in steps:
            for name, of_phase in sums.items():
                of_phase.calls += timeline.calls[name]
            for name, ns in timeline.spent(*timeline.window).items():
                sums[name].cpu_ns += ns
            for start, end in spans:
                took.append(end - start)
                for name, ns in timeline.spent(start, end).items():
                    sums[name].cpu_of_steps.append(ns)
        _add_device(recording, steps, sums)
    has_device = any(len(each.trace.device) for each in recordings)
    phases = [_phase(name, each, has_device=has_device) for name, each in sums.items()]
    came = tuple(each for each in phases if each.calls != 0)
    return came, Steps(len(took), known_by, spread_of(took)) if known_by else None


def _add_device(
    recording: Recording, steps: Sequence[tuple[Timeline, Sequence[tuple[int, int]]]], sums: dict[PhaseName, _Sum]
) -> None:
    """An activity belongs to the phase, and to the step, in which it was launched."""
    trace, host = recording.trace, recording.trace.host
    of_process = {
        timeline.pid: (timeline, spans, [start for start, _ in spans], [dict.fromkeys(PHASES, 0) for _ in spans])
        for timeline, spans in steps
    }
    launched = zip(
        recording.attribution.activity_launch,
        recording.attribution.activity_owner,
        trace.device.duration_ns,
        strict=True,
    )
    for launch, owner, ns in launched:
        if owner >= 0 and recording.keys[owner] == START_UP:
            continue
        here = of_process.get(trace.threads[host.thread[launch]].pid) if launch >= 0 else None
        phase = REST
        if here is not None:
            timeline, spans, starts, of_steps = here
            moment = host.start_ns[launch]
            phase = timeline.phase_of(host.thread[launch], moment)
            step = bisect_right(starts, moment) - 1
            if step >= 0 and moment < spans[step][1]:
                of_steps[step][phase] += ns
        sums[phase].cuda_ns += ns
        sums[phase].launches += 1
    for *_, of_steps in of_process.values():
        for values in of_steps:
            for name, ns in values.items():
                sums[name].cuda_of_steps.append(ns)


def _phase(name: PhaseName, found: _Sum, *, has_device: bool) -> Phase:
    return Phase(
        name=name,
        calls=None if name == REST else found.calls,
        cpu_ns=found.cpu_ns,
        cuda_ns=found.cuda_ns if has_device else None,
        launches=found.launches if has_device else None,
        cpu_per_step_ns=spread_of(found.cpu_of_steps) if found.cpu_of_steps else None,
        cuda_per_step_ns=spread_of(found.cuda_of_steps) if found.cuda_of_steps and has_device else None,
    )
