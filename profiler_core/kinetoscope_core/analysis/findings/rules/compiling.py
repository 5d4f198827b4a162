"""torch.compile at work in measured calls: compiling, and what a call of compiled code costs the CPU."""

import re
from typing import TYPE_CHECKING, Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text

if TYPE_CHECKING:
    from kinetoscope_core.analysis.findings.savings import Stretch

_COMPILED: Final = re.compile(r"Torch-Compiled Region: (\d+/\d+)$")
_LOOKUP: Final = "TorchDynamo Cache Lookup"

# What a call that compiles is in from the outside: `dynamo` from torch 2.10 on, the others before it.
_COMPILATION: Final = (
    "dynamo",
    "entire_frame_compile",
    "_compile.compile_inner",
    "_compile.compile_inner (dynamo_timed)",
)

_LEAST_PART: Final = 0.5
"""Of the region's CPU total: below it, the compiled code is not what the region's CPU time is about."""


def _compiling(region: RegionFacts, _run: RunFacts) -> Claim | None:
    total_ns = longest_ns = count = 0
    spot = None
    graphs: set[str] = set()
    saves: list[Stretch] = []
    for part in region.parts.values():
        host = part.trace.host
        for operator in part.operators:
            name = part.host_name(operator)
            if found := _COMPILED.match(name):
                graphs.add(found[1])
            if name not in _COMPILATION:
                continue
            count += 1
            ns = host.duration_ns[operator]
            total_ns += ns
            saves.append(part.of_cpu(operator))
            if ns > longest_ns:
                longest_ns, spot = ns, part.spot(host.start_ns[operator], ns)
    if not count:
        return None
    versions = f" (graphs {', '.join(sorted(graphs))})" if len(graphs) > 1 else ""
    measures = region.measures
    return Claim(
        f"{name_of(measures)} compiles {count}× {over_calls(measures)}{versions}, which takes"
        f" {time_text(total_ns)} of {time_text(measures.cpu_total_ns.sum)}.",
        cost_ns=total_ns,
        evidence={"compilations": count, "compiling_ns": total_ns, "graphs": len(graphs)},
        saves=saves,
        spot=spot,
    )


def _tax(region: RegionFacts, _run: RunFacts) -> Claim | None:
    """The CPU time of compiled code and its guards, less the CUDA calls and the operators of others in it."""
    measures = region.measures
    if measures.bound not in ("overhead", "mixed", None) or measures.cuda_busy_ns is None:
        return None
    wrapper_ns = lookup_ns = count = 0
    for part in region.parts.values():
        host = part.trace.host
        compiled = {each for each in part.operators if _COMPILED.match(part.host_name(each))}
        if any(part.host_name(each) in _COMPILATION for each in part.operators):
            return None  # compiling says more
        count += len(compiled)
        wrapper_ns += sum(host.duration_ns[each] for each in compiled)
        wrapper_ns -= sum(
            host.duration_ns[api_call] for api_call in part.api_calls if part.operator_around(api_call) in compiled
        )
        lookups = (each for each in part.operators if part.host_name(each) == _LOOKUP)
        lookup_ns += sum(host.duration_ns[each] for each in lookups)
    overhead_ns = measures.overhead_ns
    tax_ns = max(wrapper_ns + lookup_ns - overhead_ns, 0)
    cpu_ns = measures.cpu_total_ns.sum - overhead_ns
    if not count or tax_ns < _LEAST_PART * cpu_ns:
        return None
    return Claim(
        f"{name_of(measures)} runs compiled code {count}× {over_calls(measures)}. Each time costs"
        f" {time_text(tax_ns // count)} of CPU time without the launches ({percent(tax_ns, cpu_ns)} of the region),"
        f" for {time_text(measures.cuda_busy_ns.sum // count)} of GPU work.",
        cost_ns=max(tax_ns - measures.cuda_busy_ns.sum, 0),
        evidence={"compiled_calls": count, "wrapper_ns": tax_ns, "guards_ns": lookup_ns},
        spot=region.median_spot(),
    )


RULES: Final = (
    Rule(
        "compiling",
        "warning",
        of_region=_compiling,
        says_what=("cold-start", "overhead-bound", "cpu-only"),
        is_of_cpu=True,
    ),
    Rule("compile-tax", "information", of_region=_tax, says_what=("overhead-bound", "mixed", "idle-gap")),
)
