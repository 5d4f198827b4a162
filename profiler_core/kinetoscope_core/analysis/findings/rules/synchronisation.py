"""The CPU stops in the region until the GPU is done: harmful where the GPU then stands still until the next launch,
and where it does not, the explanation of a time that is another region's work.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.attribution.nesting import is_wait
from kinetoscope_core.analysis.findings.copies import pageable_operators, pinned_operators
from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import counted, name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.text import time_text

_MOST_OF: Final = 0.5
"""Of the region's CPU total: then its time is that of other work."""

_BUSY: Final = 0.9
"""Of the waiting: the rest is what the call itself takes."""

_LOST: Final = 0.1
"""Of the waiting: if less can be gained, that the GPU was busy says more."""

_EXPLICIT: Final = {
    "DeviceSynchronize": "torch.cuda.synchronize()",
    "StreamSynchronize": "a stream's synchronize()",
    "EventSynchronize": "an event's synchronize()",
}


def _cause(part: Part, api_call: int) -> str:
    """The operator that waits, or what was called without one."""
    operator = part.operator_around(api_call)
    if operator >= 0:
        return part.trace.names[part.trace.host.name[operator]]
    name = part.host_name(api_call)
    return next((text for end, text in _EXPLICIT.items() if name.endswith(end)), name)


@dataclass(slots=True)
class _Waits:
    """Waits of a region, those in pageable copies left out, which pageable-copy tells of.

    `lost_ns` is what can be gained at most: without a wait, what comes after it is launched that much earlier and no
    more, and the device gains no more than it stands still until the thread waits again.
    `pinned` counts the waits in copies from pinned memory to the GPU, which need none.
    """

    causes: Counter[str] = field(default_factory=Counter[str])
    waited_ns: int = 0
    busy_ns: int = 0
    lost_ns: int = 0
    lost: list[Stretch] = field(default_factory=list[Stretch])
    pinned: int = 0
    longest_ns: int = 0
    spot: Spot | None = None


def _waits(region: RegionFacts, run: RunFacts) -> _Waits:
    waits = _Waits()
    for part in region.parts.values():
        host, timeline = part.trace.host, run.timelines[part.number]
        api_calls = [api_call for api_call in part.api_calls if is_wait(part.host_name(api_call))]
        if not api_calls:
            continue
        spans: list[tuple[int, int]] = []
        copying, pinned = pageable_operators(part), pinned_operators(part)
        for api_call in api_calls:
            if part.operator_around(api_call) in copying:
                continue
            start, ns = host.start_ns[api_call], host.duration_ns[api_call]
            busy_ns = timeline.covered(start, start + ns)
            waits.causes[_cause(part, api_call)] += 1
            waits.waited_ns += ns
            waits.pinned += part.operator_around(api_call) in pinned
            waits.busy_ns += busy_ns
            span, lost_ns = timeline.idle_until_next_wait(host.thread[api_call], start, ns)
            waits.lost_ns += lost_ns
            spans.append(span)
            if ns > waits.longest_ns:
                waits.longest_ns, waits.spot = ns, part.spot_of_api_call(api_call)
        lost = (gap for span in Union(span for span in spans if span[0] < span[1]) for gap in timeline.gaps(*span))
        waits.lost += (Stretch(part.number, False, *gap) for gap in lost)
    return waits


def _synchronisation(region: RegionFacts, run: RunFacts) -> Claim | None:
    waits = _waits(region, run)
    if not waits.causes or (waits.lost_ns < _LOST * waits.waited_ns and _is_for_a_busy_gpu(waits, region)):
        return None
    count = waits.causes.total()
    return Claim(
        f"{name_of(region.measures)} waits for the GPU {count}× {over_calls(region.measures)}"
        f" ({counted(waits.causes)}), {time_text(waits.waited_ns)} in total; without these waits the GPU"
        f" could continue up to {time_text(waits.lost_ns)} sooner.",
        cost_ns=waits.lost_ns,
        evidence={
            "waits": count,
            "waited_ns": waits.waited_ns,
            "lost_ns": waits.lost_ns,
            "pinned_waits": waits.pinned,
            "cause": waits.causes.most_common(1)[0][0],
        },
        saves=waits.lost,
        spot=waits.spot,
    )


def _is_for_a_busy_gpu(waits: _Waits, region: RegionFacts) -> bool:
    return waits.waited_ns >= _MOST_OF * region.measures.cpu_total_ns.sum and waits.busy_ns >= _BUSY * waits.waited_ns


def _waiting_for_gpu(region: RegionFacts, run: RunFacts) -> Claim | None:
    waits, cpu_ns = _waits(region, run), region.measures.cpu_total_ns.sum
    if not waits.causes or not _is_for_a_busy_gpu(waits, region):
        return None
    return Claim(
        f"{name_of(region.measures)} spends {time_text(waits.waited_ns)} of {time_text(cpu_ns)} waiting for the GPU"
        f" {over_calls(region.measures)} ({counted(waits.causes)}), which was busy with work launched before.",
        cost_ns=waits.waited_ns,
        evidence={"waits": waits.causes.total(), "waited_ns": waits.waited_ns, "gpu_busy_ns": waits.busy_ns},
        spot=waits.spot,
    )


RULES: Final = (
    Rule(
        "synchronisation",
        "warning",
        of_region=_synchronisation,
        says_what=("sync-bound", "cpu-only", "waiting-for-gpu"),
    ),
    Rule("waiting-for-gpu", "information", of_region=_waiting_for_gpu, says_what=("sync-bound", "cpu-only")),
)
