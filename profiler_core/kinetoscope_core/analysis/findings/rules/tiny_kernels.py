"""Many kernels that are each over sooner than the CPU can launch the next."""

from collections.abc import Iterator
from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.text import time_text
from kinetoscope_core.trace.schema import KERNEL

_LEAST_A_CALL: Final = 20
"""Fewer launches than that are not worth a graph or a fused kernel of their own: the wrapper costs as much as ten."""

_LONGEST_MEAN_NS: Final = 10_000
"""A launch takes 5 to 10 µs of CPU time under the profiler (H200, torch 2.11): kernels shorter than that cannot fill
the GPU from one thread."""


_LONGEST_STEP_NS: Final = 500_000
"""From one launch to the next: what takes longer is a stall in between, which idle-gap tells."""

_LEAST_PART: Final = 0.2
"""Of the region's CPU time: less of it spent on launching is not what makes it long."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    measures = region.measures
    if measures.bound != "overhead":
        return None
    kernels = [(part, each) for part, each in region.activities() if part.trace.device.kind[each] == KERNEL]
    launched = {(part.number, part.recording.attribution.activity_launch[each]) for part, each in kernels}
    a_call = len(launched) // max(measures.measured, 1)
    run_ns = sum(part.trace.device.duration_ns[each] for part, each in kernels)
    if a_call < _LEAST_A_CALL or run_ns >= _LONGEST_MEAN_NS * len(kernels):
        return None
    waited_ns, cpu_ns = 0, measures.cpu_total_ns.sum
    waited: list[Stretch] = []
    for part in region.parts.values():
        busy = run.worked_or_profiled(part.number)
        spans = list(_between_launches(part, run))
        waited_ns += sum(end - start - busy.covered(start, end) for start, end in spans)
        waited += (Stretch(part.number, False, *span) for span in Union(spans).without(busy))
    if waited_ns < _LEAST_PART * cpu_ns:
        return None
    mean_ns = run_ns // len(kernels)
    return Claim(
        f"{name_of(measures)} launches {a_call} kernels per call that take {time_text(mean_ns)} each: between launches"
        f" the GPU was idle for {time_text(waited_ns)} of {time_text(cpu_ns)} {over_calls(measures)}.",
        cost_ns=waited_ns,
        evidence={"kernels_per_call": a_call, "mean_kernel_ns": mean_ns, "idle_between_launches_ns": waited_ns},
        saves=waited,
        spot=region.median_spot(),
    )


def _between_launches(part: Part, run: RunFacts) -> Iterator[tuple[int, int]]:
    """The spans from a launch to the next one of its thread in the same call of the region, while work is recorded."""
    host, attribution = part.trace.host, part.recording.attribution
    owners, launches = attribution.activity_owner, attribution.activity_launch
    calls = {launches[each]: part.measured_calls[owners[each]] for each in part.activities}
    following, (known_from, known_until) = run.next_launches(part.number), run.timelines[part.number].known
    for launch, call_id in calls.items():
        after = following.get(launch, -1)
        start_ns, end_ns = host.start_ns[launch], host.start_ns[after]
        if calls.get(after) != call_id or end_ns - start_ns >= _LONGEST_STEP_NS:
            continue
        start_ns, end_ns = max(start_ns, known_from), min(end_ns, known_until)
        if start_ns < end_ns:
            yield start_ns, end_ns


RULE: Final = Rule("tiny-kernels", "warning", of_region=_of_region, says_what=("overhead-bound",))
