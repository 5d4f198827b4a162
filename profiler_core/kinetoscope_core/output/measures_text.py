"""The measures of one region in a line of text, the same in a terminal and in an editor."""

from collections.abc import Sequence

from kinetoscope_core.results.measures import Finding, RegionMeasures, Spread, Unmeasured
from kinetoscope_core.results.summary import LargestRegion
from kinetoscope_core.text import printable, time_text


def region_text(region: RegionMeasures) -> str:
    """The times of one region in a line: medians, self in parentheses where it differs from total."""
    parts: list[str] = []
    if region.cuda_total_ns is not None and region.cuda_self_ns is not None:
        parts.append("CUDA " + _total_and_self(region.cuda_total_ns, region.cuda_self_ns))
    parts.append("CPU " + _total_and_self(region.cpu_total_ns, region.cpu_self_ns))
    text = " · ".join(parts) + f" ×{region.measured}"
    if region.bound is not None:
        text += f"  {bound_text(region.bound)}"
    if region.is_cold:
        text += ", cold"
    if region.names > 1:
        text += f", {region.names} names"
    if region.overhead_ns:
        text += f", profiler overhead {time_text(region.overhead_ns)} in total"
    return text


def largest_text(region: LargestRegion) -> str:
    """Its name and CUDA time, the CPU's where no GPU work was measured."""
    time = f"CPU {time_text(region.cpu_total_ns)}"
    if region.cuda_total_ns is not None:
        time = f"CUDA {time_text(region.cuda_total_ns)}"
    return f"{printable(region.name)} {time}"


def unmeasured_text(region: Unmeasured) -> str:
    """The same of a region that has no times: a part of a call is no measure of one."""
    if region.at_least_ns is None:
        return "without times"
    return f"CPU at least {time_text(region.at_least_ns)}, not ended"


def finding_text(finding: Finding) -> str:
    """The message of a finding, with what can be gained where that is known."""
    if finding.saves_per_call_ns is None:
        return finding.message
    return f"{finding.message} Could save up to {time_text(finding.saves_per_call_ns)} per {finding.call_is}."


def active(findings: Sequence[Finding]) -> list[Finding]:
    """Those that no comment in the source switches off."""
    return [each for each in findings if not each.is_suppressed]


def bound_text(bound: str) -> str:
    """What limits a region, as people read it: `overhead-bound`, `mixed`."""
    return bound if bound in ("mixed", "cpu-only") else f"{bound}-bound"


def _total_and_self(total: Spread, own: Spread) -> str:
    text = time_text(total.median)
    return text if own.median == total.median else f"{text} ({time_text(own.median)})"
