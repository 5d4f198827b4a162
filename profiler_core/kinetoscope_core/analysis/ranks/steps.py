"""The steps of a job, the same on all its ranks, and what each rank did and waited for in each of them."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.ranks.facts import RankFacts
from kinetoscope_core.analysis.ranks.job import Job
from kinetoscope_core.analysis.statistics import RegionKey, median_of

OUTSIDE: Final = RegionKey("")
"""Stands for the time of a step in which no region is open."""

_STEP_OF_TORCH: Final = "ProfilerStep#"


@dataclass(slots=True)
class Step:
    """One step on one rank, from the end of the one before, so that its batch is loaded in it; times are in ns.

    `host_ns` and `device_ns` are what the rank itself did in each region, without waiting for the GPU, and without
    collectives. `lost_ns` is exposed waiting by the rank that was waited for, `matched` how many collectives were
    matched, and `late` in how many this rank was the last.
    """

    length_ns: int
    host_ns: dict[RegionKey, int] = field(default_factory=dict[RegionKey, int])
    device_ns: dict[RegionKey, int] = field(default_factory=dict[RegionKey, int])
    lost_ns: defaultdict[int, int] = field(default_factory=lambda: defaultdict[int, int](int))
    matched: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of each rank, as many on each. `key` is the region whose calls they end with."""

    key: RegionKey
    of_rank: Mapping[int, Sequence[Step]]

    @property
    def length_ns(self) -> int:
        """What a step takes: the median over all of all ranks."""
        return median_of([step.length_ns for steps in self.of_rank.values() for step in steps])

    def typical(self, rank: int, key: RegionKey, *, of_device: bool) -> int:
        """What a rank does itself in a region in a step, the median."""
        times = [step.device_ns if of_device else step.host_ns for step in self.of_rank[rank]]
        return median_of([each.get(key, 0) for each in times])

    def excess_ns(self, rank: int, key: RegionKey, *, of_device: bool) -> list[int]:
        """By how much a rank does more in a region than the others, which are taken at their median, step by step."""
        found: list[int] = []
        for number, own in enumerate(self.of_rank[rank]):
            others = [steps[number] for other, steps in self.of_rank.items() if other != rank]
            times = [(each.device_ns if of_device else each.host_ns).get(key, 0) for each in [own, *others]]
            found.append(times[0] - median_of(times[1:]))
        return found


def steps_of(job: Job) -> Steps | None:
    """The steps; `None` where there is one rank, nothing that marks steps, or not as many on all ranks."""
    if len(job.facts) < 2:
        return None
    key = _step_region(job)
    if key is None or len({len(facts.work[key].start_ns) if key in facts.work else 0 for facts in job.facts}) > 1:
        return None
    of_rank = {facts.place.rank: _steps(facts, job, key) for facts in job.facts}
    # The same collectives are in the same step on all ranks, or the steps are not the same ones.
    counts = {tuple(step.matched for step in steps) for steps in of_rank.values()}
    is_one_group = len({tuple(sorted(facts.place.groups)) for facts in job.facts}) == 1
    return None if is_one_group and len(counts) > 1 else Steps(key, of_rank)


def _step_region(job: Job) -> RegionKey | None:
    """Torch's own steps; without these the region that is in no other one and communicates longest."""
    facts, rows = job.facts[job.median], job.rows[job.median]
    outermost = [key for key in facts.work if key in facts.outermost]
    of_torch = next((key for key in outermost if key.name.startswith(_STEP_OF_TORCH)), None)
    communicated = {
        key: row.communication.total_ns for key in outermost if (row := rows.get(key)) and row.communication is not None
    }
    return of_torch or max(communicated, key=communicated.__getitem__, default=None)


def _steps(facts: RankFacts, job: Job, key: RegionKey) -> list[Step]:
    marks = facts.work[key]
    ends = sorted(marks.end_ns)
    steps = [Step(end - before) for before, end in zip([marks.start_ns[0], *ends], ends, strict=False)]
    for region, work in facts.work.items():
        for index, start_ns in enumerate(work.start_ns):
            if (number := bisect_right(ends, start_ns)) == len(steps):
                continue
            step = steps[number]
            step.host_ns[region] = step.host_ns.get(region, 0) + work.host_ns[index]
            step.device_ns[region] = step.device_ns.get(region, 0) + work.device_ns[index]
            # Until all is taken off, that outside is what is left.
            left_ns = step.host_ns.get(OUTSIDE, step.length_ns)
            step.host_ns[OUTSIDE] = max(left_ns - work.host_ns[index] - work.sync_ns[index], 0)
    rank = facts.place.rank
    for number, each in enumerate(facts.communications):
        waiting_ns, last = job.waiting.waiting_ns[rank][number], job.waiting.last[rank][number]
        for place, waits_ns in enumerate(waiting_ns):
            launched_ns = each.launch_ns[place] if each.launch_ns[place] >= 0 else each.start_ns[place]
            at = bisect_right(ends, launched_ns)
            if waits_ns < 0 or at == len(steps):
                continue
            step = steps[at]
            step.matched += 1
            step.late += last[place] == rank
            step.lost_ns[last[place]] += each.exposed_ns(place, each.start_ns[place] + waits_ns)
    return steps
