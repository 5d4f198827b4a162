"""Numbers that are incomplete: launches of which the GPU told nothing, and work from before the recording."""

from collections import Counter
from typing import Final

from kinetoscope_core.analysis.findings.facts import RunFacts
from kinetoscope_core.analysis.findings.phrases import counted, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.text import time_text


def _launches_without_record(run: RunFacts) -> Claim | None:
    """Not where no activity was recorded at all: that is a problem of the run, told with its way out. Nor of launches
    into a CUDA graph, which run nothing.
    """
    launches = without = 0
    where: Counter[str] = Counter()
    for recording in run.recordings:
        if not len(recording.trace.device):
            continue
        unrecorded = recording.attribution.unrecorded
        launches += unrecorded.launches
        without += len(unrecorded.api_calls)
        calls, innermost = recording.calls, recording.attribution.nesting.innermost
        for api_call in unrecorded.api_calls:
            call = innermost[api_call]
            where[calls[call].name if call >= 0 else "outside any region"] += 1
    if not without:
        return None
    have = "launch has" if without == 1 else "launches have"
    return Claim(
        f"{without} {have} no record from the GPU ({counted(where)}), so the CUDA times are at least what is"
        " shown. The kernels ended after the recording stopped, or records were lost.",
        cost_ns=0,
        evidence={"count": without, "launches": launches},
    )


def _launched_before_recording(run: RunFacts) -> Claim | None:
    count = ns = 0
    is_cut = False
    for recording in run.recordings:
        launches = zip(recording.attribution.activity_launch, recording.trace.device.correlation, strict=True)
        no_launch = [each for each, (launch, correlation) in enumerate(launches) if launch < 0 < correlation]
        count += len(no_launch)
        ns += sum(recording.trace.device.duration_ns[each] for each in no_launch)
        is_cut = is_cut or recording.trace.is_cut
    if not count:
        return None
    were, belong = ("activity was", "belongs") if count == 1 else ("activities were", "belong")
    cut = " or in the part that was cut off" if is_cut else ""
    whole_ns = run.device_total_ns or 0
    return Claim(
        f"{count} GPU {were} launched before the recording started{cut}, and {belong} to no region"
        f" ({time_text(ns)}, {percent(ns, whole_ns)} of the GPU's work).",
        cost_ns=ns,
        evidence={"count": count, "gpu_ns": ns},
    )


RULES: Final = (
    Rule("launches-without-record", "information", of_run=_launches_without_record, share=0),
    Rule("launched-before-recording", "information", of_run=_launched_before_recording, share=0),
)
