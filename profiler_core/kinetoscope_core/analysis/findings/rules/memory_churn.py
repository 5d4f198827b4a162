"""Memory of the GPU asked from the driver, or given back, in measured calls: torch's allocator keeps it instead."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import counted, name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text

if TYPE_CHECKING:
    from kinetoscope_core.analysis.findings.savings import Stretch
    from kinetoscope_core.analysis.statistics import CallId

_CALLS: Final = frozenset(
    api + name
    for api in ("cuda", "hip")
    for name in ("Malloc", "Free", "HostAlloc", "FreeHost", "MallocHost", "HostMalloc", "HostFree")
) | {"cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease"}


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    counts: Counter[str] = Counter()
    total_ns = longest_ns = 0
    spot = None
    call_ids: set[CallId | None] = set()
    saves: list[Stretch] = []
    for part in region.parts.values():
        host, innermost = part.trace.host, part.recording.attribution.nesting.innermost
        for api_call in part.api_calls:
            name = part.host_name(api_call)
            if name not in _CALLS:
                continue
            counts[name] += 1
            total_ns += host.duration_ns[api_call]
            saves.append(part.of_cpu(api_call))
            call_ids.add(part.measured_calls[innermost[api_call]])
            if host.duration_ns[api_call] > longest_ns:
                longest_ns, spot = host.duration_ns[api_call], part.spot_of_api_call(api_call)
    # The allocator grows in the first calls of any program; what goes on in half of them does not end.
    if len(call_ids) < 2 or 2 * len(call_ids) < region.measures.measured:
        return None
    return Claim(
        f"{name_of(region.measures)} allocates or frees memory through the driver in {len(call_ids)} of its measured"
        f" calls: {counted(counts)}, {time_text(total_ns)} {over_calls(region.measures)}.",
        cost_ns=total_ns,
        evidence={"api_calls": counts.total(), "cpu_ns": total_ns, "calls": len(call_ids)},
        saves=saves,
        spot=spot,
    )


RULE: Final = Rule("memory-churn", "warning", of_region=_of_region)
