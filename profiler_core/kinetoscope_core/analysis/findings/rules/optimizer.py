"""Optimisers that go through their parameters one by one, with a handful of launches for each."""

from collections.abc import Callable
from typing import Final

from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.results.measures import Spot
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


def _sums(
    region: RegionFacts, prefix: str, is_wanted: Callable[[list[str]], bool]
) -> tuple[int, int, list[Stretch], Spot | None]:
    """Calls of torch's annotation that launch too much: how many, with how many launches, when, the longest."""
    count = launches = longest_ns = 0
    steps: list[Stretch] = []
    spot = None
    for part in region.parts.values():
        calls = part.recording.calls
        for index, names in _launched_in(part, prefix).items():
            if not is_wanted(names):
                continue
            each = calls[index]
            count += 1
            launches += len(names)
            steps.append(Stretch(part.number, False, each.start_ns, each.start_ns + each.cpu_total_ns))
            if each.cpu_total_ns > longest_ns:
                longest_ns, spot = each.cpu_total_ns, part.spot(each.start_ns, each.cpu_total_ns)
    return count, launches, steps, spot


def _step(region: RegionFacts, _run: RunFacts) -> Claim | None:
    def is_loop(names: list[str]) -> bool:
        together = sum("multi_tensor" in name or "fused" in name.lower() for name in names)
        return len(names) >= _LEAST_LAUNCHES and 2 * together < len(names)

    count, launches, steps, spot = _sums(region, "Optimizer.step#", is_loop)
    if not count:
        return None
    cpu_ns = sum(each.end_ns - each.start_ns for each in steps)
    return Claim(
        f"{name_of(region.measures)}: the optimizer updates its tensors one by one, with {launches // count} launches"
        f" and {time_text(cpu_ns // count)} of CPU time per step.",
        cost_ns=cpu_ns,
        evidence={"steps": count, "launches": launches, "cpu_ns": cpu_ns},
        saves=steps,
        spot=spot,
    )


def _zero_grad(region: RegionFacts, _run: RunFacts) -> Claim | None:
    count, launches, steps, spot = _sums(region, "Optimizer.zero_grad#", bool)
    if not count:
        return None
    cpu_ns = sum(each.end_ns - each.start_ns for each in steps)
    return Claim(
        f"{name_of(region.measures)}: zero_grad fills the gradients with zeros instead of setting them to None, with"
        f" {launches // count} launches and {time_text(cpu_ns // count)} of CPU time each time.",
        cost_ns=cpu_ns,
        evidence={"calls": count, "launches": launches, "cpu_ns": cpu_ns},
        saves=steps,
        spot=spot,
    )


RULES: Final = (
    Rule("optimizer-loop", "warning", of_region=_step, says_what=("tiny-kernels", "overhead-bound", "idle-gap")),
    Rule("zero-grad", "information", of_region=_zero_grad),
)
