"""The longest stretch of the median call in which no GPU worked, and what the CPU did meanwhile.

Most calls must have one: what happens once is no property of the region. The cost is theirs together.
"""

from bisect import bisect_left
from collections import Counter
from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.overhead import PROFILING
from kinetoscope_core.analysis.findings.phrases import name_of, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import CallId
from kinetoscope_core.results.measures import Call
from kinetoscope_core.text import printable, time_text

_LEAST_NS: Final = 500_000
"""Fifty launches under the profiler: shorter gaps are the pace of launching, which other rules tell."""

_LEAST_PART: Final = 0.2
"""Of the call: a smaller gap is not what makes it long."""

_HOLDS: Final = 0.9
"""Of the gap: the rest is the way into a nested region and out of it."""

_MOST_DOINGS: Final = 3

_SEEN_THROUGH: Final = ("ProfilerStep#", "DistributedDataParallel.")
"""Annotations of torch that say nothing of what the CPU does."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    found = {call_id: gap for call_id in region.measured if (gap := _gap(call_id, run)) is not None}
    gap = found.get(region.median)
    if gap is None or 2 * len(found) < len(region.measured):
        return None
    number, index = region.median
    recording = run.recordings[number]
    if _holds(recording, number, index, gap, run):
        return None
    gap_ns, call_ns = gap[1] - gap[0], recording.calls[index].cpu_total_ns
    saves = [Stretch(at, False, *each) for (at, _), each in found.items()]
    doings = _doings(region, number, index, gap)
    what = ", ".join(f"{printable(name)} ({time_text(ns)})" for name, ns in doings.most_common(_MOST_DOINGS) if ns)
    return Claim(
        f"{name_of(region.measures)}: the GPU was idle for {time_text(gap_ns)} of the median call"
        f" ({percent(gap_ns, call_ns)}) while the CPU ran {what}.",
        cost_ns=sum(each.end_ns - each.start_ns for each in saves),
        evidence={
            "gap_ns": gap_ns,
            "call_ns": call_ns,
            "calls_with_one": len(found),
            "cpu_was_in": doings.most_common(1)[0][0],
        },
        saves=saves,
        spot=region.parts[number].spot(gap[0], gap_ns),
    )


def _gap(call_id: CallId, run: RunFacts) -> tuple[int, int] | None:
    """The longest stretch of a call without work, if it is worth telling."""
    number, index = call_id
    recording = run.recordings[number]
    call = recording.calls[index]
    if not call.launches:
        return None
    start, end = call.start_ns, call.start_ns + call.cpu_total_ns
    gap = run.timelines[number].longest_gap(start, end)
    gap_ns = gap[1] - gap[0]
    if gap_ns < _LEAST_NS or gap_ns < _LEAST_PART * call.cpu_total_ns:
        return None
    # What is mostly the profiler's own work, profiler-overhead tells.
    return None if 2 * recording.overhead(PROFILING).covered(*gap) > gap_ns else gap


def _holds(recording: Recording, number: int, index: int, gap: tuple[int, int], run: RunFacts) -> bool:
    """Whether one region of the user's, nested in the call, holds the gap: it is the one to tell."""
    calls, keys = recording.calls, recording.keys
    inside = list(run.nested_in(number, index))
    while inside:
        each = inside.pop()
        if not _is_around(calls[each], gap):
            continue
        if not calls[each].launches:  # and so nothing in it has any
            continue
        if keys[each] in run.regions:
            return True
        inside += run.nested_in(number, each)
    return False


def _is_around(call: Call, gap: tuple[int, int]) -> bool:
    inside_ns = min(gap[1], call.start_ns + call.cpu_total_ns) - max(gap[0], call.start_ns)
    return inside_ns >= _HOLDS * (gap[1] - gap[0])


def _doings(region: RegionFacts, number: int, index: int, gap: tuple[int, int]) -> Counter[str]:
    """How long each thing that stands directly in the call lay in the gap; what is left was Python's, or that of
    the autograd thread, for which the region's own waits inside of `backward()`.
    """
    part = region.parts[number]
    recording = part.recording
    attribution, host, names = recording.attribution, recording.trace.host, recording.trace.names
    own = attribution.slices[index]
    order = recording.order_of(host.thread[own])
    place = order.index(own, bisect_left(order, host.start_ns[own], key=host.start_ns.__getitem__))
    doings: Counter[str] = Counter()
    covered_until = host.start_ns[own]
    for at in range(place + 1, len(order)):
        each = order[at]
        start, end = host.start_ns[each], host.start_ns[each] + host.duration_ns[each]
        if start >= gap[1]:
            break
        name = names[host.name[each]]
        if start >= covered_until and not name.startswith(_SEEN_THROUGH):
            covered_until = end
            inside_ns = min(end, gap[1]) - max(start, gap[0])
            if inside_ns > 0:
                doings[name] += inside_ns
    launches = (attribution.activity_launch[each] for each in part.activities)
    has_backward = any(launch >= 0 and host.thread[launch] != host.thread[own] for launch in launches)
    doings["backward" if has_backward else "Python"] = gap[1] - gap[0] - doings.total()
    return doings


RULE: Final = Rule(
    "idle-gap", "warning", of_region=_of_region, says_what=("overhead-bound", "mixed"), is_inclusive=True
)
