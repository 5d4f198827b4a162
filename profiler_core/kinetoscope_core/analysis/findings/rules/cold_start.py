"""A first measured call far above the others: libraries are loaded, kernels chosen, memory asked for.

Not where it stands out by chance: on a busy machine others do, too, or one before it was fast already.
"""

from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.overhead import LOADING
from kinetoscope_core.analysis.findings.phrases import name_of
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.statistics import median_of
from kinetoscope_core.results.measures import Call
from kinetoscope_core.text import count_text, time_text

_TIMES_THE_MEDIAN: Final = 3
"""The second call after a start is up to twice as slow as the rest on an H200, with nothing being loaded."""

_LEAST_NS: Final = 1_000_000
"""What one garbage collection or one scheduling of another process takes: below it a single call proves nothing."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    measured = region.measured
    if len(measured) < 3:
        return None
    times = [run.recordings[number].calls[index] for number, index in measured]
    first, others = times[0], times[1:]
    median_ns = median_of([each.cpu_total_ns for each in others])
    number, _ = measured[0]
    recording = run.recordings[number]
    end_ns = first.start_ns + first.cpu_total_ns
    loading_ns = recording.overhead(LOADING).covered(first.start_ns, end_ns)
    # The profiler's own work in it is told by profiler-overhead.
    usual_ns = median_ns + max(first.overhead_ns - loading_ns, 0)
    excess_ns = first.cpu_total_ns - usual_ns
    if excess_ns < _LEAST_NS or first.cpu_total_ns < _TIMES_THE_MEDIAN * usual_ns:
        return None
    if any(2 * (each.cpu_total_ns - median_ns) > excess_ns for each in others) or _was_warm(region, run, first):
        return None
    loading = f", {time_text(loading_ns)} of it to load CUDA modules and functions" if loading_ns else ""
    return Claim(
        f"{name_of(region.measures)} starts cold: the first of {count_text(len(measured), 'measured call')} took"
        f" {time_text(first.cpu_total_ns)}{loading}; the median of the others is {time_text(median_ns)}.",
        cost_ns=excess_ns,
        evidence={"first_ns": first.cpu_total_ns, "median_of_others_ns": median_ns, "loading_ns": loading_ns},
        spot=region.parts[number].spot(first.start_ns, first.cpu_total_ns),
    )


def _was_warm(region: RegionFacts, run: RunFacts, first: Call) -> bool:
    """Whether a call before it, one of warm-up, was over in half the time."""
    before = [call_id for call_id in region.calls.seen if call_id < region.measured[0]]
    return any(2 * run.recordings[number].calls[index].cpu_total_ns < first.cpu_total_ns for number, index in before)


RULE: Final = Rule("cold-start", "information", of_region=_of_region, is_inclusive=True, is_of_cpu=True)
