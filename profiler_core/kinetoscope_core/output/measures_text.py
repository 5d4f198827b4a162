"""The measures of one region in a line of text, the same in a terminal and in an editor."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final

from kinetoscope_core.results.contents import CalledKernel, CalledOperator, Caller, Contents
from kinetoscope_core.results.measures import Finding, RegionMeasures, Spread, Unmeasured
from kinetoscope_core.results.summary import LargestRegion
from kinetoscope_core.text import printable, range_text, time_text

WIDE: Final = 2
"""From there on, the longest call of the middle half over the shortest, a median says little: the bounds of a region
differ by that factor (docs/measures.md, "Several calls").
"""


_MANY_CALLS: Final = 100


def region_text(region: RegionMeasures) -> str:
    """The times of one region in a line: medians, self in parentheses where it differs from total."""
    parts = [
        f"{kind} {typical_text(total, middle)}{_self_text(total, own, middle)}"
        for kind, total, own, middle in _kinds(region)
    ]
    text = " · ".join(parts) + f" ×{region.measured}"
    if region.bound is not None:
        text += f"  {bound_text(region.bound)}"
    if region.is_cold:
        text += ", cold"
    if region.is_raised:
        text += f", {_raised_text(region)}"
    if region.names > 1:
        text += f", {region.names} names"
    if region.overhead_ns:
        text += f", profiler overhead {time_text(region.overhead_ns)} in total"
    return text


def contents_text(contents: Contents) -> str:
    """What a recording without regions holds: the phases, the longest first (the median of each per step, else in sum);
    without phases the costliest kernels, or operators.
    """
    steps = contents.steps
    times = [
        (each.name, each.cpu_per_step_ns.median, each.cuda_per_step_ns and each.cuda_per_step_ns.median)
        if each.cpu_per_step_ns is not None
        else (each.name, each.cpu_ns, each.cuda_ns)
        for each in contents.phases
    ]
    begin = f"A step takes {time_text(steps.took_ns.median)}" if steps is not None else "In all"
    if not times:
        times = [(each.short + _called_in(each), None, each.total_ns) for each in contents.kernels[:3]]
        times = times or [(each.name + _called_in(each), each.cpu_total_ns, None) for each in contents.operators[:3]]
        begin = "Most expensive"
    parts: list[str] = []
    for name, cpu_ns, cuda_ns in sorted(times, key=lambda each: -(each[1] or each[2] or 0)):
        kinds = [("CPU", cpu_ns), ("CUDA", cuda_ns or None)]
        parts.append(
            f"{printable(name)} " + ", ".join(f"{kind} {time_text(ns)}" for kind, ns in kinds if ns is not None)
        )
    return f"{begin}: {'; '.join(parts)}."


def _called_in(share: CalledKernel | CalledOperator) -> str:
    return f" (in {caller_text(share.callers[0])})" if share.callers else ""


def caller_text(caller: Caller) -> str:
    """Which function of the user's it is, and where: `forward, model.py:12`."""
    return printable(f"{caller.function}, {PurePath(caller.file).name}:{caller.line}")


def both_times(region: RegionMeasures) -> str:
    """Total and self of GPU and CPU, in full: `CUDA 801 µs (self 0 ns), CPU 14.2 ms (self 83.3 µs)`."""
    return ", ".join(
        f"{kind} {typical_text(total, middle)} (self {time_text(own.median)})"
        for kind, total, own, middle in _kinds(region)
    )


def typical_text(total: Spread, middle: tuple[int, int] | None) -> str:
    """The median; where the calls lie wide apart, from where to where their middle half goes."""
    return range_text(middle) if middle and is_wide(middle) else time_text(total.median)


def is_wide(middle: tuple[int, int] | None) -> bool:
    """Whether calls differ so much that none of them stands for the others."""
    return middle is not None and middle[1] > middle[0] and middle[1] >= WIDE * middle[0]


def calls_mark(regions: Sequence[RegionMeasures]) -> str:
    """What to know of the calls before the times are believed: `×1`, `×3 cold`, `raised ValueError`; nothing of several
    warm ones that returned. Of several regions it is that of the least sure.
    """
    raised = [each for each in regions if each.is_raised]
    if raised:
        return _raised_text(raised[0]) if len(regions) == 1 else f"{len(raised)} raised"
    least = min(region.measured for region in regions)
    if any(region.is_cold for region in regions):
        return f"×{least} cold" if least < _MANY_CALLS else "cold"
    return "×1" if least == 1 else ""


def raised_note(region: RegionMeasures) -> str:
    """How many of its calls an exception ended, and whether they count: `1 raised ValueError, not counted`."""
    return f"{region.raised} {_raised_text(region)}" + ("" if region.is_raised else ", not counted")


def _raised_text(region: RegionMeasures) -> str:
    return f"raised {printable(region.exception or '')}"


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


def active(findings: Sequence[Finding]) -> list[Finding]:
    """Those that no comment in the source switches off."""
    return [each for each in findings if not each.is_suppressed]


def bound_text(bound: str) -> str:
    """What limits a region, as people read it: `overhead-bound`, `mixed`."""
    return bound if bound in ("mixed", "cpu-only") else f"{bound}-bound"


def _kinds(region: RegionMeasures) -> Iterator[tuple[str, Spread, Spread, tuple[int, int] | None]]:
    if region.cuda_total_ns is not None and region.cuda_self_ns is not None:
        yield "CUDA", region.cuda_total_ns, region.cuda_self_ns, region.cuda_middle_ns
    yield "CPU", region.cpu_total_ns, region.cpu_self_ns, region.cpu_middle_ns


def _self_text(total: Spread, own: Spread, middle: tuple[int, int] | None) -> str:
    """Left out where it reads as the total does, is none, or the total is no one number."""
    text = time_text(own.median)
    return f" ({text})" if own.median and text != time_text(total.median) and not is_wide(middle) else ""
