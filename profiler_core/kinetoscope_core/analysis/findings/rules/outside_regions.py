"""Device work that belongs to no region, and so stands beside no line: on threads that have regions, and on others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.attribution.autograd import autograd_threads
from kinetoscope_core.analysis.findings.facts import RunFacts
from kinetoscope_core.analysis.findings.phrases import kernel_text, percent
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.text import count_text, time_text

_LEAST_PART: Final = 0.10
"""Of all device work: less is not missed where sums are compared."""


@dataclass(slots=True)
class _Work:
    """Activities outside any region. `backward_ns` is the part that autograd threads launched."""

    total_ns: int = 0
    backward_ns: int = 0
    longest_ns: int = 0
    spot: Spot | None = None
    threads: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    names: Counter[str] = field(default_factory=Counter[str])


def _work(run: RunFacts, *, of_threads_with_regions: bool) -> _Work | None:
    """What threads with regions (or of autograd) launched outside of them, or what all others did; enough to tell."""
    work = _Work()
    if not run.regions or run.are_steps or not run.device_total_ns:
        return None
    for number, recording in enumerate(run.recordings):
        device, names = recording.trace.device, recording.trace.names
        autograd = autograd_threads(recording.trace, recording.trace.host.backward_operators())
        known = autograd | recording.attribution.nesting.regions_of.keys()
        for activity, thread in _outside(recording, run):
            if (thread in known) != of_threads_with_regions:
                continue
            ns = device.duration_ns[activity]
            work.total_ns += ns
            work.backward_ns += ns if thread in autograd else 0
            work.threads.add((number, thread))
            work.names[names[device.name[activity]]] += ns
            if ns > work.longest_ns:
                work.longest_ns = ns
                work.spot = Spot(number, recording.base_time_ns + device.start_ns[activity], ns)
    return work if work.total_ns >= _LEAST_PART * run.device_total_ns else None


def _outside(recording: Recording, run: RunFacts) -> Iterator[tuple[int, int]]:
    """The activities outside any region, and of no module's backward pass, that have a launch, each with its thread."""
    attribution, host = recording.attribution, recording.trace.host
    for activity, (owner, forward) in enumerate(zip(attribution.activity_owner, attribution.backward_of, strict=True)):
        launch = attribution.activity_launch[activity]
        if owner < 0 and launch >= 0 and not (run.has_modules and forward >= 0):
            yield activity, host.thread[launch]


def _on_known_threads(run: RunFacts) -> Claim | None:
    work = _work(run, of_threads_with_regions=True)
    if work is None:
        return None
    whole_ns = run.device_total_ns or 0
    where = "any module and its backward pass" if run.has_modules else "any region"
    while_open = "" if run.has_modules else " while no region was open"
    backward = f", {time_text(work.backward_ns)} of it in backward{while_open}" if work.backward_ns else ""
    return Claim(
        f"{percent(work.total_ns, whole_ns)} of the GPU's work ({time_text(work.total_ns)} of {time_text(whole_ns)})"
        f" was launched outside {where}{backward}; the largest part is {_most(work)}.",
        cost_ns=work.total_ns,
        evidence={"gpu_ns": work.total_ns, "backward_gpu_ns": work.backward_ns, "device_total_ns": whole_ns},
        spot=work.spot,
    )


def _on_other_threads(run: RunFacts) -> Claim | None:
    work = _work(run, of_threads_with_regions=False)
    if work is None:
        return None
    whole_ns = run.device_total_ns or 0
    return Claim(
        f"{count_text(len(work.threads), 'thread')} without a region launched {percent(work.total_ns, whole_ns)} of the"
        f" GPU's work ({time_text(work.total_ns)} of {time_text(whole_ns)}); the largest part is {_most(work)}.",
        cost_ns=work.total_ns,
        evidence={"gpu_ns": work.total_ns, "threads": len(work.threads), "device_total_ns": whole_ns},
        spot=work.spot,
    )


def _most(work: _Work) -> str:
    ((name, ns),) = work.names.most_common(1)
    return f"{kernel_text(name)} ({time_text(ns)})"


RULES: Final = (
    Rule("outside-regions", "information", of_run=_on_known_threads, share=0),
    Rule("threads-without-region", "information", of_run=_on_other_threads, share=0),
)
