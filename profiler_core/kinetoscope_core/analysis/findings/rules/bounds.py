"""What limits a region: CPU, GPU or waiting (docs/measures.md, "What limits a region"). One for each region at most."""

from collections.abc import Callable
from typing import Final

from kinetoscope_core.analysis.bounds import DeviceWork
from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.results.measures import Bound, RegionMeasures
from kinetoscope_core.text import time_text


def _message(region: RegionMeasures, cpu_ns: int, busy_ns: int | None, work: DeviceWork | None) -> str:
    """The bound with the times of the median call, which say so: sums and medians of each may say the opposite
    (docs/measures.md).
    """
    name = name_of(region)
    if region.bound == "cpu-only" or busy_ns is None or region.cuda_busy_ns is None:
        return (
            f"{name} is CPU-only: it launched no GPU work in {time_text(region.cpu_total_ns.sum)} {over_calls(region)}."
        )
    gpu, cpu = time_text(busy_ns), time_text(cpu_ns)
    where = f"in the median call of {region.measured}" if region.measured > 1 else "in the one measured call"
    if region.bound == "compute":
        return f"{name} is compute-bound: the GPU worked {gpu} for {cpu} of CPU time {where}."
    if region.bound == "communication" and work is not None:
        alone = f"{time_text(work.communication_ns)} of the {time_text(work.worked_ns)} that the GPU worked"
        return f"{name} is communication-bound: for {alone}, only collectives ran, {where}."
    if region.bound == "copy" and work is not None:
        alone = f"{time_text(work.copying_ns)} of the {time_text(work.worked_ns)} that the GPU worked"
        return f"{name} is copy-bound: for {alone}, it only copied or filled memory, {where}."
    worked = f"the GPU worked {gpu} of {cpu} ({percent(busy_ns, cpu_ns)}) {where}"
    if region.bound == "overhead":
        busy_sum_ns, cpu_sum_ns = region.cuda_busy_ns.sum, region.cpu_total_ns.sum
        if 2 * busy_sum_ns < cpu_sum_ns:  # the sums of all calls say the same, and more
            gpu, cpu = time_text(busy_sum_ns), time_text(cpu_sum_ns)
            worked = f"the GPU worked {gpu} of {cpu} ({percent(busy_sum_ns, cpu_sum_ns)}) {over_calls(region)}"
        return f"{name} is overhead-bound: {worked}."
    if region.bound == "sync":
        return f"{name} is sync-bound: the CPU mostly waits for a GPU that is mostly idle; {worked}."
    return f"{name} is mixed: CPU and GPU take about as long; {worked}."


def _claims(bound: Bound) -> Callable[[RegionFacts, RunFacts], Claim | None]:
    def of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
        measures = region.measures
        if measures.bound != bound:
            return None
        number, index = region.median
        median = run.recordings[number].calls[index]
        busy, launches = measures.cuda_busy_ns, measures.launches
        evidence: dict[str, int | str] = {"calls": measures.measured, "cpu_ns": measures.cpu_total_ns.sum}
        evidence["median_cpu_ns"] = median.cpu_total_ns
        evidence |= {"gpu_busy_ns": busy.sum} if busy else {}
        evidence |= {} if median.cuda_busy_ns is None else {"median_gpu_busy_ns": median.cuda_busy_ns}
        evidence |= {"launches_per_call": launches.median} if launches else {}
        message = _message(measures, median.cpu_total_ns, median.cuda_busy_ns, run.limits[region.key].work)
        return Claim(message, measures.cpu_total_ns.sum, evidence, spot=region.median_spot())

    return of_region


def _rule(code: str, bound: Bound) -> Rule:
    return Rule(code, "hint", of_region=_claims(bound), share=0, is_bound=True)


RULES: Final = (
    _rule("overhead-bound", "overhead"),
    _rule("compute-bound", "compute"),
    _rule("communication-bound", "communication"),
    _rule("copy-bound", "copy"),
    _rule("mixed", "mixed"),
    _rule("sync-bound", "sync"),
    _rule("cpu-only", "cpu-only"),
)
