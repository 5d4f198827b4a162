"""What the forward pass of a region costs later, in backward: the region's own times do not hold it."""

from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text

_LEAST_PART: Final = 0.10
"""Of all device work: less is no reason to look elsewhere."""


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    measures = region.measures
    backward, total = measures.backward_cuda_ns, measures.cuda_total_ns
    if backward is None or total is None or not backward.sum or not run.device_total_ns:
        return None
    if backward.sum < _LEAST_PART * run.device_total_ns:
        return None
    # Regions nested in a forward pass have their part of the same; each one's hover shows it.
    outer = [run.regions[key].measures.backward_cuda_ns for key in region.outer]
    if any(each is not None and each.sum for each in outer):
        return None
    return Claim(
        f"{name_of(measures)} takes another {time_text(backward.sum)} on the GPU in the backward pass, on top of its"
        f" own {time_text(total.sum)} {over_calls(measures)}.",
        cost_ns=backward.sum,
        evidence={"backward_gpu_ns": backward.sum, "own_gpu_ns": total.sum},
        spot=region.median_spot(),
    )


RULE: Final = Rule("backward-elsewhere", "hint", of_region=_of_region, share=0)
