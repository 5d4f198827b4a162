"""The CPU fetches the next batch while the GPU has nothing to do."""

from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.phrases import name_of, over_calls
from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.text import count_text, time_text

_LOADER: Final = "enumerate(DataLoader)#"
_READY_NS: Final = 500_000
"""Taking a batch that lies ready in the workers' queue: 73 µs in the mean for 3 MB on the H200's machine."""


@dataclass(slots=True)
class _Loading:
    """What the DataLoader took. `idle` are the parts in which no GPU worked."""

    batches: int = 0
    loading_ns: int = 0
    idle: list[Stretch] = field(default_factory=list[Stretch])
    longest_ns: int = 0
    spot: Spot | None = None
    is_single: bool = False
    until: dict[tuple[int, str, str], int] = field(default_factory=dict[tuple[int, str, str], int])

    def add(self, number: int, index: int, run: RunFacts) -> None:
        part = run.recordings[number]
        each = part.calls[index]
        if not each.name.startswith(_LOADER):
            return
        start, ns = each.start_ns, each.cpu_total_ns
        thread = number, each.pid, each.tid
        if start < self.until.get(thread, start):  # in another one
            return
        self.until[thread] = start + ns
        self.batches += 1
        self.loading_ns += ns
        self.idle += [Stretch(number, False, *gap) for gap in run.timelines[number].gaps(start, start + ns)]
        self.is_single = self.is_single or "_SingleProcess" in each.name
        if ns > self.longest_ns:
            self.longest_ns, self.spot = ns, Spot(number, part.base_time_ns + start, ns)

    def claim(self, who: str, when: str, batches: int | None = None) -> Claim | None:
        if not self.batches or (not self.is_single and self.loading_ns < _READY_NS * self.batches):
            return None
        idle_ns = sum(each.end_ns - each.start_ns for each in self.idle)
        how = "in the training process itself (num_workers=0)" if self.is_single else "from its worker processes"
        return Claim(
            f"{who} waits {time_text(self.loading_ns)} for the DataLoader {when}, {how};"
            f" the GPU was idle for {time_text(idle_ns)} of it.",
            cost_ns=idle_ns,
            evidence={"batches": self.batches, "loading_ns": self.loading_ns, "idle_ns": idle_ns},
            saves=self.idle,
            batches=batches,
            spot=self.spot,
        )


def _of_region(region: RegionFacts, run: RunFacts) -> Claim | None:
    loading = _Loading()
    for part in region.parts.values():
        for index in part.annotations:
            loading.add(part.number, index, run)
    return loading.claim(name_of(region.measures), over_calls(region.measures))


def _of_run(run: RunFacts) -> Claim | None:
    """`for batch in loader` around the region: what most training loops look like."""
    loading = _Loading()
    for number, index in run.loose if run.regions else ():
        loading.add(number, index, run)
    when = f"outside any region, over {count_text(loading.batches, 'batch')}"
    return loading.claim("The script", when, loading.batches)


_SHARE: Final = 0.05
"""Of the measured time: fetching a batch always takes some."""

RULE: Final = Rule(
    "waiting-for-data",
    "warning",
    of_region=_of_region,
    of_run=_of_run,
    share=_SHARE,
    says_what=("idle-gap", "overhead-bound"),
)
