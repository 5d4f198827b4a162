"""The profiler's own work inside of a region: nobody should chase it, and nobody can."""

from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.overhead import PROFILING
from kinetoscope_core.analysis.findings.phrases import name_of, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import count_text, time_text

_LEAST_PART: Final = 0.05
"""Of the region's CPU total: the times of one call differ by that much from another's anyway."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    measures = region.measures
    if not measures.overhead_ns:
        return None
    total_ns = longest_ns = in_the_median_ns = hit = 0
    spot = None
    for number, index in region.measured:
        recording = run.recordings[number]
        call = recording.calls[index]
        if not call.overhead_ns:
            continue
        end_ns = call.start_ns + call.cpu_total_ns
        ns = recording.overhead(PROFILING).covered(call.start_ns, end_ns)
        hit += ns > 0
        total_ns += ns
        if (number, index) == region.median:
            in_the_median_ns = ns
        if ns > longest_ns:
            longest_ns = ns
            spot = region.parts[number].spot(call.start_ns, call.cpu_total_ns)
    cpu_ns = measures.cpu_total_ns.sum
    if total_ns < _LEAST_PART * cpu_ns or not in_the_median_ns:
        return None
    return Claim(
        f"{name_of(measures)} includes {time_text(total_ns)} of profiler overhead ({percent(total_ns, cpu_ns)} of its"
        f" CPU time) in {hit} of {count_text(measures.measured, 'call')}, {time_text(in_the_median_ns)} of it in the"
        " median call.",
        cost_ns=total_ns,
        evidence={"overhead_ns": total_ns, "in_the_median_ns": in_the_median_ns, "calls_with_it": hit},
        spot=spot,
    )


RULE: Final = Rule("profiler-overhead", "information", of_region=_of_region, is_inclusive=True)
