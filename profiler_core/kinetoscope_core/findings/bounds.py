"""What limits a region: CPU, GPU or waiting (docs/measures.md, "What limits a region"). One of five for each region."""

from collections.abc import Callable
from typing import Final

from kinetoscope_core.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.findings.rule import Claim, Rule
from kinetoscope_core.measures import Bound, RegionMeasures
from kinetoscope_core.text import count_text, printable, time_text


def _message(region: RegionMeasures) -> str:
    """The bound with the times that say so."""
    name = printable(region.name)
    cpu, busy = region.cpu_total_ns, region.cuda_busy_ns
    calls = f"over {count_text(region.measured, 'call')}"
    if region.bound == "cpu-only" or busy is None:
        return f"{name} is CPU-only: it launched no GPU work in {time_text(cpu.sum)} {calls}."
    if region.bound == "overhead":
        worked = f"{time_text(busy.sum)} of {time_text(cpu.sum)} ({_percent(busy.sum, cpu.sum)}) {calls}"
        return f"{name} is overhead-bound: the GPU worked {worked}."
    # Medians, as the bound is that of the median passage: in a trace from elsewhere the sums hold the first
    # launch's wait for the profiler, and may say the opposite (docs/measures.md).
    gpu_text, cpu_text = time_text(busy.median), time_text(cpu.median)
    medians = f"medians of {count_text(region.measured, 'call')}"
    if region.bound == "compute":
        return f"{name} is compute-bound: the GPU worked {gpu_text} for {cpu_text} of CPU time, {medians}."
    worked = f"the GPU worked {gpu_text} of {cpu_text} ({_percent(busy.median, cpu.median)}), {medians}"
    if region.bound == "sync":
        return f"{name} is sync-bound: the CPU mostly waits for a GPU that is mostly idle; {worked}."
    return f"{name} is mixed: CPU and GPU take about as long; {worked}."


def _percent(part_ns: int, whole_ns: int) -> str:
    return f"{100 * part_ns / whole_ns if whole_ns else 0.0:.1f} %"


def _claims(bound: Bound) -> Callable[[RegionFacts, RunFacts], Claim | None]:
    def of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
        measures = region.measures
        if measures.bound != bound:
            return None
        busy, launches = measures.cuda_busy_ns, measures.launches
        evidence: dict[str, int | str] = {"calls": measures.measured, "cpu_ns": measures.cpu_total_ns.sum}
        evidence["median_cpu_ns"] = measures.cpu_total_ns.median
        evidence |= {"gpu_busy_ns": busy.sum, "median_gpu_busy_ns": busy.median} if busy else {}
        evidence |= {"launches_per_call": launches.median} if launches else {}
        # Said once: in a region around it, the same bound is the news.
        is_minor = any(run.regions[outer].measures.bound == bound for outer in region.outer)
        return Claim(
            _message(measures), measures.cpu_total_ns.sum, evidence, spot=region.median_spot(), is_minor=is_minor
        )

    return of_region


def _rule(code: str, bound: Bound) -> Rule:
    return Rule(code, "information", of_region=_claims(bound), share=0, is_bound=True)


RULES: Final = (
    _rule("overhead-bound", "overhead"),
    _rule("compute-bound", "compute"),
    _rule("mixed", "mixed"),
    _rule("sync-bound", "sync"),
    _rule("cpu-only", "cpu-only"),
)
