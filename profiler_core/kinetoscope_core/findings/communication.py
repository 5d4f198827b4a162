"""Collectives that run while no other kernel does: the GPU moves data, or waits for other ranks."""

from functools import lru_cache
from typing import Final

from kinetoscope_core.attribution.intervals import Union
from kinetoscope_core.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.findings.phrases import kernel_text, name_of, over_calls, percent
from kinetoscope_core.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text
from kinetoscope_core.trace.schema import KERNEL

_PREFIXES: Final = ("nccl", "rccl")
_SHARE: Final = 0.05
_WAITS_FROM: Final = 3
"""Longest over shortest run of one collective: that far apart, size or waiting is worth a word."""


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    exposed_ns = total_ns = 0
    by_name: dict[str, list[int]] = {}
    longest: tuple[int, Part, int] | None = None
    for part in region.parts.values():
        device = part.trace.device
        collectives = [each for each in part.activities if is_collective(part.activity_name(each))]
        if not collectives:
            continue
        computing = Union(
            (device.start_ns[each], device.start_ns[each] + device.duration_ns[each])
            for each in range(len(device))
            if device.kind[each] == KERNEL and not is_collective(part.activity_name(each))
        )
        spans = sorted(
            (device.start_ns[each], device.start_ns[each] + device.duration_ns[each]) for each in collectives
        )
        exposed_ns += _exposed(spans, computing)
        for each in collectives:
            ns = device.duration_ns[each]
            total_ns += ns
            by_name.setdefault(part.activity_name(each), []).append(ns)
            if longest is None or ns > longest[0]:
                longest = ns, part, each
    if longest is None:
        return None
    _, part, activity = longest
    name, times = max(by_name.items(), key=lambda each: sum(each[1]))
    waiting = (
        f" {kernel_text(name)} took {time_text(min(times))} to {time_text(max(times))}:"
        " the long ones send more, or wait for other ranks."
        if max(times) >= _WAITS_FROM * min(times)
        else ""
    )
    return Claim(
        f"{name_of(region.measures)} communicates for {time_text(total_ns)} {over_calls(region.measures)},"
        f" {time_text(exposed_ns)} ({percent(exposed_ns, total_ns)}) while nothing is computed.{waiting}",
        cost_ns=exposed_ns,
        evidence={"collectives": sum(map(len, by_name.values())), "gpu_ns": total_ns, "exposed_ns": exposed_ns},
        saves_at_most_ns=exposed_ns,
        spot=part.spot_of_activity(activity),
    )


@lru_cache(maxsize=1024)
def is_collective(kernel: str) -> bool:
    """Whether a kernel moves data between ranks."""
    return kernel.lower().startswith(_PREFIXES)


def _exposed(spans: list[tuple[int, int]], computing: Union) -> int:
    """The union of the spans, less what is covered."""
    exposed_ns, until = 0, 0
    for start, end in spans:
        begin = max(start, until)
        if end > begin:
            exposed_ns += end - begin - computing.covered(begin, end)
            until = end
    return exposed_ns


RULE: Final = Rule("exposed-communication", "warning", of_region=_of_region, share=_SHARE)
