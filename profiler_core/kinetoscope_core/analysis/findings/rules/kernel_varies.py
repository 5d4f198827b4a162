"""The same kernel at the same place of each call takes times too far apart for one number to be trusted.

Collectives are left out: they wait for other ranks, which exposed-communication tells.
"""

from collections import defaultdict
from typing import Final

from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import apart, kernel_text, name_of
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.statistics import CallId, median_of
from kinetoscope_core.text import time_text
from kinetoscope_core.trace.schema import KERNEL

_LEAST_CALLS: Final = 4
_SPREAD: Final = 0.25
"""(longest - shortest) / median. Kernels of the H200 recordings differ by less than a tenth."""

_LEAST_NS: Final = 20_000
"""Of the median: what is shorter varies with what its neighbours leave in the caches."""

_LEAST_PART: Final = 0.2
"""Of the region's CUDA total: the kernel must matter to the number that is shown."""


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    rows = _by_place(region)
    total = region.measures.cuda_total_ns
    if rows is None or total is None:
        return None
    worst = None
    for name, times in rows:
        median_ns = median_of(times)
        spread_ns = max(times) - min(times)
        if median_ns >= _LEAST_NS and spread_ns >= _SPREAD * median_ns and sum(times) >= _LEAST_PART * total.sum:
            worst = max(worst or (0, "", [0]), (spread_ns, name, times))
    if worst is None:
        return None
    _, name, times = worst
    median_ns = median_of(times)
    return Claim(
        f"{name_of(region.measures)}: {kernel_text(name)} takes {time_text(min(times))} to {time_text(max(times))} at"
        f" the same place in {len(times)} calls; the median is {time_text(median_ns)}"
        f" ({apart(min(times), median_ns, max(times))}).",
        cost_ns=sum(times) - len(times) * min(times),
        evidence={"min_ns": min(times), "median_ns": median_ns, "max_ns": max(times), "calls": len(times)},
        spot=region.median_spot(),
    )


def _by_place(region: RegionFacts) -> list[tuple[str, list[int]]] | None:
    """For each kernel of a call its times over the calls; `None` where they are not the same kernels each time,
    as then their shapes need not be the same either.
    """
    call_ids: defaultdict[CallId | None, list[tuple[str, int]]] = defaultdict(list)
    for part in region.parts.values():
        device, owners = part.trace.device, part.recording.attribution.activity_owner
        launches, host = part.recording.attribution.activity_launch, part.trace.host
        kernels = [
            each
            for each in part.activities
            if device.kind[each] == KERNEL and not is_collective(part.activity_name(each))
        ]
        for each in sorted(kernels, key=lambda each: (host.start_ns[launches[each]], device.start_ns[each])):
            call_ids[part.measured_calls[owners[each]]].append((part.activity_name(each), device.duration_ns[each]))
    orders = {tuple(name for name, _ in kernels) for kernels in call_ids.values()}
    if len(orders) != 1 or len(call_ids) < _LEAST_CALLS:
        return None
    (names,) = orders
    times = zip(*([ns for _, ns in kernels] for kernels in call_ids.values()), strict=True)
    return [(name, list(each)) for name, each in zip(names, times, strict=True)]


RULE: Final = Rule("kernel-time-varies", "information", of_region=_of_region, share=0)
