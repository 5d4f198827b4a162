"""Copies between GPU and ordinary memory of the host: the driver copies twice and the CPU waits for it."""

from typing import Final

from kinetoscope_core.analysis.attribution.nesting import is_wait
from kinetoscope_core.analysis.findings.copies import is_pageable
from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.overhead import PROFILING
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.text import count_text, size_text, time_text


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    saves: list[Stretch] = []
    count = copied_bytes = device_ns = cpu_ns = longest_ns = 0
    spot = None
    for part in region.parts.values():
        device, host = part.trace.device, part.trace.host
        launches = part.recording.attribution.activity_launch
        copying: set[int] = set()
        for activity in part.activities:
            if not is_pageable(part, activity):
                continue
            count += 1
            ns = device.duration_ns[activity]
            device_ns += ns
            copied_bytes += device.copied_bytes[activity]
            copying.add(launches[activity])
            if ns > longest_ns:
                longest_ns, spot = ns, part.spot_of_activity(activity)
        within = {part.operator_around(api_call) for api_call in copying} - {-1}
        copying |= {
            each for each in part.api_calls if is_wait(part.host_name(each)) and part.operator_around(each) in within
        }
        known_ns = run.timelines[part.number].known[0]  # until then a copy may wait for work that was not recorded
        for api_call in copying:
            start, end = (
                max(host.start_ns[api_call], known_ns),
                host.start_ns[api_call] + host.duration_ns[api_call],
            )
            if start < end:
                cpu_ns += end - start - part.recording.overhead(PROFILING).covered(start, end)
                saves.append(Stretch(part.number, False, start, end))
    if not count or not device_ns:
        return None
    rate = size_text(copied_bytes * 1_000_000_000 // device_ns)
    return Claim(
        f"{name_of(region.measures)} copies {size_text(copied_bytes)} from or to pageable memory in"
        f" {count_text(count, 'copy')} {over_calls(region.measures)}, at {rate}/s;"
        f" the CPU waits {time_text(cpu_ns)} for them.",
        cost_ns=cpu_ns,
        evidence={"copies": count, "bytes": copied_bytes, "gpu_ns": device_ns, "cpu_ns": cpu_ns},
        saves=saves,
        spot=spot,
    )


RULE: Final = Rule("pageable-copy", "warning", of_region=_of_region, says_what=("sync-bound",))
