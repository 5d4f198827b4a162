"""Matrix products and convolutions in plain fp32 on a GPU that has tensor cores for TF32.

Told at the costliest region alone: one setting changes them all.
"""

import re
from collections import Counter
from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import kernel_text, name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.text import count_text, time_text
from kinetoscope_core.trace.schema import KERNEL

# Names that say both: single precision without tensor cores (simt, ffma, sgemm), built for compute capability 8.0 or
# newer (80, ampere). Those of Volta also run on newer GPUs and say nothing; TF32 and bf16 ones have other types.
_FP32: Final = re.compile(
    r"cutlass_[89]\d_simt_sgemm|sm[89]\d_xmma_\w{1,99}?_f32f32_f32f32_f32_\w{0,99}?ffma|ampere_sgemm|cudnn_ampere_scudnn"
)

_LEAST_NS: Final = 10_000
"""What a launch takes: a product that is over sooner gets no faster, as the CPU cannot launch faster."""

_LEAST_KERNELS: Final = 2
"""A single one may have been slow by chance: eleven others like it took 9 µs each, it took 2,440 (a public trace)."""

_LEAST_PART: Final = 0.05
"""Of the region's CUDA total."""


def _of_region(region: RegionFacts, _run: RunFacts) -> Claim | None:
    counts: Counter[str] = Counter()
    total_ns = longest_ns = 0
    spot = None
    saves: list[Stretch] = []
    for part in region.parts.values():
        device, names = part.trace.device, part.trace.names
        in_fp32 = part.recording.named(_FP32)
        for activity in part.activities if in_fp32 else ():
            ns = device.duration_ns[activity]
            if device.kind[activity] != KERNEL or device.name[activity] not in in_fp32 or ns < _LEAST_NS:
                continue
            total_ns += ns
            counts[names[device.name[activity]]] += 1
            # A100 and H100 multiply eight and seven times as fast in TF32 as in fp32.
            start_ns = device.start_ns[activity]
            saves.append(Stretch(part.number, True, start_ns, start_ns + ns * 7 // 8))
            if ns > longest_ns:
                longest_ns, spot = ns, part.spot_of_activity(activity)
    total = region.measures.cuda_total_ns
    if not counts or total is None:
        return None
    count = counts.total()
    if count < _LEAST_KERNELS or total_ns < _LEAST_PART * total.sum:
        return None
    return Claim(
        f"{name_of(region.measures)} multiplies in fp32 without tensor cores: {count_text(count, 'kernel')},"
        f" {time_text(total_ns)} of {time_text(total.sum)} on the GPU {over_calls(region.measures)}"
        f" ({kernel_text(counts.most_common(1)[0][0])}).",
        cost_ns=total_ns,
        evidence={"kernels": count, "gpu_ns": total_ns, "kernel": counts.most_common(1)[0][0]},
        saves=saves,
        spot=spot,
    )


RULE: Final = Rule("tensor-cores-unused", "warning", of_region=_of_region, is_once=True)
