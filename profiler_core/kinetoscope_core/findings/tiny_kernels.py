"""Many kernels that are each over sooner than the CPU can launch the next."""

from typing import Final

from kinetoscope_core.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.findings.phrases import name_of
from kinetoscope_core.findings.rule import Claim, Rule
from kinetoscope_core.summary import median_of
from kinetoscope_core.text import count_text, time_text
from kinetoscope_core.trace.schema import KERNEL

_LEAST_A_CALL: Final = 20
"""Fewer launches than that are not worth a graph or a fused kernel of their own: the wrapper costs as much as ten."""

_LONGEST_MEAN_NS: Final = 10_000
"""A launch takes 5 to 10 µs of CPU time under the profiler (H200, torch 2.11): kernels shorter than that cannot fill
the GPU from one thread."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    measures = region.measures
    if measures.bound != "overhead" or measures.cuda_busy_ns is None:
        return None
    kernels = [(part, each) for part, each in region.activities() if part.trace.device.kind[each] == KERNEL]
    launched = {(part.number, part.recording.attribution.activity_launch[each]) for part, each in kernels}
    a_call = len(launched) // max(measures.measured, 1)
    run_ns = sum(part.trace.device.duration_ns[each] for part, each in kernels)
    if a_call < _LEAST_A_CALL or run_ns >= _LONGEST_MEAN_NS * len(kernels):
        return None
    occurrences = [each.window.occurrences for each in run.recordings]
    launching: list[int] = []
    for number, index in region.measured:
        each = occurrences[number][index]
        launching.append(max(each.cpu_total_ns - each.sync_ns - each.overhead_ns - (each.cuda_busy_ns or 0), 0))
    # By the median: in a trace from elsewhere the first passage also loads what it calls.
    launching_ns = median_of(launching) * len(launching)
    mean_ns = run_ns // len(kernels)
    return Claim(
        f"{name_of(measures)} launches {a_call} kernels a call that take {time_text(mean_ns)} each: the GPU worked"
        f" {time_text(measures.cuda_busy_ns.median)} of {time_text(measures.cpu_total_ns.median)}, medians of"
        f" {count_text(measures.measured, 'call')}.",
        cost_ns=launching_ns,
        evidence={"kernels_per_call": a_call, "mean_kernel_ns": mean_ns, "gpu_busy_ns": measures.cuda_busy_ns.median},
        saves_at_most_ns=launching_ns,
        spot=region.median_spot(),
    )


RULE: Final = Rule("tiny-kernels", "warning", of_region=_of_region, says_what=("overhead-bound",))
