"""Copies on the device inside of operators that were asked for something else: a layout had to be made first."""

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import counted, name_of, over_calls, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text

if TYPE_CHECKING:
    from kinetoscope_core.analysis.findings.savings import Stretch

_COPY: Final = re.compile(r"direct_copy_kernel|Memcpy DtoD")

# These copy because they were asked to: by their names, or by what autocast and `.to()` are for.
_ASKED: Final = re.compile(
    r"aten::(copy_|clone|contiguous|to|_to_copy|cat|stack|cuda|type_as|float|half|bfloat16)$|.*Copy|c10d::|nccl"
)

_LEAST_PART: Final = 0.05
"""Of the region's CUDA total."""


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    total = region.measures.cuda_total_ns
    if total is None:
        return None
    count = total_ns = longest_ns = 0
    spot = None
    operators: Counter[str] = Counter()
    saves: list[Stretch] = []
    for part in region.parts.values():
        trace, launches = part.trace, part.recording.attribution.activity_launch
        device, host = trace.device, trace.host
        copying = part.recording.named(_COPY)
        for activity in part.activities:
            if device.name[activity] not in copying:
                continue
            operator = part.operator_around(launches[activity])
            if operator < 0 or _ASKED.match(trace.names[host.name[operator]]):
                continue
            count += 1
            ns = device.duration_ns[activity]
            total_ns += ns
            saves.append(part.of_device(activity))
            operators[trace.names[host.name[operator]]] += 1
            if ns > longest_ns:
                longest_ns, spot = ns, part.spot_of_activity(activity)
    if not count or total_ns < _LEAST_PART * total.sum:
        return None
    return Claim(
        f"{name_of(region.measures)} copies on the GPU {count}× {over_calls(region.measures)} inside other operators"
        f" ({counted(operators)}): {time_text(total_ns)}, {percent(total_ns, total.sum)} of its CUDA time.",
        cost_ns=total_ns,
        evidence={"copies": count, "gpu_ns": total_ns, "operator": operators.most_common(1)[0][0]},
        saves=saves,
        spot=spot,
    )


RULE: Final = Rule("hidden-copy", "information", of_region=_of_region)
