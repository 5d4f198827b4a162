"""The measures of one region in a line of text, the same in a terminal and in an editor."""

from collections.abc import Iterator, Sequence

from kinetoscope_core.results.measures import Finding, RegionMeasures, Spread, Unmeasured
from kinetoscope_core.text import time_text


def region_text(region: RegionMeasures) -> str:
    """The times of one region in a line: medians, self in parentheses where it differs from total."""
    parts = [f"{kind} {_total_and_self(total, own)}" for kind, total, own in _kinds(region)]
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


def both_times(region: RegionMeasures) -> str:
    """Total and self of GPU and CPU, in full: `CUDA 801 µs (self 0 ns), CPU 14.2 ms (self 83.3 µs)`."""
    return ", ".join(
        f"{kind} {time_text(total.median)} (self {time_text(own.median)})" for kind, total, own in _kinds(region)
    )


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


def _kinds(region: RegionMeasures) -> Iterator[tuple[str, Spread, Spread]]:
    if region.cuda_total_ns is not None and region.cuda_self_ns is not None:
        yield "CUDA", region.cuda_total_ns, region.cuda_self_ns
    yield "CPU", region.cpu_total_ns, region.cpu_self_ns


def _total_and_self(total: Spread, own: Spread) -> str:
    """Self is left out where it reads as the total does, or is none."""
    text, self_text = time_text(total.median), time_text(own.median)
    return f"{text} ({self_text})" if own.median and self_text != text else text
