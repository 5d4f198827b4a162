"""Optimisers that go through their parameters one by one, with a handful of launches for each."""

from collections.abc import Callable
from typing import Final

from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.text import time_text

_LEAST_LAUNCHES: Final = 40
"""A call. A foreach AdamW of torch 2.11 launches a dozen for a small model, whatever the number of its tensors."""


def _launched_in(part: Part, prefix: str) -> dict[int, list[str]]:
    """The names of the activities that belong to each of torch's calls of this kind itself."""
    calls, owners = part.recording.calls, part.recording.attribution.activity_owner
    found: dict[int, list[str]] = {index: [] for index in part.annotations if calls[index].name.startswith(prefix)}
    for activity in part.activities:
        if (names := found.get(owners[activity])) is not None:
            names.append(part.activity_name(activity))
    return found


def _claim(
    region: RegionFacts, prefix: str, is_wanted: Callable[[list[str]], bool], does: str, counted: str
) -> Claim | None:
    """Of torch's annotations with that prefix: those that launch too much. `does` takes launches and time of each."""
    launches = longest_ns = 0
    steps: list[Stretch] = []
    spot = None
    for part in region.parts.values():
        calls = part.recording.calls
        for index, names in _launched_in(part, prefix).items():
            if not is_wanted(names):
                continue
            each = calls[index]
            launches += len(names)
            steps.append(Stretch(part.number, False, each.start_ns, each.start_ns + each.cpu_total_ns))
            if each.cpu_total_ns > longest_ns:
                longest_ns, spot = each.cpu_total_ns, part.spot(each.start_ns, each.cpu_total_ns)
    if not steps:
        return None
    count, cpu_ns = len(steps), sum(each.end_ns - each.start_ns for each in steps)
    return Claim(
        f"{name_of(region.measures)}: {does.format(launches // count, time_text(cpu_ns // count))}",
        cost_ns=cpu_ns,
        evidence={counted: count, "launches": launches, "cpu_ns": cpu_ns},
        saves=steps,
        spot=spot,
    )


def _step(region: RegionFacts, _run: RunFacts) -> Claim | None:
    def is_loop(names: list[str]) -> bool:
        together = sum("multi_tensor" in name or "fused" in name.lower() for name in names)
        return len(names) >= _LEAST_LAUNCHES and 2 * together < len(names)

    does = "the optimizer updates its tensors one by one, with {} launches and {} of CPU time per step."
    return _claim(region, "Optimizer.step#", is_loop, does, "steps")


def _zero_grad(region: RegionFacts, _run: RunFacts) -> Claim | None:
    does = (
        "zero_grad fills the gradients with zeros instead of setting them to None, with {} launches and {} of CPU time"
    )
    return _claim(region, "Optimizer.zero_grad#", bool, f"{does} each time.", "calls")


RULES: Final = (
    Rule("optimizer-loop", "warning", of_region=_step, says_what=("tiny-kernels", "overhead-bound", "idle-gap")),
    Rule("zero-grad", "information", of_region=_zero_grad),
)
