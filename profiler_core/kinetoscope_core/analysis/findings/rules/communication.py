"""Collectives that run while no other kernel does: the GPU moves data, or waits for other ranks."""

from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import kernel_text, name_of, over_calls, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.text import time_text
from kinetoscope_core.trace.schema import KERNEL

_SHARE: Final = 0.05
_WAITS_FROM: Final = 3
"""Longest over shortest run of one collective: that far apart, size or waiting is worth a word."""


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    total_ns = 0
    exposed: list[Stretch] = []
    by_name: dict[str, list[int]] = {}
    longest: tuple[int, Part, int] | None = None
    for part in region.parts.values():
        device = part.trace.device
        spans: dict[int, list[tuple[int, int]]] = {}
        for each in part.activities:
            name = part.activity_name(each)
            if device.kind[each] != KERNEL or not is_collective(name):
                continue
            start_ns, ns = device.start_ns[each], device.duration_ns[each]
            spans.setdefault(device.device[each], []).append((start_ns, start_ns + ns))
            total_ns += ns
            by_name.setdefault(name, []).append(ns)
            if longest is None or ns > longest[0]:
                longest = ns, part, each
        for on, collectives in spans.items():
            alone = Union(collectives).without(part.recording.computing(on))
            exposed += [Stretch(part.number, True, *span) for span in alone]
    exposed_ns = sum(each.end_ns - each.start_ns for each in exposed)
    if longest is None:
        return None
    _, part, activity = longest
    name, times = max(by_name.items(), key=lambda each: sum(each[1]))
    waiting = (
        f" {kernel_text(name)} took {time_text(min(times))} to {time_text(max(times))}:"
        " the long ones send more data, or wait for other ranks."
        if max(times) >= _WAITS_FROM * min(times)
        else ""
    )
    return Claim(
        f"{name_of(region.measures)} communicates for {time_text(total_ns)} {over_calls(region.measures)},"
        f" {time_text(exposed_ns)} ({percent(exposed_ns, total_ns)}) while nothing is computed.{waiting}",
        cost_ns=exposed_ns,
        evidence={"collectives": sum(map(len, by_name.values())), "gpu_ns": total_ns, "exposed_ns": exposed_ns},
        saves=exposed,
        spot=part.spot_of_activity(activity),
    )


RULE: Final = Rule("exposed-communication", "warning", of_region=_of_region, share=_SHARE)
